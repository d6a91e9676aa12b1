"""The file that a person probably meant."""

import difflib
import re
from collections.abc import Iterable

_ALIKE = 0.75  # `recpie` and `recipe` are; `nothere` and `r_under` share letters by chance only
_ENDINGS = re.compile(r"(\.[a-z]+[0-9]?)+$")  # `.jsonl.gz`, but nothing of `Qwen2.5-0.5B`


def near_files(wanted: str, names: Iterable[str], most: int = 1) -> list[str]:
    """The file names most like `wanted`: letter case and endings are not compared."""
    by_stem: dict[str, str] = {}
    for name in names:
        by_stem.setdefault(_stem(name), name)
    found = difflib.get_close_matches(_stem(wanted), by_stem, n=most, cutoff=_ALIKE)
    return [by_stem[stem] for stem in found]


def _stem(name: str) -> str:
    """The name without the endings that many files share."""
    return _ENDINGS.sub("", name.lower()) or name.lower()
