"""Varied data sets for the checks: forty plain conversations, and what is done to some of them."""

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Row = dict[str, Any]
_THINGS = (
    *(
        "harbour",
        "lantern",
        "orchard",
        "glacier",
        "violin",
        "market",
        "compass",
        "meadow",
        "lighthouse",
    ),
    *(
        "quarry",
        "canal",
        "bakery",
        "viaduct",
        "heron",
        "barley",
        "granite",
        "ferry",
        "chapel",
        "thistle",
    ),
)
_WAYS = (
    *("slowly", "at dawn", "in autumn", "by hand", "with care", "after rain", "in the north"),
    *("without haste", "for a living", "since the war", "on foot", "by lamplight"),
)


def talk(number: int) -> Row:
    """A conversation unlike the others."""
    chance = random.Random(number)
    thing, other = chance.sample(_THINGS, 2)
    way = chance.choice(_WAYS)
    question = f"What has the {thing} to do with the {other}, case {number}?"
    answer = f"People at the {thing} work {way}; the {other} came {number} years later."
    return {
        "messages": [
            {"role": "user", "content": question},
            {"role": "assistant", "content": answer},
        ]
    }


def talks(count: int = 40, start: int = 0) -> list[Row]:
    """So many conversations."""
    return [talk(number) for number in range(start, start + count)]


def flat(question: str, answer: str, count: int = 40) -> list[Row]:
    """The same as rows of two columns."""
    return [
        {question: row["messages"][0]["content"], answer: row["messages"][1]["content"]}
        for row in talks(count)
    ]


def write(path: Path, rows: list[Any], end: str = "\n", encoding: str = "utf-8") -> None:
    """Rows as JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows]
    path.write_bytes("".join(line + end for line in lines).encode(encoding))


@dataclass
class Varied:
    """A variation: what is written, and what must be found."""

    expect: str
    """The verdict: ok, warn or refuse."""
    codes: tuple[str, ...] = ()
    """Checks, one of which must have found it."""
    rows: tuple[int, ...] = ()
    """Lines that it must name."""
    train: str = "train.jsonl"
    model: str | None = "chatml"
    max_length: int = 2048
    batch: int = 4
    packing: bool = False
    spec: dict[str, Any] = field(default_factory=dict)


Build = Callable[[Path], Varied]


def changed(
    change: Callable[[Row], None], *numbers: int, count: int = 40
) -> Callable[[Path], None]:
    """Write conversations, some of them (counted from 1) changed."""

    def build(folder: Path) -> None:
        rows = talks(count)
        for number in numbers:
            change(rows[number - 1])
        write(folder / "train.jsonl", rows)

    return build
