"""Row lengths of a split, gathered in 12 bytes a row and summed up at the end."""

import array
import math
from bisect import bisect_right
from collections.abc import Iterator
from itertools import count

from surefit.data.packing import count_packed, percentile
from surefit.data.report import LengthBin, PackedCounts, TokenCounts

_RANGES, _WIDELY = 12, 12


class Lengths:
    """Lengths in tokens and how many of them carry loss.

    Args:
        max_length: where rows are cut, or None.
    """

    def __init__(self, max_length: int | None) -> None:
        self._max_length = max_length
        self._before_cut = array.array("I")
        self._trained = 0
        self.total = 0
        """Tokens after the cut."""
        self._cut_rows = 0
        self._cut_trained = 0

    def add(self, length: int, trained: int, cut_trained: int) -> None:
        """Count a row: its length before the cut, trained tokens after it, trained tokens lost."""
        self._before_cut.append(length)
        self._trained += trained
        self._cut_trained += cut_trained
        if self._max_length is not None and length > self._max_length:
            self._cut_rows += 1
            length = self._max_length
        self.total += length

    @property
    def shortest(self) -> int:
        """The shortest row before the cut."""
        return min(self._before_cut, default=0)

    def packed(self) -> PackedCounts | None:
        """The rows joined into sequences of `max_length`, or None without rows or limit."""
        if not self._before_cut or self._max_length is None:
            return None
        return count_packed(sorted(self._before_cut), self._max_length)

    def counts(self, batch: int = 1, fully_masked: int = 0) -> TokenCounts | None:
        """The summary, or None without rows.

        Args:
            batch: rows of a step, for the largest of them.
            fully_masked: rows that the cut has left nothing to train of; they were not added.
        """
        if not self._before_cut:
            return None
        ordered = sorted(self._before_cut)
        limit = self._max_length or ordered[-1]
        return TokenCounts(
            total=self.total,
            trained=self._trained,
            longest=min(ordered[-1], limit),
            shortest=min(ordered[0], limit),
            mean=round(self.total / len(ordered), 1),
            percentiles={f"p{share}": percentile(ordered, share) for share in (50, 90, 99)},
            cut_rows=self._cut_rows,
            cut_trained=self._cut_trained,
            cut_row_share=round(self._cut_rows / len(ordered), 4),
            cut_trained_share=round(
                self._cut_trained / max(1, self._cut_trained + self._trained), 4
            ),
            fully_masked=fully_masked,
            keeps_99=percentile(ordered, 99),
            longest_batch=sum(min(length, limit) for length in ordered[-batch:]),
            histogram=histogram(ordered),
        )


def histogram(rising: list[int]) -> tuple[LengthBin, ...]:
    """Rows by length: about a dozen ranges alike, or growing ones where lengths differ widely.

    Empty ranges inside are kept, so that gaps show; those at both ends are left out.
    """
    bins: list[LengthBin] = []
    before = at = 0
    for end in _edges(rising[0], rising[-1]):
        behind = bisect_right(rising, end, at)
        if behind > at or bins:
            bins.append(LengthBin(shortest=before + 1, longest=end, rows=behind - at))
        before, at = end, behind
        if at == len(rising):
            break
    return tuple(bins)


def _edges(shortest: int, longest: int) -> Iterator[int]:
    """Where ranges end: 16, 24, 32, 48, 64 and so on, or every so many tokens."""
    if longest > _WIDELY * shortest:
        for power in count(4):
            yield 1 << power
            yield 3 << (power - 1)
    wanted = max(1, (longest - shortest) / _RANGES)
    size = 10 ** math.floor(math.log10(wanted))
    width = next(size * step for step in (1, 2, 5, 10) if size * step >= wanted)
    yield from count((shortest - 1) // width * width, width)
