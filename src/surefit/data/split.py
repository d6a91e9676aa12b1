"""Which rows are held back for evaluation: decided row by row, so that the file stays a stream."""

import random
from typing import Literal

from surefit.data.near_copies import letters_mark
from surefit.data.row import Row, Side


class Split:
    """Chooses about `share` of the rows, spread over the whole file, the same for the same seed.

    The rows are taken in blocks of 1 / share, and one row of each block is held back. A row whose
    letters and digits were seen before goes where its first copy went, so that no copy leaks across.

    Args:
        share: share of the training file held back, or None to hold back nothing.
        seed: decides which row of each block is taken.
    """

    def __init__(self, share: float | None, seed: int) -> None:
        self._share = share
        self._random = random.Random(seed)  # noqa: S311 - a sample, not a secret
        self._ordinal = 0
        self._block = 0
        self._chosen = self._choose()
        self._held_back: set[int] = set()
        self._kept: set[int] = set()

    def side_of(self, row: Row) -> Side:
        """The side of a usable row."""
        if not self._share or row.side == "eval":
            return row.side
        marks = {row.fingerprint, letters_mark(row.all_text) or row.fingerprint}
        if marks & self._held_back:
            side: Side = "eval"
        elif marks & self._kept:
            side = "train"
        else:
            side = self._next_side()
        (self._held_back if side == "eval" else self._kept).update(marks)
        return side

    def _next_side(self) -> Literal["train", "eval"]:
        chosen = self._ordinal == self._chosen
        self._ordinal += 1
        if chosen:
            self._block += 1
            self._chosen = self._choose()
        return "eval" if chosen else "train"

    def _choose(self) -> int:
        """The ordinal of the row that is taken from the present block."""
        return int((self._block + self._random.random()) / self._share) if self._share else -1
