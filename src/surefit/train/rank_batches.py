"""Which items of each step a rank trains, in which micro-batches."""

import math
from collections.abc import Iterator, Sequence

from torch.utils.data import Sampler


class RankBatches(Sampler[list[int]]):
    """The micro-batches of one rank: of each step's items every `world`-th, from its own number on.

    All ranks make the same number of passes in a step. At the end of an epoch, where items are left
    for some of them only, the others get empty ones. With one rank: the items in their order.

    Args:
        order: yields all items of an epoch in their order.
        batch: items of an optimizer step, of all ranks.
        micro_batch: items of a rank in one pass.
        rank, world: this rank, and how many there are.
    """

    def __init__(
        self, order: Sampler[int], batch: int, micro_batch: int, rank: int = 0, world: int = 1
    ) -> None:
        self.order, self.batch, self.micro_batch = order, batch, micro_batch
        self.rank, self.world = rank, world

    def __len__(self) -> int:
        full, rest = divmod(len(self.order), self.batch)  # type: ignore[arg-type]
        return full * self._passes(self.batch) + self._passes(rest)

    def __iter__(self) -> Iterator[list[int]]:
        return self.of(list(self.order))

    def of(self, items: Sequence[int]) -> Iterator[list[int]]:
        """The micro-batches of an epoch whose items stand in this order."""
        for start in range(0, len(items), self.batch):
            step = items[start : start + self.batch]
            mine = list(step[self.rank :: self.world])
            for place in range(self._passes(len(step))):
                yield mine[place * self.micro_batch : (place + 1) * self.micro_batch]

    def _passes(self, items: int) -> int:
        """Passes that every rank makes for a step of so many items."""
        return math.ceil(math.ceil(items / self.world) / self.micro_batch)
