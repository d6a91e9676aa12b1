"""How sure the account of a GPU is: the error that measured runs of its kind had."""

import functools
import tomllib
from pathlib import Path
from typing import Any

from surefit.plan.setup import Setup


def cell_of(setup: Setup) -> str:
    """The kind of run whose measured error holds for this one."""
    if not setup.facts.known_family:
        return "unknown"
    if setup.shares > 1:
        return "sharded"
    return "eager" if setup.facts.attention == "eager" else "single"


def interval_of(cell: str) -> tuple[float, float]:
    """(share below, share above) within which measured runs of a cell lay."""
    row = _cells()[cell]
    return float(row["low"]), float(row["high"])


def cell_words(cell: str) -> str:
    """Where the interval of a cell comes from."""
    row = _cells()[cell]
    rows = row.get("rows")
    return f"{row['of']}, {rows} measured runs" if rows else str(row["of"])


@functools.cache
def _cells() -> dict[str, dict[str, Any]]:
    return tomllib.loads((Path(__file__).parent / "validated.toml").read_text())
