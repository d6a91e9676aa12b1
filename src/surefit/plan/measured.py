"""The figures of measured.toml: how they came about stands there."""

import functools
import tomllib
from pathlib import Path
from typing import Any


@functools.cache
def measured(section: str) -> dict[str, Any]:
    """The figures of one section."""
    return dict(_all()[section])


@functools.cache
def _all() -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / "measured.toml").read_text())
