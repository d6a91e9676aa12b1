"""A stream of births and deaths of storages: what the recorder writes and the allocator replays."""

from collections.abc import Iterator
from dataclasses import dataclass, field

ROUNDING = 512  # bytes; c10/core/AllocatorConfig.h, kMinBlockSize


def rounded(size: int) -> int:
    """Bytes of a block for so many asked."""
    return max(ROUNDING, -(-size // ROUNDING) * ROUNDING)


@dataclass(slots=True)
class Storage:
    """A block of memory under its tensors.

    Args:
        size: bytes asked for.
        item: the account's item that it belongs to.
        what: operation, shape and type.
        layer: the layer in which it was made, or whose parameter it belongs to; None: neither.
        place: (phase, ordinal among those of its layer in that phase): the same in every layer.
    """

    size: int
    item: str
    what: str
    layer: int | None
    place: tuple[int, int]


@dataclass
class Stream:
    """Births (+) and deaths (-) in order.

    `events` holds `number` for the birth of a storage and `~number` for its death. `layers` holds,
    for each event, the layer that was at work, or None; `phases` the name and the first event of
    each phase.
    """

    storages: list[Storage] = field(default_factory=list)
    events: list[int] = field(default_factory=list)
    layers: list[int | None] = field(default_factory=list)
    phases: list[tuple[str, int]] = field(default_factory=list)

    def each_phase(self) -> Iterator[tuple[str, int, int]]:
        """(name, first event, event after the last) of every phase, in order."""
        starts = [start for _, start in self.phases] + [len(self.events)]
        for position, (name, start) in enumerate(self.phases):
            yield name, start, starts[position + 1]
