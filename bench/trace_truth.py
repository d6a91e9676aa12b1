"""The trace against memory that others measured: `python bench/trace_truth.py --rows FILE.csv --models FILE.json`.

Scored are the rows whose harness is known from its source and runs transformers' modules on one GPU:

    t4      fitcheck-llm 0.3.1, scripts/measure.py: float16, k-bit preparation, two steps, outputs kept
    a6000   vramcalc 0.1.2, bench.py: AdamW foreach, gradients zeroed in place, autocast or pure bfloat16

Every other row is counted and the reason named. The trace has no constant that was fitted to a row.
"""

import argparse
import csv
import json
import statistics
import subprocess
import sys
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from surefit.plan.tracing import TraceRequest, TraceResult

GIB = 2**30
_FIELDS = (
    "model_type",
    "hidden_size",
    "intermediate_size",
    "num_hidden_layers",
    "num_attention_heads",
    "num_key_value_heads",
    "head_dim",
    "vocab_size",
    "tie_word_embeddings",
    "max_position_embeddings",
)


def shapes(path: Path) -> dict[str, dict[str, Any]]:
    """A config for each model name, aliases included."""
    found = {}
    for one in json.loads(path.read_text())["models"]:
        config = {name: one[name] for name in _FIELDS if one.get(name) is not None}
        for name in (one["hub_id"], *one["aliases"]):
            found[name] = config
    return found


def request_of(row: dict[str, str], models: dict[str, dict[str, Any]]) -> TraceRequest | str:
    """The row as a request, or why it cannot be traced."""
    if row["model"] not in models:
        return "the model's shape is not in the file of models"
    t4 = row["source"].startswith("PyPI fitcheck-llm")
    a6000 = row["source"].startswith("PyPI vramcalc")
    if not (t4 or a6000):
        return "its harness is not one of the two that are known from source"
    if row["phase"] != "train" or row["outcome"] != "fit":
        return f"phase {row['phase']}, outcome {row['outcome']}"
    if row["quantization"] == "int8":
        return "int8 is not traced"
    common = {
        "config": models[row["model"]],
        "lengths": (int(row["seq_len"]),) * int(row["micro_batch"]),
        "layout": "padded",
        "gradient_checkpointing": row["grad_checkpointing"] == "yes",
        "attention": "eager" if row["attention"].startswith("eager") else "sdpa",
        "loss": "full",
        "max_gradient_norm": 0.0,
        "expandable_segments": False,
        "evaluate": False,
    }
    return TraceRequest.model_validate(common | (_t4(row) if t4 else _a6000(row)) | _method(row))


def _method(row: dict[str, str]) -> dict[str, Any]:
    if row["method"] == "full":
        return {"method": {"type": "full"}}
    kind = {"type": row["method"].lower(), "rank": int(row["lora_rank"])}
    if kind["type"] == "qlora":
        kind["double_quantization"] = "no double" not in row["quantization"]
    return {
        "method": kind,
        "targets": tuple(f"{one}_proj" for one in row["lora_targets"].split(",")),
    }


def _t4(row: dict[str, str]) -> dict[str, Any]:
    optimizers = {"8bit": "adam8bit"}
    chosen = next((name for key, name in optimizers.items() if key in row["optimizer"]), "foreach")
    return {
        "precision": "float32" if row["dtype"].startswith("fp32") else "float16",
        "upcast": row["method"] == "QLoRA",
        "keeps_outputs": True,
        "optimizer": chosen,
        "input_gradients": row["grad_checkpointing"] == "yes",
        "kernel": "efficient",
        "compute_capability": 7.5,
    }


def _a6000(row: dict[str, str]) -> dict[str, Any]:
    mixed = "autocast" in row["dtype"]
    return {
        "precision": "float32" if mixed else "bfloat16",
        "autocast": "bfloat16" if mixed else None,
        "optimizer": "foreach",
        "keeps_gradients": True,
        "keeps_outputs": True,
        "kernel": "flash",
        "always_masked": row["versions"].split("transformers ")[1].startswith("4.5"),
        "compute_capability": 8.6,
    }


def traced(request: TraceRequest) -> TraceResult:
    """The answer of a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "surefit.train.trace"],
        input=request.model_dump_json(),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return TraceResult.model_validate_json(done.stdout)


def main() -> None:
    """Score every row and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--models", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--each", action="store_true", help="Print every row.")
    options = parser.parse_args()
    models = shapes(options.models)
    chosen, left = [], Counter[str]()
    for row in csv.DictReader(options.rows.open()):
        request = request_of(row, models)
        if isinstance(request, str):
            left[request] += 1
        else:
            chosen.append((row, request))
    unique = {one.model_dump_json(): one for _, one in chosen}
    with ThreadPoolExecutor(options.jobs) as pool:
        answers = dict(zip(unique, pool.map(traced, unique.values()), strict=True))
    print_table([(row, answers[one.model_dump_json()]) for row, one in chosen], options.each)
    for reason, count in left.most_common():
        print(f"not scored: {count:4} rows: {reason}")


def print_table(scored: list[tuple[dict[str, str], TraceResult]], each: bool) -> None:
    """By cell: n, mean, median, worst error, and how many were predicted too low."""
    cells: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for row, result in scored:
        for measure, predicted, real in _pairs(row, result):
            error = predicted / real - 1
            kernel = "eager" if row["attention"].startswith("eager") else "sdpa"
            precision = row["dtype"].split()[0]
            cells[row["gpu"], row["method"], precision, kernel, measure].append(error)
            if each:
                print(f"{row['row_id']} {row['model']:40} {measure:10} {real:8.3f} {error:+.2%}")
    print("| GPU | method | weights | attention | measure | n | mean | median | worst | low |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for cell, errors in sorted(cells.items()):
        sizes = [abs(one) for one in errors]
        worst = max(errors, key=abs)
        low = sum(one < 0 for one in errors)
        print(
            f"| {' | '.join(cell)} | {len(errors)} | {statistics.mean(sizes):.2%} | "
            f"{statistics.median(sizes):.2%} | {worst:+.2%} | {low} |"
        )


def _pairs(row: dict[str, str], result: TraceResult) -> list[tuple[str, float, float]]:
    pairs = []
    if row["measure"] == "max allocated":
        pairs.append(("allocated", result.allocated / GIB, float(row["peak_gib"])))
    note = next(
        (part.split()[1] for part in row["notes"].split("; ") if part.startswith("reserved ")), None
    )
    if note is not None:
        pairs.append(("reserved", result.reserved / GIB, float(note) / 1024))
    return pairs


if __name__ == "__main__":
    main()
