"""The worker against a 20-line TRL script: same model, same rows in the same order, same settings.

    scripts/bench trl_pair [--pairs 5] [--rows 48] [--model tiny|starter] [--threads 1]

A and B run alternately, each in a fresh process, so that what else the machine does hits both. What is
compared is the training loop alone, in CPU seconds for each real (not padding) token; imports, loading
and preparing are left out of both. TRL runs as its defaults have it, except where the plan says
otherwise: float32, no gradient checkpointing (its default is on, and slower), rows in our order.
Writes bench/results/trl_pair_<model>.md.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
STARTER = ROOT / "src" / "surefit" / "models" / "starter"
SEED, BATCH, RATE, RANK = 17, 8, 2e-4, 16
LINEARS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")


def main() -> int:
    """Run the pairs and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--rows", type=int, default=48)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--model", choices=("tiny", "starter"), default="starter")
    parser.add_argument("--one", choices=("surefit-flat", "surefit-padded", "trl"))
    parser.add_argument("--work", type=Path)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measure(given.one, given.work, given.threads)))
        return 0
    with tempfile.TemporaryDirectory() as work:
        prepare(Path(work), given.model, given.rows)
        variants = ("surefit-flat", "trl", "surefit-padded")
        figures: dict[str, list[dict[str, Any]]] = {name: [] for name in variants}
        for number in range(given.pairs):
            for name in variants:
                figures[name].append(run_one(name, Path(work), given.threads))
                print(
                    f"pair {number + 1}: {name:15} {rate(figures[name][-1]):9.0f} tokens/CPU s",
                    flush=True,
                )
    text = report(figures, given)
    print(text)
    results = ROOT / "bench" / "results"
    results.mkdir(exist_ok=True)
    (results / f"trl_pair_{given.model}.md").write_text(text)
    return 0 if ratios(figures, "surefit-flat")[0] >= 1 else 1


def run_one(name: str, work: Path, threads: int) -> dict[str, Any]:
    """One variant in a process of its own."""
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": str(threads),
        "HF_HUB_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }
    command = [
        sys.executable,
        __file__,
        "--one",
        name,
        "--work",
        str(work),
        "--threads",
        str(threads),
    ]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr[-3000:])
    return dict(json.loads(done.stdout.splitlines()[-1]))


def rate(figure: dict[str, Any]) -> float:
    """Real tokens for each CPU second."""
    return float(figure["tokens"] / figure["cpu_seconds"])


def ratios(figures: dict[str, list[dict[str, Any]]], name: str) -> tuple[float, float, float]:
    """Median, smallest and largest of the pairs' speed ratios to TRL."""
    pairs = [rate(a) / rate(b) for a, b in zip(figures[name], figures["trl"], strict=True)]
    return statistics.median(pairs), min(pairs), max(pairs)


def report(figures: dict[str, list[dict[str, Any]]], given: argparse.Namespace) -> str:
    """The table, with the noise and the largest difference of a loss."""
    import peft
    import torch
    import transformers
    import trl

    first = figures["trl"][0]
    lines = [
        f"# The worker against TRL, model `{given.model}`",
        "",
        f"{given.rows} rows, {first['tokens']:,} real tokens, {len(first['losses'])} steps of {BATCH} rows, "
        f"LoRA rank {RANK} on all linear layers, float32, {given.threads} thread(s), {given.pairs} pairs "
        f"in the order A B A B, CPU seconds of the training loop. torch {torch.__version__}, transformers "
        f"{transformers.__version__}, peft {peft.__version__}, trl {trl.__version__}.",
        "",
        "| variant | tokens per CPU s (median) | noise (largest / smallest) | speed ratio to TRL: median (range) "
        "| peak memory | largest loss difference |",
        "|---|---|---|---|---|---|",
    ]
    for name, runs in figures.items():
        speeds = [rate(run) for run in runs]
        middle, low, high = ratios(figures, name)
        apart = max(abs(a - b) for a, b in zip(runs[0]["losses"], first["losses"], strict=True))
        lines.append(
            f"| {name} | {statistics.median(speeds):,.0f} | {max(speeds) / min(speeds):.2f} "
            f"| {middle:.2f} ({low:.2f} to {high:.2f}) | {runs[0]['peak_bytes'] / 2**20:,.0f} MiB | {apart:.1e} |"
        )
    same = all(run["losses"] == runs[0]["losses"] for runs in figures.values() for run in runs)
    told = "Every variant gave the same losses in every pair, to the bit." if same else ""
    return "\n".join([*lines, "", told, ""])


