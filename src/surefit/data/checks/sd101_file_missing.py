"""SD101: a file of the recipe cannot be opened."""

from surefit.data.checks.check import Check, Hit, Stage, Tally, Words
from surefit.data.row import DataFile
from surefit.recipe.near_names import near_files

_INTO_A_FILE = "rows.jsonl"


class FileMissing(Check):
    """A data file cannot be opened.

    ## What it does
    Opens every file that the recipe names, before anything is loaded. A pipe, a socket or a device is
    not opened: it may have no end.

    ## Why it is bad
    A run that finds this out after the model is loaded has cost minutes, or a rented machine.

    ## Example
    `data: {train: chat.jsonl}` while the folder holds `chats.jsonl`.

    ## What to do
    Correct the name. Paths are relative to the recipe's folder, not to where you stand.
    """

    code = "SD101"
    title = "file cannot be opened"
    severity = "refuse"
    stages = frozenset({Stage.FILE})

    def of_file(self, file: DataFile) -> Hit | None:
        if file.problem == "irregular":
            return Hit(file.detail, _INTO_A_FILE)
        if file.problem != "missing":
            return None
        try:
            names = [entry.name for entry in file.path.parent.iterdir() if entry.is_file()]
        except OSError:
            names = []
        return Hit(file.detail, "".join(near_files(file.path.name, names)))

    def words(self, tally: Tally) -> Words:
        near = tally.first.fix
        if near == _INTO_A_FILE:
            return Words(
                f"{tally.first_place} cannot be read: {tally.first.value}",
                "rows are read more than once, and what is no file gives them once or without an end",
                f"write the rows into a file first, such as {near}, and name that",
            )
        return Words(
            f"{tally.first_place} cannot be opened: {tally.first.value}",
            "without the file there is nothing to train on",
            f"the folder holds {near}: correct the name"
            if near
            else "correct the path; in a recipe it is relative to the recipe's folder",
        )
