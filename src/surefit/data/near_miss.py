"""Column names that are almost those of a format."""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from surefit.data.formats import FORMATS
from surefit.units import shortened


def near_miss(names: Sequence[str]) -> str:
    """What to rename, where a column is missing and another looks like it; else nothing."""
    for kind in FORMATS:
        missing = [need for need in kind.columns.needed if need not in names]
        spare = [name for name in names if name not in kind.columns.needed]
        near = [(need, nearest(need, spare)) for need in missing]
        if near and all(name for _, name in near):
            return "; ".join(rename(name, need) for need, name in near if name is not None)
    return ""


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The name most like `name`, letter case ignored, or None when none is like it."""
    by_lower = {candidate.lower(): candidate for candidate in names}
    found = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[found[0]] if found else None


def near_key(turn: Mapping[str, Any], need: str) -> str:
    """The key of a turn that is most like the one that is missing, or nothing."""
    if need in turn:
        return ""
    return nearest(need, [str(key) for key in turn if key not in ("role", "content")]) or ""


def keys_instead(turn: Mapping[str, Any], need: str = "content") -> str:
    """What a turn has in place of a key that it needs."""
    keys = ", ".join(shortened(str(key), 20) for key in list(turn)[:6])
    return f"has no {need}; it has {keys or 'nothing'}"


def rename(name: str, need: str) -> str:
    """What to do about a key under another name."""
    return f"did you mean {need!r} by {name!r}? Rename it, or map it: --map {need}={name}"
