"""Row lengths of a split, gathered in 12 bytes a row and summed up at the end."""

import array

from surefit.data.packing import count_packed, percentile
from surefit.data.report import PackedCounts, TokenCounts


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

    def counts(self) -> TokenCounts | None:
        """The summary, or None without rows."""
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
        )
