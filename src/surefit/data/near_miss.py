"""Column names that are almost those of a format."""

import difflib
from collections.abc import Iterable, Sequence

from surefit.data.formats import FORMATS


def near_miss(names: Sequence[str]) -> str:
    """What to rename, where a column is missing and another looks like it; else nothing."""
    for kind in FORMATS:
        missing = [need for need in kind.columns.needed if need not in names]
        spare = [name for name in names if name not in kind.columns.needed]
        near = [(need, nearest(need, spare)) for need in missing]
        if near and all(name for _, name in near):
            return "; ".join(
                f"did you mean {need!r} by {name!r}? Rename it, or map it: --map {need}={name}"
                for need, name in near
            )
    return ""


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The name most like `name`, letter case ignored, or None when none is like it."""
    by_lower = {candidate.lower(): candidate for candidate in names}
    found = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[found[0]] if found else None
