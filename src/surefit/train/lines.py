"""Packed lines: rows that are trained together as one sequence of at most `max_length` tokens.

Which rows share a line is drawn once from the plan's seed; the order of the lines is drawn anew in
each epoch (see `rows.EpochOrder`). Rows of a line never see each other: see `batches.collate_flat`.
"""

import numpy as np
from torch.utils.data import Dataset

from surefit.data.packing import pack
from surefit.plan.plan import TrainingPlan
from surefit.train.rows import Ids, PreparedRows, Row


class PackedLines(Dataset[tuple[Row, ...]]):
    """The lines of a split: item n is the rows of line n, `lengths` their tokens together."""

    def __init__(self, rows: PreparedRows, limit: int, seed: int) -> None:
        self.rows = rows
        chance = np.random.RandomState([seed, 0x11AE]).permutation(len(rows))
        # Equally long rows lie in an order by chance: neighbours in the file shall not be neighbours here.
        order = chance[np.argsort(-rows.lengths[chance], kind="stable")]
        lines = np.asarray(pack(rows.lengths[order].tolist(), limit), dtype=np.int64)
        by_line = np.argsort(lines, kind="stable")
        self._numbers: Ids = order[by_line]
        self._starts: Ids = np.flatnonzero(np.diff(lines[by_line], prepend=-1, append=-1))
        self.lengths: Ids = np.add.reduceat(rows.lengths[self._numbers], self._starts[:-1])

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, line: int) -> tuple[Row, ...]:
        part = slice(self._starts[line], self._starts[line + 1])
        return tuple(self.rows[number] for number in self._numbers[part].tolist())


def trained_items(rows: PreparedRows, training: TrainingPlan) -> PreparedRows | PackedLines:
    """What `goal.batch` counts: packed lines, or rows."""
    return PackedLines(rows, training.max_length, training.seed) if training.packing else rows
