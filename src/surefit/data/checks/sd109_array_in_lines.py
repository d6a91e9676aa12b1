"""SD109: a JSON array is named like JSON lines."""

from surefit.data.checks.check import Check, Hit, Stage
from surefit.data.row import DataFile


class ArrayInLines(Check):
    """A JSON array is named like JSON lines.

    ## What it does
    Looks at the first character of the file, not at its name alone.

    ## Why it is bad
    It is read all the same. Other programs will take the first line for the first row and fail.

    ## Example
    `train.jsonl` that begins with `[`.

    ## What to do
    Rename it to `.json`, or write one object a line.
    """

    code = "SD109"
    title = "array named .jsonl"
    severity = "warn"
    stages = frozenset({Stage.FILE})
    message = (
        "{place} holds one JSON array (a list), not one object a line; it was read as an array"
    )
    why = "nothing is lost here, but other programs will fail on the name"
    next_step = "rename it to end in .json, or write one object a line"

    def of_file(self, file: DataFile) -> Hit | None:
        return Hit() if "array" in file.notes else None
