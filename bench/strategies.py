"""Methods and strategies against one process: same losses, same weights, what ran, and its memory.

    scripts/bench strategies [--rows 40] [--only ddp]

Each line is a whole run through the supervisor: planned, rehearsed, trained, saved, loaded again and
compared, on this machine's CPU with gloo between the ranks. The rows' lengths are very uneven, and the
last step of an epoch has fewer rows than ranks and passes. Differences are against the line above that
trains the same method in one process. Writes bench/results/strategies.md.
"""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

SEVERAL: dict[str, dict[str, Any]] = {
    "single": {},
    "ddp": {"strategy": "ddp", "ranks": 2},
    "fsdp": {"strategy": "fsdp", "ranks": 2},
}
# (method, strategy, micro-batch); the first of a method in one process is what the others are held to.
RUNS = [
    ("lora", "single", 8),
    ("lora", "single", 1),
    ("lora", "ddp", 4),
    ("lora", "ddp", 1),
    ("lora", "fsdp", 4),
    ("lora", "fsdp", 1),
    ("full", "single", 8),
    ("full", "ddp", 4),
    ("full", "fsdp", 4),
    ("dora", "single", 8),
    ("dora", "ddp", 4),
    ("dora", "fsdp", 4),
    ("rslora", "single", 8),
    ("rslora", "fsdp", 4),
    ("qlora", "single", 8),
    ("qlora", "ddp", 4),
]


WORDS = """\
Each line is a whole run: planned, rehearsed, trained for three epochs of rows of very uneven length, saved, loaded
again and compared. `rows x passes` is ranks x micro-batch x accumulation, 8 rows a step in each. `loss` and `weights`
are the largest differences, over all steps and over all trained numbers at the end, to the first line of the same
method. Peaks are those of the fullest rank; with so small a model nearly all of it is the program.
"""


def main() -> int:
    """Run all of them and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=41)
    parser.add_argument("--only", default="", help="a method or a strategy")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SUREFIT_HOME"] = folder + "/home"
        lines = measure(Path(folder), options.rows, options.only)
    text = "\n".join(lines) + "\n"
    print(text)
    (ROOT / "bench" / "results" / "strategies.md").write_text(head() + text)
    return 0


def head() -> str:
    """What was measured, before the table."""
    import torch
    import transformers

    return (
        f"# Methods and strategies\n\n`scripts/bench strategies`; torch {torch.__version__}, transformers "
        f"{transformers.__version__}, gloo, a random Llama of 40,000 parameters.\n\n" + WORDS + "\n"
    )


def measure(folder: Path, rows: int, only: str) -> list[str]:
    """The lines of the table."""
    import tiny_run

    model = tiny_run.write_model(folder / "model")
    data = folder / "rows.jsonl"
    chats = (json.dumps({"messages": one}) for one in tiny_run.conversations(rows))
    data.write_text("\n".join(chats) + "\n")
    lines = [
        "| method | strategy | rows x passes | declared = effective | reloaded, logit | loss | weights "
        "| peak planned | measured | planned / measured |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    references: dict[str, Any] = {}
    for number, (method, strategy, micro) in enumerate(RUNS):
        if only and only not in (method, strategy) and strategy != "single":
            continue
        found = run_once(f"run-{number}", model, data, method, strategy, micro)
        reference = references.setdefault(method, found)
        lines.append(line_of(method, strategy, found, reference))
        print(lines[-1], file=sys.stderr)
    return lines


def run_once(
    name: str, model: Path, data: Path, method: str, strategy: str, micro: int
) -> dict[str, Any]:
    """One whole run; what it left."""
    import tiny_run

    from surefit.recipe import recipe_from
    from surefit.runs.result import Effective
    from surefit.supervise import preflight, start, wait_for_end

    values = {
        "model": str(model),
        "data": {"train": str(data)},
        "method": {"type": method} if method == "full" else {"type": method, "rank": 4},
        "goal": {
            "epochs": 3,
            "max_length": 128,
            "learning_rate": 1e-3 if method == "full" else 5e-3,
        },
        "how": {
            "threads": 1,
            "micro_batch": micro,
            "layout": "flat",
            "precision": "float32",
            **SEVERAL[strategy],
        },
    }
    made = preflight(recipe_from(values, data.parent))
    run = start(made, name)
    view = wait_for_end(run, 600)
    assert view.result is not None, (view.cause, run.log.read_text()[-3000:])
    effective = run.read(run.effective, Effective)
    assert effective is not None
    return {
        "plan": made.plan,
        "result": view.result,
        "differences": effective.differences,
        "losses": tiny_run.losses(run),
        "weights": weights_of(run.model),
    }


def weights_of(folder: Path) -> dict[str, Any]:
    """Every tensor of a saved model."""
    from safetensors.torch import load_file

    (file,) = folder.glob("*.safetensors")
    return load_file(file)


def line_of(method: str, strategy: str, found: dict[str, Any], reference: dict[str, Any]) -> str:
    """One line of the table."""
    training, result = found["plan"].training, found["result"]
    pairs = zip(found["losses"], reference["losses"], strict=True)
    loss = max(abs(one - other) for one, other in pairs)
    mine, theirs = found["weights"], reference["weights"]
    assert mine.keys() == theirs.keys()
    weights = max(float((mine[name] - theirs[name]).abs().max()) for name in theirs)
    planned, measured = found["plan"].peak_bytes, result.peak_memory_bytes
    shape = f"{training.ranks} x {training.micro_batch} x {training.accumulation}"
    alike = "the reference" if found is reference else f"{loss:.1e}"
    return (
        f"| {method} | {strategy} | {shape} | {'yes' if not found['differences'] else 'NO'} "
        f"| {result.verification.max_difference:.1e} | {alike} | "
        f"{'' if found is reference else f'{weights:.1e}'} | {planned / 2**20:.0f} MiB "
        f"| {measured / 2**20:.0f} MiB | {planned / measured:.2f} |"
    )


if __name__ == "__main__":
    sys.exit(main())
