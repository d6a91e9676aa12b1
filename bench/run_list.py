"""How long `surefit runs` takes with a thousand finished runs, with its index, without, and after damage.

scripts/bench run_list            1,000 runs; a table as Markdown
scripts/bench run_list --runs 200
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from surefit.home import index_file  # noqa: E402
from surefit.runs import ExitStatus, Metric, RunState, Status  # noqa: E402
from surefit.runs.folder import create_run_folder  # noqa: E402

STEPS = 200


def make_runs(count: int) -> None:
    """Finished runs with as many events as a small training has."""
    for number in range(count):
        run = create_run_folder(f"run-{number:04}")
        now = time.time() - 60 * number
        run.append(Status(state=RunState.QUEUED, time=now))
        run.append(Status(state=RunState.TRAINING, time=now))
        lines = (
            Metric(step=step, steps=STEPS, epoch=step / STEPS, loss=2.0, time=now).model_dump_json(
                exclude_none=True
            )
            for step in range(1, STEPS + 1)
        )
        with run.events.open("a") as events:
            events.write("".join(f"{line}\n" for line in lines))
        run.append(Status(state=RunState.STOPPED, cause="a limit", time=now))
        run.write(run.exit, ExitStatus(code=75, time=now))


def measured(times: int) -> tuple[float, float]:
    """(least wall seconds, least CPU seconds) of `surefit runs`."""
    walls, used = [], []
    for _ in range(times):
        before, began = os.times(), time.monotonic()
        done = subprocess.run([sys.executable, "-m", "surefit", "runs"], capture_output=True)
        walls.append(time.monotonic() - began)
        after = os.times()
        used.append(
            after.children_user
            + after.children_system
            - before.children_user
            - before.children_system
        )
        assert done.returncode == 0, done.stderr
    return min(walls), min(used)


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--runs", type=int, default=1000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        os.environ["SUREFIT_HOME"] = name
        print("| index | wall s | CPU s |\n|---|---|---|")
        _row("no runs at all", 5)
        make_runs(options.runs)
        _row(f"none yet, {options.runs} runs: it is built", 1)
        _row("there", 5)
        index_file().unlink()
        _row("deleted: it is built again", 1)
        _row("there again", 5)
        index_file().write_bytes(b"not a database" * 100)
        _row("damaged: it is built again", 1)
        _row("there again", 5)


def _row(what: str, times: int) -> None:
    wall, used = measured(times)
    print(f"| {what} | {wall:.2f} | {used:.2f} |", flush=True)


if __name__ == "__main__":
    main()
