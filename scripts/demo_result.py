"""The last page of `scripts/demo`: answers before and after, exact matches, seconds; 0 when it worked.

python scripts/demo_result.py ANSWERS.json "STAGE SECONDS..."
"""

import json
import sys
from pathlib import Path
from typing import Any

SHOWN = 12
BEFORE_BELOW, AFTER_ABOVE = 0.20, 0.80


def main(answers: Path, stages: str) -> int:
    """Print the page and say by the exit code whether the bounds hold."""
    compared: dict[str, Any] = json.loads(answers.read_text(encoding="utf-8"))
    rows, count = compared["rows"], compared["questions"]
    for row in rows[:: max(1, count // SHOWN)]:
        print(
            f"  question  {row['question']}\n    before  {row['before']}\n     after  {row['after']}\n"
        )
    wrong = [row for row in rows if not row["after_exact"]]
    if wrong:
        print(f"Answers after training that are not as expected ({len(wrong)} of {count}):")
    for row in wrong:
        print(f"  {row['question']}\n     after  {row['after']}\n  expected  {row['expected']}\n")
    before, after = compared["before"]["share"], compared["after"]["share"]
    print(f"Exact answers to {count} questions whose things no training row names:")
    print(
        f"  before  {compared['before']['exact']:>3}  {before:>6.1%}   (must be under {BEFORE_BELOW:.0%})"
    )
    print(
        f"  after   {compared['after']['exact']:>3}  {after:>6.1%}   (must be over {AFTER_ABOVE:.0%})"
    )
    _print_seconds([line.split() for line in stages.strip().splitlines()])
    passed = bool(before < BEFORE_BELOW and after > AFTER_ABOVE)
    print(
        "\nThe fine-tune worked."
        if passed
        else "\nThe fine-tune did not do what the demo promises."
    )
    return 0 if passed else 1


def _print_seconds(stages: list[list[str]]) -> None:
    print("\nSeconds:")
    for stage, seconds in [*stages, ["in all", str(sum(float(one[1]) for one in stages))]]:
        print(f"  {stage:<8} {float(seconds):>6.1f}")


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2]))