def prepare(work: Path, model: str, rows: int) -> None:
    """A model and prepared rows of uneven length, as both sides read them."""
    import numpy as np

    folder = STARTER if model == "starter" else write_tiny(work / "model")
    config = json.loads((folder / "config.json").read_text())
    chance = np.random.RandomState(3)
    # Lengths as in chats: median 77, mean 99, at most 400 tokens; the last third is the answer.
    lengths = np.clip(np.exp(chance.normal(4.35, 0.7, rows)), 24, 400).astype(int)
    data = work / "run" / "data"
    data.mkdir(parents=True)
    ids = chance.randint(3, config["vocab_size"], lengths.sum()).astype("<u4")
    mask = np.concatenate([np.arange(length) >= length * 2 // 3 for length in lengths]).astype("u1")
    ids.tofile(data / "train.ids.u32")
    mask.tofile(data / "train.mask.u8")
    np.cumsum([0, *lengths]).astype("<u8").tofile(data / "train.offsets.u64")
    (work / "facts.json").write_text(json.dumps({"folder": str(folder), "rows": rows}))


def write_tiny(folder: Path) -> Path:
    """A random Llama of 4 layers of 256 with a vocabulary of 16,384: head and loss weigh most."""
    import torch
    import transformers

    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=16384,
        hidden_size=256,
        intermediate_size=688,
        num_hidden_layers=4,
        num_attention_heads=8,
        num_key_value_heads=8,
        tie_word_embeddings=True,
    )
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    return folder


def measure(name: str, work: Path, threads: int) -> dict[str, Any]:
    """Train once in this process; CPU seconds of the loop, losses, tokens, peak."""
    import resource

    import torch

    torch.set_num_threads(threads)
    facts = json.loads((work / "facts.json").read_text())
    train = train_with_trl if name == "trl" else train_with_surefit
    figure = train(facts, work / "run", name.endswith("flat"), threads)
    figure["peak_bytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return figure


def timed(action: Any) -> float:
    """CPU seconds that an action takes."""
    began = time.process_time()
    action()
    return time.process_time() - began


def train_with_surefit(
    facts: dict[str, Any], folder: Path, flat: bool, threads: int
) -> dict[str, Any]:
    """The worker's own parts, everything that `python -m surefit.train` does in its loop."""
    import shutil

    import tiny_run
    import torch

    from surefit.runs.folder import RunFolder
    from surefit.train.journal import Journal
    from surefit.train.loop import Loop
    from surefit.train.model import load_base, prepare_for_training, set_seeds
    from surefit.train.rows import PreparedRows
    from surefit.train.stop import StopSignal
    from surefit.train.trainer import TokenTrainer

    plan = tiny_run.plan_for(
        Path(facts["folder"]),
        facts["rows"],
        method=tiny_run.LoraMethod(type="lora", rank=RANK),
        targets=LINEARS,
        layout="flat" if flat else "padded",
        batch=BATCH,
        micro_batch=BATCH,
        accumulation=1,
        epochs=1,
        max_length=512,
        learning_rate=RATE,
        warmup_steps=0,
        threads=threads,
        seed=SEED,
    )
    # The shapes of another model than the tests' are not counted by hand here.
    plan = plan.model_copy(update={"model": plan.model.model_copy(update={"known_family": False})})
    run = RunFolder(folder)
    run.events.unlink(missing_ok=True)
    shutil.rmtree(run.checkpoints, ignore_errors=True)
    set_seeds(SEED)
    rows = PreparedRows(run.data, "train")
    model = prepare_for_training(
        load_base(Path(facts["folder"]), plan.training, torch.device("cpu")), plan
    )
    trainer = TokenTrainer(model, plan.training, rows, run.checkpoints)
    loop = Loop(plan, Journal(run, 1), StopSignal(), trainer, None)
    trainer.add_callback(loop)
    seconds = timed(lambda: loop.train(None))
    return {"cpu_seconds": seconds, "tokens": rows.tokens, "losses": tiny_run.losses(run)}


def train_with_trl(
    facts: dict[str, Any], folder: Path, _flat: bool, _threads: int
) -> dict[str, Any]:
    """What a person writes after reading TRL's quick start, with the plan's settings."""
    import datasets
    import peft
    import torch
    import transformers
    import trl

    from surefit.train.model import set_seeds
    from surefit.train.rows import PreparedRows, epoch_order

    rows = PreparedRows(folder / "data", "train")
    ordered = [rows[int(number)] for number in epoch_order(len(rows), SEED, 0)]
    data = datasets.Dataset.from_list(
        [
            {"input_ids": row.ids.tolist(), "completion_mask": row.mask.astype(int).tolist()}
            for row in ordered
        ]
    )
    set_seeds(SEED)
    model = transformers.AutoModelForCausalLM.from_pretrained(
        facts["folder"],
        dtype=torch.float32,
        attn_implementation="sdpa",
        use_safetensors=True,
        trust_remote_code=False,
    )
    settings = peft.LoraConfig(
        r=RANK, lora_alpha=2 * RANK, target_modules=list(LINEARS), task_type="CAUSAL_LM"
    )
    arguments = trl.SFTConfig(
        output_dir=str(folder / "trl"),
        per_device_train_batch_size=BATCH,
        num_train_epochs=1,
        learning_rate=RATE,
        lr_scheduler_type="cosine",
        train_sampling_strategy="sequential",
        gradient_checkpointing=False,
        completion_only_loss=True,
        max_length=512,
        bf16=False,
        use_cpu=True,
        logging_steps=1,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        seed=SEED,
    )
    trainer = trl.SFTTrainer(
        model=peft.get_peft_model(model, settings),
        args=arguments,
        train_dataset=data,
        processing_class=transformers.AutoTokenizer.from_pretrained(STARTER),
    )
    seconds = timed(trainer.train)
    losses = [line["loss"] for line in trainer.state.log_history if "loss" in line]
    return {"cpu_seconds": seconds, "tokens": rows.tokens, "losses": losses}


if __name__ == "__main__":
    sys.exit(main())
