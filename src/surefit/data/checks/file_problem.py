"""A check of a file that cannot be read, or not to its end."""

from typing import ClassVar

from surefit.data.checks.check import Check, Hit, Stage
from surefit.data.row import Broken, BrokenKind, DataFile, FileProblem, Row


class FileProblemCheck(Check):
    """Hits a file with one kind of problem; a subclass names the kind and the words."""

    severity = "refuse"
    stages = frozenset({Stage.FILE})
    problem: ClassVar[FileProblem]

    def of_file(self, file: DataFile) -> Hit | None:
        """The problem in words."""
        return Hit(file.detail) if file.problem == self.problem else None


class BrokenCheck(Check):
    """Hits a line with one kind of damage; a subclass names the kind and the words."""

    severity = "refuse"
    stages = frozenset({Stage.LINE})
    only_unusual = True
    drops_row = True
    kind: ClassVar[BrokenKind]

    def of_row(self, row: Row) -> Hit | None:
        """The damage in words."""
        if isinstance(row.value, Broken) and row.value.kind == self.kind:
            return Hit(row.value.reason)
        return None


class NoteCheck(Check):
    """Hits a row in which the reader had to guess; a subclass names the note and the words."""

    severity = "warn"
    stages = frozenset({Stage.COLUMNS})
    only_unusual = True
    note: ClassVar[str]

    def of_row(self, row: Row) -> Hit | None:
        """The value that was guessed about."""
        return Hit(row.notes[self.note]) if self.note in row.notes else None
