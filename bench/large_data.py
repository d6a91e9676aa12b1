"""Memory of a large file, and the time of `surefit check` on 10,000 rows: whole processes.

    scripts/bench large_data [--rows 200000] [--checked 10000] [--repeats 3] [--model FOLDER ...]

The large file (`--rows 2000000` for the figure of the results) goes through `surefit check` with the
starter's tokenizer; the 10,000 rows through `surefit check` with each model named and without one. Limits:
600 MB of memory, 3 seconds of CPU time for the 10,000 rows. No two rows are the same. Writes
bench/results/large_data.md; ends with 1 above a limit.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from _chats import write_chats

ROOT = Path(__file__).resolve().parents[1]
BYTES_LIMIT, SECONDS_LIMIT = 600e6, 3.0
Figure = tuple[float, float, float]
"""CPU seconds, wall seconds, peak bytes."""


def main() -> int:
    """Measure both and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--checked", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--model", nargs="*", default=[])
    parser.add_argument("--one", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(*measured(given.one))
        return 0
    models = ["starter", *given.model]
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        write_chats(work / "few.jsonl", given.checked)
        checks: dict[str, list[Figure]] = {"none": [], **{model: [] for model in models}}
        for _ in range(given.repeats):
            for model, figures in checks.items():
                figures.append(checked(work / "few.jsonl", model))
        write_chats(work / "many.jsonl", given.rows, seed=6, alone=True)
        size = (work / "many.jsonl").stat().st_size
        large = checked(work / "many.jsonl", "starter")
    lines = [
        "# Large files, and `surefit check` as a whole process",
        "",
        f"`surefit check` of {given.rows:,} chats ({size / 1e6:,.0f} MB, no two the same), starter's "
        f"tokenizer: **{large[2] / 1e6:,.0f} MB** peak memory, {large[0]:.0f} CPU s.",
        "",
        f"`surefit check` of {given.checked:,} chats, {given.repeats} processes each, in turn, on two cores "
        "that others use too:",
        "",
        "| tokenizer | CPU s: median (range) | wall s: median (range) | peak memory |",
        "|---|---|---|---|",
    ]
    for model, figures in checks.items():
        cpu, wall = ([figure[at] for figure in figures] for at in (0, 1))
        lines.append(
            f"| {Path(model).name} | {statistics.median(cpu):.2f} ({min(cpu):.2f} to {max(cpu):.2f}) "
            f"| {statistics.median(wall):.2f} ({min(wall):.2f} to {max(wall):.2f}) "
            f"| {max(figure[2] for figure in figures) / 1e6:,.0f} MB |"
        )
    text = "\n".join([*lines, ""])
    print(text)
    (ROOT / "bench" / "results" / "large_data.md").write_text(text)
    slowest = max(statistics.median(one[0] for one in figures) for figures in checks.values())
    return 0 if large[2] <= BYTES_LIMIT and slowest <= SECONDS_LIMIT else 1


def checked(file: Path, model: str) -> Figure:
    """One `surefit check` in a process whose only child it is."""
    command = [sys.executable, "-m", "surefit", "check", str(file)]
    command += [] if model == "none" else ["--model", model]
    told = subprocess.run(
        [sys.executable, __file__, "--one", *command[1:]],
        env={**os.environ, "SUREFIT_HOME": str(file.parent / "home")},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    cpu, wall, peak = map(float, told.split()[-3:])
    return cpu, wall, peak


def measured(arguments: list[str]) -> Figure:
    """CPU and wall seconds and the peak memory of one child."""
    began = time.perf_counter()
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)
    wall = time.perf_counter() - began
    if done.returncode:
        raise SystemExit(f"surefit check ended with {done.returncode}: {done.stdout}{done.stderr}")
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss * 1024.0


if __name__ == "__main__":
    sys.exit(main())
