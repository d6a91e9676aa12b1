"""What supervision costs: CPU seconds and memory of a supervisor beside the worker that it watches.

scripts/bench supervision               pairs of runs, interleaved; a table as Markdown
scripts/bench supervision --pairs 3 --epochs 60

Each pair is the same training twice: the worker alone, and the worker under its supervisor. The cost is the
CPU time of the supervisor, from its birth to the moment before the run ends, as a share of the worker's; and
the difference of the worker's own CPU time, which shows whether being watched slows it.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

import psutil  # noqa: E402
import supervised  # noqa: E402
import tiny_run  # noqa: E402

from surefit.recipe import load_recipe  # noqa: E402
from surefit.runs import RunFolder  # noqa: E402
from surefit.runs.event import Phase  # noqa: E402
from surefit.supervise import observe, preflight, start  # noqa: E402


def recipe(folder: Path, model: Path, epochs: int) -> Path:
    """A small training that lasts some minutes."""
    rows = [json.dumps({"messages": one}) for one in tiny_run.conversations(400)]
    (folder / "rows.jsonl").write_text("\n".join(rows) + "\n")
    (folder / "recipe.yaml").write_text(
        f"model: {model}\ndata: {{train: rows.jsonl}}\nmethod: {{type: lora, rank: 4}}\n"
        f"goal: {{epochs: {epochs}, max_length: 128, batch: 32}}\nhow: {{threads: 1, micro_batch: 8}}\n"
    )
    return folder / "recipe.yaml"


def watched(file: Path, name: str) -> tuple[RunFolder, float, float, float]:
    """A run under its supervisor: its folder, CPU seconds of supervisor and worker, peak bytes of the supervisor."""
    run = start(preflight(load_recipe(file)), name)
    record = supervised.record_of(run)
    supervisor, worker = psutil.Process(record.pid), psutil.Process(record.worker_pid or 0)
    spent, theirs, peak = 0.0, 0.0, 0.0
    while not observe(run, recover=False).state.is_final:
        try:
            times = supervisor.cpu_times()
            spent = times.user + times.system
            peak = max(peak, float(supervisor.memory_full_info().uss))
            own = worker.cpu_times()
            theirs = own.user + own.system
        except psutil.Error:
            pass
        time.sleep(0.5)
    return run, spent, theirs, peak


def alone(run: RunFolder, folder: Path) -> float:
    """The same worker on a copy of the run folder, without a supervisor; its CPU seconds."""
    copy = folder / f"{run.id}-alone"
    copy.mkdir()
    for name in ("plan.json", "recipe.json", "data"):
        source = run.path / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, copy / name)
    (copy / "log").mkdir()
    (copy / "heartbeats").mkdir()
    worker = subprocess.Popen(
        [sys.executable, "-m", "surefit.train", str(copy)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(worker.pid, 0)
    worker.returncode = os.waitstatus_to_exitcode(status)
    assert worker.returncode == 0, worker.returncode
    return used.ru_utime + used.ru_stime


def training_seconds(run: RunFolder) -> float:
    """Seconds of the phase `train`."""
    events = (event for _, event in run.read_events())
    return sum(
        one.seconds or 0.0
        for one in events
        if isinstance(one, Phase) and one.name == "train" and one.status == "ended"
    )


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=150)
    options = parser.parse_args()
    os.environ["PYTHONPATH"] = str(ROOT / "src")
    print(
        "| pair | training s | worker alone, CPU s | worker watched | supervisor | share | its memory, MB |"
    )
    print("|---|---|---|---|---|---|---|")
    shares, peaks = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["SUREFIT_HOME"] = str(folder / "home")
        model = tiny_run.write_model(folder / "model")
        file = recipe(folder, model, options.epochs)
        for pair in range(1, options.pairs + 1):
            run, spent, theirs, peak = watched(file, f"pair-{pair}")
            base = alone(run, folder)
            shares.append(spent / base)
            peaks.append(peak / 1e6)
            print(
                f"| {pair} | {training_seconds(run):.0f} | {base:.1f} | {theirs:.1f} | {spent:.2f} | "
                f"{spent / base:.2%} | {peak / 1e6:.0f} |",
                flush=True,
            )
    print(
        f"\nmedian share {statistics.median(shares):.2%} (1 % allowed), largest memory {max(peaks):.0f} MB (60)"
    )


if __name__ == "__main__":
    main()
