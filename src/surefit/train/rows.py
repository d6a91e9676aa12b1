"""The prepared rows as the worker reads them, and the order in which it trains them.

Files (written by `surefit.data`): `<split>.ids.u32` token ids of all rows, one after the other;
`<split>.mask.u8`, 1 where a token carries loss; `<split>.offsets.u64`, rows + 1 positions;
`<split>.weights.f32`, where some tokens weigh less than others.
They are mapped, not read: memory does not grow with the data set.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from torch.utils.data import Dataset, Sampler

from surefit.errors import OutsideError, Refused

Ids = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Row:
    """One conversation: its number in the data set, ids [T], and mask [T] (True = carries loss).

    `weights` [T] says how much each token weighs in the loss; None: what the mask says.
    """

    number: int
    ids: Ids
    mask: npt.NDArray[np.bool_]
    weights: npt.NDArray[np.float32] | None = None


class PreparedRows(Dataset[Row]):
    """A split of a prepared folder."""

    def __init__(self, folder: Path, split: str) -> None:
        self.split = split
        try:
            self._ids = np.memmap(folder / f"{split}.ids.u32", dtype="<u4", mode="r")
            self._mask = np.memmap(folder / f"{split}.mask.u8", dtype="u1", mode="r")
            weights = folder / f"{split}.weights.f32"
            self._weights = np.memmap(weights, dtype="<f4", mode="r") if weights.exists() else None
            self._offsets = np.fromfile(folder / f"{split}.offsets.u64", dtype="<u8").astype(
                np.int64
            )
        except (OSError, ValueError) as error:
            raise OutsideError(
                f"the prepared {split} rows in {folder} cannot be read",
                str(error),
                "start the run again with `surefit train`; the rows are then prepared anew",
            ) from error
        self.lengths: Ids = np.diff(self._offsets)
        ends = (len(self._ids), len(self._mask if self._weights is None else self._weights))
        if not len(self.lengths) or self.lengths.min() < 1 or {int(self._offsets[-1])} != {*ends}:
            raise Refused(
                f"the prepared {split} rows in {folder} do not fit together",
                f"{len(self.lengths)} rows, {ends[0]} ids and {ends[1]} mask bytes do not add up",
                "start the run again with `surefit train`; the rows are then prepared anew",
            )

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, number: int) -> Row:
        part = slice(self._offsets[number], self._offsets[number + 1])
        weights = None if self._weights is None else np.array(self._weights[part])
        return Row(
            number, self._ids[part].astype(np.int64), self._mask[part].astype(np.bool_), weights
        )

    @property
    def largest_id(self) -> int:
        """The largest token id of the split."""
        return int(self._ids.max())

    @property
    def tokens(self) -> int:
        """Tokens of the split."""
        return len(self._ids)


def prepared_facts(folder: Path) -> dict[str, Any]:
    """`prepared.json`: what the folder holds."""
    try:
        facts: dict[str, Any] = json.loads((folder / "prepared.json").read_bytes())
    except (OSError, ValueError) as error:
        raise OutsideError(
            f"the run has no prepared rows in {folder}",
            str(error),
            "start the run again with `surefit train`; the rows are then prepared anew",
        ) from error
    return facts


def epoch_order(rows: int, seed: int, epoch: int) -> Ids:
    """The order of the rows in an epoch (from 0): a permutation of 0 .. rows - 1.

    MT19937 seeded with the words (seed, epoch), and NumPy's legacy `permutation`: a stream that
    NumPy promises never to change (NEP 19), so that a run can be repeated years later.
    """
    return np.random.RandomState([seed, epoch]).permutation(rows).astype(np.int64)


class EpochOrder(Sampler[int]):
    """Yields the order of an epoch; whoever drives the training sets `epoch`.

    Args:
        lengths: tokens of each item, [items].
        seed: of the order.
        block: items of an optimizer step, which pass the longest first: as many of one length as
            can be share a micro-batch, and the step is the same. 0: as `epoch_order` has them.
    """

    def __init__(self, lengths: Ids, seed: int, block: int = 0) -> None:
        self.lengths, self.seed, self.block, self.epoch = lengths, seed, block, 0

    def __len__(self) -> int:
        return len(self.lengths)

    def __iter__(self) -> Iterator[int]:
        return iter(self.of(self.epoch).tolist())

    def of(self, epoch: int) -> Ids:
        """The items in the order of an epoch (from 0)."""
        order = epoch_order(len(self.lengths), self.seed, epoch)
        if self.block > 1:
            step = np.arange(len(order)) // self.block
            order = order[np.lexsort((-self.lengths[order], step))]
        return order
