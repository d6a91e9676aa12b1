"""SD102: a file holds nothing."""

from surefit.data.checks.check import Check, Hit, Stage, Tally, Words
from surefit.data.row import DataFile


class FileEmpty(Check):
    """A data file is empty.

    ## What it does
    Looks at the size of every data file.

    ## Why it is bad
    There is nothing to train on. Mostly an export failed, or a disk was full while it was written.

    ## Example
    `train.jsonl` of 0 bytes.

    ## What to do
    Write the file again and look at its size.
    """

    code = "SD102"
    title = "file is empty"
    severity = "refuse"
    stages = frozenset({Stage.FILE})

    def of_file(self, file: DataFile) -> Hit | None:
        return Hit() if file.readable and file.size_bytes == 0 else None

    def words(self, tally: Tally) -> Words:
        return Words(
            f"{tally.first_place} is empty: 0 bytes",
            "an export that failed or a full disk leaves such a file",
            f"write {tally.first_place} again and look at its size",
        )
