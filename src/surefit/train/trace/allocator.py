"""A model of torch's CUDA caching allocator: what it reserves for a stream of requests.

Read from c10/cuda/CUDACachingAllocator.cpp and c10/core/AllocatorConfig.h (torch 2.13): sizes are
rounded to 512 bytes; up to 1 MiB comes from segments of 2 MiB, up to 10 MiB from segments of 20 MiB,
more from a segment of its own, rounded to 2 MiB. The smallest free block that is large enough is
taken, and split if the rest is at least 512 bytes (small) or more than 1 MiB (large). Neighbours
that are free become one block again, inside a segment. With expandable segments a pool is one
range of addresses that grows by pages of 2 MiB (small) or 20 MiB (large), and always splits.
"""

from bisect import bisect_left, insort
from dataclasses import dataclass

from surefit.train.trace.stream import ROUNDING, rounded

MIB = 2**20
_SMALL, _SMALL_SEGMENT = 1 * MIB, 2 * MIB
_LARGE_FROM, _LARGE_SEGMENT, _LARGE_ROUNDING = 10 * MIB, 20 * MIB, 2 * MIB


@dataclass(eq=False, slots=True)
class _Block:
    size: int
    number: int  # order of birth: torch orders by address, which we do not know
    segment: int
    pool: "_Pool"
    free: bool = False
    before: "_Block | None" = None
    after: "_Block | None" = None

    @property
    def key(self) -> tuple[int, int]:
        return (self.size, self.number)


class _Pool:
    def __init__(self, small: bool) -> None:
        self.small = small
        self.keys: list[tuple[int, int]] = []
        self.blocks: dict[tuple[int, int], _Block] = {}
        self.last: _Block | None = None  # the end of an expandable segment

    def put(self, block: _Block) -> None:
        block.free = True
        insort(self.keys, block.key)
        self.blocks[block.key] = block

    def take(self, block: _Block) -> None:
        block.free = False
        del self.keys[bisect_left(self.keys, block.key)]
        del self.blocks[block.key]

    def best(self, size: int) -> _Block | None:
        place = bisect_left(self.keys, (size, -1))
        return self.blocks[self.keys[place]] if place < len(self.keys) else None


class CachingAllocator:
    """Serves requests and counts: `allocated` and `reserved` now, and their peaks, in bytes."""

    def __init__(self, expandable: bool = False) -> None:
        self.expandable = expandable
        self.allocated = self.reserved = 0
        self.peak_allocated = self.peak_reserved = 0
        self._pools = {True: _Pool(True), False: _Pool(False)}
        self._number = 0
        self._segments: dict[int, int] = {}

    def take(self, size: int) -> _Block:
        """A block for `size` bytes."""
        size = rounded(size)
        pool = self._pools[size <= _SMALL]
        block = pool.best(size)
        if block is not None:
            pool.take(block)
        elif self.expandable:
            block = self._expanded(pool, size)
        else:
            block = self._new_segment(pool, _segment_size(size))
        self._split(block, size)
        self.allocated += block.size
        self.peak_allocated = max(self.peak_allocated, self.allocated)
        return block

    def give_back(self, block: _Block) -> None:
        """Free a block; it joins its free neighbours."""
        self.allocated -= block.size
        pool = block.pool
        for other in (block.before, block.after):
            if other is not None and other.free:
                pool.take(other)
                self._join(block, other)
        pool.put(block)

    def empty_cache(self) -> None:
        """Give back to the device what no tensor uses: whole segments, or whole pages."""
        for pool in self._pools.values():
            for block in list(pool.blocks.values()):
                if self.expandable:
                    self._unmap(pool, block)
                elif block.before is None and block.after is None:
                    pool.take(block)
                    self.reserved -= self._segments.pop(block.segment)

    def start_phase(self) -> None:
        """Count peaks from here on."""
        self.peak_allocated, self.peak_reserved = self.allocated, self.reserved

    def _reserve(self, size: int) -> None:
        self.reserved += size
        self.peak_reserved = max(self.peak_reserved, self.reserved)

    def _next_number(self) -> int:
        self._number += 1
        return self._number

    def _new_segment(self, pool: _Pool, size: int) -> _Block:
        number = self._next_number()
        self._segments[number] = size
        self._reserve(size)
        return _Block(size, number, number, pool)

    def _expanded(self, pool: _Pool, size: int) -> _Block:
        """The range's last block, grown by whole pages until `size` fits."""
        page = _SMALL_SEGMENT if pool.small else _LARGE_SEGMENT
        last = pool.last
        if last is not None and last.free:
            pool.take(last)
            block = last
            missing = size - last.size
        else:
            block = _Block(0, self._next_number(), 0, pool, before=last)
            if last is not None:
                last.after = block
            missing = size
        grown = -(-missing // page) * page
        block.size += grown
        pool.last = block
        self._reserve(grown)
        return block

    def _split(self, block: _Block, size: int) -> None:
        rest = block.size - size
        if rest < ROUNDING or (not block.pool.small and not self.expandable and rest <= _SMALL):
            return
        remainder = _Block(
            rest, self._next_number(), block.segment, block.pool, before=block, after=block.after
        )
        if block.after is not None:
            block.after.before = remainder
        block.after, block.size = remainder, size
        if block.pool.last is block:
            block.pool.last = remainder
        block.pool.put(remainder)

    def _join(self, block: _Block, other: _Block) -> None:
        block.size += other.size
        if other is block.before:
            block.before = other.before
            if other.before is not None:
                other.before.after = block
        else:
            block.after = other.after
            if other.after is not None:
                other.after.before = block
        if block.pool.last is other:
            block.pool.last = block

    def _unmap(self, pool: _Pool, block: _Block) -> None:
        """Pages that lie whole inside a free block go; only the range's end is modelled."""
        page = _SMALL_SEGMENT if pool.small else _LARGE_SEGMENT
        gone = block.size // page * page
        if block is not pool.last or not gone:
            return
        pool.take(block)
        block.size -= gone
        self.reserved -= gone
        if block.size:
            pool.put(block)
        else:
            pool.last = block.before
            if block.before is not None:
                block.before.after = None


def _segment_size(size: int) -> int:
    if size <= _SMALL:
        return _SMALL_SEGMENT
    if size < _LARGE_FROM:
        return _LARGE_SEGMENT
    return -(-size // _LARGE_ROUNDING) * _LARGE_ROUNDING
