"""SD118: a table uses another separator than its name says."""

from surefit.data.checks.check import Check, Hit, Stage
from surefit.data.row import DataFile


class Separator(Check):
    """A table uses another separator than its name says.

    ## What it does
    Chooses the separator that splits the header, and says so where it is not the usual one.

    ## Why it is bad
    It was a guess. If it is wrong, texts are cut in two.

    ## Example
    A `.csv` with semicolons, as some spreadsheets write it.

    ## What to do
    Look at the samples. Export with commas to be rid of the warning.
    """

    code = "SD118"
    title = "other separator"
    severity = "warn"
    stages = frozenset({Stage.FILE})
    message = "{place} was read with the separator {value!r}"
    why = "the ending of the file promises another one, so this is a guess"
    next_step = "look at the samples below; to be rid of the warning, export with commas"

    def of_file(self, file: DataFile) -> Hit | None:
        return Hit(file.notes["separator"]) if "separator" in file.notes else None
