"""SD204: a column that the recipe maps is not there."""

from surefit.data.checks.check import Check, Hit, Stage, Tally, Words
from surefit.data.formats import FORMATS
from surefit.data.near_miss import nearest
from surefit.data.row import Row

_OPTIONAL = ("system", "tools", "input")


class MappedColumnMissing(Check):
    """A column that the recipe maps is not there.

    ## What it does
    Looks for every column named under `data.columns` in every row.

    ## Why it is bad
    The rows would be empty.

    ## Example
    `columns: {text: text}` for a file whose header says `Text`.

    ## What to do
    Write the name as the file has it; letter case counts.
    """

    code = "SD204"
    title = "mapped column missing"
    severity = "refuse"
    stages = frozenset({Stage.COLUMNS})
    drops_row = True

    def looks_at(self, stage: Stage) -> bool:
        """Only where columns are mapped."""
        return bool(self.terms.spec.columns) and super().looks_at(stage)

    def of_row(self, row: Row) -> Hit | None:
        for need, name in (self.terms.spec.columns or {}).items():
            if need in ("role", "content") or name in row.value or row.problem:
                continue
            if need in _OPTIONAL and row.format is not None:
                continue
            names = [str(column) for column in row.value]
            return Hit(
                f"{name!r} for {need}; it has {', '.join(names[:10])}", _proposal(need, name, names)
            )
        return None

    def words(self, tally: Tally) -> Words:
        """The finding in words, with the columns that are there."""
        return Words(
            f"{tally.rows_text()} without a mapped column ({tally.where_text()}): "
            f"the first has no column {tally.first.value}",
            "the mapping names what the file must hold, letter for letter",
            tally.first.fix or "correct the mapping to the names that the file has",
        )


def _proposal(need: str, name: str, names: list[str]) -> str:
    """The same format by its near name, or another format that the columns fit."""
    near = nearest(name, names)
    if near is not None:
        return f"write {need}: {near} in the mapping (--map {need}={near})"
    for kind in FORMATS:
        aliases = {**dict(kind.columns.aliases), **{one: one for one in kind.columns.needed}}
        found = {aliases[column]: column for column in names if column in aliases}
        if set(kind.columns.needed) <= set(found):
            wanted = ", ".join(f"{one}: {found[one]}" for one in kind.columns.needed)
            return f"map {wanted}"
    return ""
