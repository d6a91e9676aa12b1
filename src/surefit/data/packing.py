"""Rows joined into lines of at most so many tokens: best fit decreasing.

The longest row is placed first, each into the fullest line that still has room for it. The number
of lines and their lengths depend on the rows' lengths alone, so that the number of steps is exact
before a run begins; who decides the order of equally long rows decides who shares a line.
Source: Johnson et al. 1974, doi:10.1137/0203025 (at most 11/9 of the best possible, and 1 line).
"""

from collections.abc import Sequence

from surefit.data.report import PackedCounts


def pack(falling: Sequence[int], limit: int) -> list[int]:
    """The line of each row, numbered from 0.

    Args:
        falling: lengths in tokens, the longest first, none over `limit`.
        limit: tokens of a full line.
    """
    with_room: dict[int, list[int]] = {}
    rooms = (
        0  # bit r is set where a line has room for exactly r more: the best fit in one operation
    )
    placed: list[int] = []
    lines = 0
    for length in falling:
        fitting = rooms >> length
        if fitting:
            room = length + (fitting & -fitting).bit_length() - 1
            alike = with_room[room]
            line = alike.pop()
            if not alike:
                rooms ^= 1 << room
        else:
            room, line = limit, lines
            lines += 1
        placed.append(line)
        if room > length:
            with_room.setdefault(room - length, []).append(line)
            rooms |= 1 << (room - length)
    return placed


def count_packed(rising: Sequence[int], limit: int) -> PackedCounts:
    """What packing makes of rows.

    Args:
        rising: lengths in tokens before the cut, the shortest first; at least one.
        limit: tokens of a full line; longer rows count as cut there.
    """
    falling = [min(length, limit) for length in reversed(rising)]
    placed = pack(falling, limit)
    filled = [0] * (max(placed) + 1)
    for line, length in zip(placed, falling, strict=True):
        filled[line] += length
    filled.sort()
    return PackedCounts(
        sequences=len(filled),
        longest=filled[-1],
        shortest=filled[0],
        mean=round(sum(filled) / len(filled), 1),
        percentiles={f"p{share}": percentile(filled, share) for share in (50, 90, 99)},
        filled=round(sum(filled) / (len(filled) * limit), 4),
    )


def percentile(rising: Sequence[int], share: int) -> int:
    """The smallest value that is at least as large as `share` percent of them."""
    return rising[max(0, -(-len(rising) * share // 100) - 1)]
