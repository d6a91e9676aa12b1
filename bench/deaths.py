"""Runs that really die, with one rank and with two: what the diagnosis says, and how soon.

scripts/bench deaths            every death; a table as Markdown
scripts/bench deaths --ranks 1  with one rank only

Each line is a run of the real worker on a tiny model under a real supervisor. Seconds are from the fault
to the diagnosis on the disk; a hang's hold its limit. "Lost" looks for the last words in the log, the last
checkpoint, every line of events, and processes left behind.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

import deaths  # noqa: E402
import tiny_run  # noqa: E402


def main() -> None:
    """Let them die, and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--ranks", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--only", nargs="*", help="names of faults")
    options = parser.parse_args()
    os.environ["PYTHONPATH"] = str(ROOT / "src")
    started = time.monotonic()
    print("| death | ranks | diagnosis | in words | seconds | allowed | lost |")
    print("|---|---|---|---|---|---|---|")
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        os.environ["SUREFIT_HOME"] = f"{name}/home"
        model = tiny_run.write_model(Path(name) / "model")
        for line, good in rows(Path(name), model, options.ranks, options.only):
            failed += not good
            print(line, flush=True)
    print(f"\n{failed} of the lines are not as they should be; {time.monotonic() - started:.0f} s")
    sys.exit(1 if failed else 0)


def rows(
    folder: Path, model: Path, counts: list[int], only: list[str] | None
) -> Iterator[tuple[str, bool]]:
    """A line of the table and whether it is as it should be, for each death."""
    for death in deaths.DEATHS:
        if only and death.fault not in only:
            continue
        for ranks in counts:
            why = deaths.allowed() if death.needs_root else None
            if why:
                yield f"| {death.name} | {ranks} | skipped: {why} | | | | |", True
                continue
            outcome = deaths.die(death, folder / str(ranks), model, ranks=ranks, rank=ranks - 1)
            good = deaths.is_right(outcome)
            found = outcome.found + ("" if good else " (!)")
            words = (outcome.view.cause or "").replace("|", "/")[:110]
            yield (
                f"| {death.name} | {ranks} | {found} | {words} | {outcome.seconds:.1f} | "
                f"{death.seconds:.0f} | {'; '.join(outcome.lost) or 'nothing'} |",
                good,
            )


if __name__ == "__main__":
    main()
