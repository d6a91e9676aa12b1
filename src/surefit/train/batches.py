"""Rows to micro-batches, in the plan's layout.

A micro-batch holds `input_ids`, what keeps its rows apart, and the places where logits are needed:
`targets` [K] are the trained tokens, `row_of` and `column_of` [K] the positions that predict them
(the token before); `weights` [K] say how much each counts, where some count less than 1. A row's
first token has no position before it and is never a target, so in one line no row learns from the
end of another. `numbers` are the rows, `real_tokens` their tokens.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from surefit.plan.plan import TrainingPlan
from surefit.train.rows import Row

Batch = dict[str, Tensor]
Collate = Callable[[Sequence[Row]], Batch]


def collate_flat(rows: Sequence[Row]) -> Batch:
    """All rows in one line: `input_ids`, `position_ids` [1, T]; positions restart with each row.

    There is no attention mask, on purpose: transformers keeps the rows apart by their positions
    only where no mask is given. A mask of ones would let them see each other without a word.
    """
    ids = np.concatenate([row.ids for row in rows])
    positions = np.concatenate([np.arange(len(row.ids)) for row in rows])
    targeted = np.concatenate([_predictable(row) for row in rows])
    columns = np.flatnonzero(targeted)
    return {
        "input_ids": torch.from_numpy(ids)[None],
        "position_ids": torch.from_numpy(positions)[None],
        "targets": torch.from_numpy(ids[columns]),
        "row_of": torch.zeros(len(columns), dtype=torch.int64),
        "column_of": torch.from_numpy(columns - 1),
        "numbers": _numbers(rows),
        "real_tokens": torch.tensor(len(ids)),
        **_weights(rows),
    }


def collate_padded(rows: Sequence[Row], pad_id: int = 0) -> Batch:
    """A line for each row, filled up on the right: `input_ids`, `attention_mask` [rows, T]."""
    lengths = [len(row.ids) for row in rows]
    ids = np.full((len(rows), max(lengths)), pad_id, dtype=np.int64)
    attention = np.zeros_like(ids)
    targeted = np.zeros(ids.shape, dtype=np.bool_)
    for line, row in enumerate(rows):
        ids[line, : len(row.ids)] = row.ids
        attention[line, : len(row.ids)] = 1
        targeted[line, : len(row.ids)] = _predictable(row)
    lines, columns = np.nonzero(targeted)
    return {
        "input_ids": torch.from_numpy(ids),
        "attention_mask": torch.from_numpy(attention),
        "targets": torch.from_numpy(ids[lines, columns]),
        "row_of": torch.from_numpy(lines),
        "column_of": torch.from_numpy(columns - 1),
        "numbers": _numbers(rows),
        "real_tokens": torch.tensor(sum(lengths)),
        **_weights(rows),
    }


def idle(batch: Batch) -> Batch:
    """A micro-batch without a target: a rank without a row goes through it beside the others."""
    nothing = torch.zeros(0, dtype=torch.int64)
    empty = dict.fromkeys(("targets", "row_of", "column_of", "numbers"), nothing)
    weighed = {name: value for name, value in batch.items() if name != "weights"}
    return {**weighed, **empty, "real_tokens": torch.tensor(0)}


def collate_lines(lines: Sequence[Sequence[Row]]) -> Batch:
    """Packed lines, one behind the other: rows see only themselves, whichever line they are in."""
    return collate_flat([row for line in lines for row in line])


COLLATE: dict[str, Collate] = {"flat": collate_flat, "padded": collate_padded}


def collate_for(training: TrainingPlan) -> Callable[[Sequence[Any]], Batch]:
    """How items of the training set become a micro-batch."""
    return collate_lines if training.packing else COLLATE[training.layout]


def _weights(rows: Sequence[Row]) -> Batch:
    """`weights` [K] of the targets, where a row has some; both layouts have targets row by row."""
    if all(row.weights is None for row in rows):
        return {}
    found = [
        (row.mask.astype(np.float32) if row.weights is None else row.weights)[_predictable(row)]
        for row in rows
    ]
    return {"weights": torch.from_numpy(np.concatenate(found))}


def _predictable(row: Row) -> npt.NDArray[np.bool_]:
    mask = row.mask.copy()
    mask[0] = False
    return mask


def _numbers(rows: Sequence[Row]) -> Tensor:
    return torch.tensor([row.number for row in rows])
