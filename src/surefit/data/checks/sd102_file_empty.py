"""SD102: a file holds nothing."""

from surefit.data.checks.check import Check, Hit, Stage, Tally, Words
from surefit.data.row import DataFile
from surefit.units import plural


class FileEmpty(Check):
    """A data file is empty.

    ## What it does
    Looks at the size of every data file, and whether reading it gave a row.

    ## Why it is bad
    There is nothing to train on. Mostly an export failed, or a disk was full while it was written.

    ## Example
    `train.jsonl` of 0 bytes, or of blank lines; `train.csv` with a header alone; `train.jsonl.gz` with
    nothing packed into it.

    ## What to do
    Write the file again and look at its size.
    """

    code = "SD102"
    title = "file is empty"
    severity = "refuse"
    stages = frozenset({Stage.FILE})

    def of_file(self, file: DataFile) -> Hit | None:
        if file.readable and file.size_bytes == 0:
            return Hit("0 bytes")
        return Hit(_what_it_holds(file)) if file.without_rows else None

    def words(self, tally: Tally) -> Words:
        return Words(
            f"{tally.first_place} is empty: {tally.first.value}",
            "an export that failed or a full disk leaves such a file",
            f"write {tally.first_place} again and look into it",
        )


def _what_it_holds(file: DataFile) -> str:
    if "header" in file.notes:
        return f"0 rows under the header {file.notes['header']}"
    return f"0 rows in its {plural(file.size_bytes, 'byte')}"
