"""How long a person waits before anything happens: medians of whole processes, in milliseconds.

    scripts/bench startup

Limits (issue of the first version): `import surefit` 200, `surefit --help` 200, `surefit plan` of a local
recipe 500, on 2 cores. Ends with 1 where a median is above its limit.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
REPEATS = 15
CASES: dict[str, tuple[list[str], float | None]] = {
    "python -c pass": (["-c", "pass"], None),
    "import surefit": (["-c", "import surefit"], 200),
    "surefit --help": (["-m", "surefit", "--help"], 200),
    "surefit plan recipes/starter.yaml": (["-m", "surefit", "plan", "recipes/starter.yaml"], 500),
}


def milliseconds(arguments: list[str], home: str) -> float:
    """Wall-clock time of one process."""
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, "SUREFIT_HOME": home},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return 1000 * (time.perf_counter() - began)


def main() -> int:
    """Measure every case and print the table."""
    print(f"{'':36}{'median':>8}{'worst':>8}{'limit':>8}   ms, {REPEATS} processes each")
    too_slow = 0
    with tempfile.TemporaryDirectory() as home:
        for name, (arguments, limit) in CASES.items():
            milliseconds(arguments, home)  # files into the page cache
            times = [milliseconds(arguments, home) for _ in range(REPEATS)]
            median = statistics.median(times)
            too_slow += limit is not None and median > limit
            shown = f"{limit:8.0f}" if limit else f"{'':8}"
            print(f"{name:36}{median:8.0f}{max(times):8.0f}{shown}")
    return 1 if too_slow else 0


if __name__ == "__main__":
    sys.exit(main())
