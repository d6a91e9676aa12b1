"""How long a person waits until a wrong input is named: CPU seconds of whole processes.

    scripts/bench first_signal [--repeats 5]

The inputs are those of tests/wrong_inputs.py, whose words tests/process/test_first_signal.py holds. The
limit is 1 CPU second (user and system, the children of the process included). Writes
bench/results/first_signal.md; ends with 1 where a median is above the limit or an exit code is another.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from wrong_inputs import WRONG_INPUTS, WrongInput, write_wrong_inputs  # noqa: E402 - a path first

LIMIT = 1.0


def main() -> int:
    """Measure every input, the inputs in turn, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_wrong_inputs(folder)
        seconds: dict[str, list[float]] = {wrong.name: [] for wrong in WRONG_INPUTS}
        for _ in range(repeats + 1):
            for wrong in WRONG_INPUTS:
                seconds[wrong.name].append(cpu_seconds(wrong, folder))
    lines = [
        "# The first signal: wrong inputs, whole processes",
        "",
        f"CPU seconds (user and system) of `surefit ...`, {repeats} processes each, the inputs in turn, "
        "files in the page cache. No process imports torch (a test holds that, and the words).",
        "",
        "| input | command | CPU s: median (range) | exit code | named by |",
        "|---|---|---|---|---|",
    ]
    slow = 0
    for wrong in WRONG_INPUTS:
        times = seconds[wrong.name][1:]  # the first one filled the page cache
        slow += statistics.median(times) > LIMIT
        spread = f"{statistics.median(times):.2f} ({min(times):.2f} to {max(times):.2f})"
        words = "; ".join(wrong.words).replace("|", "\\|")
        lines.append(
            f"| {wrong.name} | `surefit {' '.join(wrong.command)}` | {spread} | {wrong.exit_code} | {words} |"
        )
    text = "\n".join([*lines, ""])
    print(text)
    (ROOT / "bench" / "results" / "first_signal.md").write_text(text)
    return 1 if slow else 0


def cpu_seconds(wrong: WrongInput, folder: Path) -> float:
    """CPU time of one process that meets a wrong input."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-m", "surefit", *wrong.command],
        cwd=folder,
        env={**os.environ, "SUREFIT_HOME": str(folder / "home")},
        capture_output=True,
        check=False,
    )
    if done.returncode != wrong.exit_code:
        raise SystemExit(f"{wrong.name}: exit code {done.returncode}\n{done.stderr.decode()}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    sys.exit(main())
