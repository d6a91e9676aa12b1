"""Which format a data set has: asked of each row, decided over the first rows, with the reason."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from surefit.data.formats import BY_NAME, FORMATS, Format
from surefit.data.near_miss import near_miss
from surefit.data.row import Row
from surefit.recipe.data_spec import DataSpec
from surefit.units import plural

ROWS_LOOKED_AT = 64
_INSIDE_TURNS = ("role", "content")


class Detection:
    """The format of one data set.

    Args:
        spec: names a format or maps columns, where the user did.
        first_rows: rows to decide by.
    """

    def __init__(self, spec: DataSpec, first_rows: Sequence[Row]) -> None:
        self._mapping = {str(need): name for need, name in (spec.columns or {}).items()}
        self._renames = {
            need: name for need, name in self._mapping.items() if need not in _INSIDE_TURNS
        }
        self._turn_keys = {
            self._mapping[need]: need for need in _INSIDE_TURNS if need in self._mapping
        }
        values = [row.value for row in first_rows if isinstance(row.value, dict)]
        self._aliases: dict[str, str] = {}
        self.format, self.reason = self._decide(spec, values)

    @property
    def guessed_columns(self) -> dict[str, str]:
        """Columns read under another name than their own, name in the file -> name needed."""
        return dict(self._aliases)

    def shape(self, row: Row) -> None:
        """Recognise the row's format and fill its turns or text."""
        value = self._mapped(row.value)
        row.wanted_format = self.format.name if self.format else "unknown"
        found = self._format_of(value)
        row.format = found.name if found else None
        if found is not None and found is self.format:
            found.shape(row, value)

    def _decide(
        self, spec: DataSpec, values: Sequence[Mapping[str, Any]]
    ) -> tuple[type[Format] | None, str]:
        if spec.format is not None:
            return BY_NAME[spec.format], "as the recipe says (data.format)"
        for kind in FORMATS:
            if set(kind.columns.needed) <= set(self._renames):
                return kind, f"by the mapped columns {', '.join(self._renames)}"
        mapped = [self._mapped(value) for value in values]
        misspelt = any(near_miss([str(name) for name in value]) for value in values[:1])
        for allow_aliases in (False,) if misspelt else (False, True):
            recognised = (_recognised(value, allow_aliases) for value in mapped)
            votes = Counter(kind for kind in recognised if kind is not None)
            if votes:
                kind, count = votes.most_common(1)[0]
                self._aliases = _aliases_used(kind, mapped) if allow_aliases else {}
                return kind, _reason(kind, count, len(values), self._aliases)
        return None, "no known set of columns was found"

    def _format_of(self, value: Mapping[str, Any]) -> type[Format] | None:
        """The wanted format where the row has its columns, else whatever the row looks like."""
        if self.format is not None and self.format.recognises(value):
            return self.format
        return _recognised(value, allow_aliases=False)

    def _mapped(self, value: Mapping[str, Any]) -> Mapping[str, Any]:
        """The row under the names that the format knows."""
        if not self._mapping and not self._aliases:
            return value
        known = dict(value)
        for need, name in self._renames.items():
            if name in value:
                known[need] = value[name]
            else:
                known.pop(need, None)
        for name, need in self._aliases.items():
            if name in value and need not in known:
                known[need] = value[name]
        if self._turn_keys:
            for column in ("messages", "conversations", "conversation"):
                if isinstance(known.get(column), list):
                    known[column] = [self._renamed(turn) for turn in known[column]]
        return known

    def _renamed(self, turn: Any) -> Any:
        if not isinstance(turn, dict):
            return turn
        return {self._turn_keys.get(key, key): value for key, value in turn.items()}


def _recognised(value: Mapping[str, Any], allow_aliases: bool) -> type[Format] | None:
    for kind in FORMATS:
        if kind.recognises(value):
            return kind
    if not allow_aliases:
        return None
    for kind in FORMATS:
        aliases = dict(kind.columns.aliases)
        known = {aliases.get(name, name) for name in value}
        if aliases and set(kind.columns.needed) <= known:
            return kind
    return None


def _aliases_used(kind: type[Format], values: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Of several names for the same column the first in the format's order is read."""
    used: dict[str, str] = {}
    for name, need in dict(kind.columns.aliases).items():
        taken = need in used.values() or any(need in value for value in values)
        if not taken and any(name in value for value in values):
            used[name] = need
    return used


def _reason(kind: type[Format], count: int, looked_at: int, aliases: Mapping[str, str]) -> str:
    columns = ", ".join(kind.columns.needed)
    reason = f"{count} of the first {plural(looked_at, 'row')} have {columns}"
    if aliases:
        guessed = ", ".join(f"{name} as {need}" for name, need in aliases.items())
        reason += f", reading {guessed}"
    return reason
