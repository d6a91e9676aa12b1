"""The model of the CUDA caching allocator, against sequences worked out by hand from its rules."""

import pytest

from surefit.train.trace.allocator import MIB, CachingAllocator


@pytest.mark.parametrize(
    ("size", "allocated", "reserved"),
    [
        (1, 512, 2 * MIB),
        (MIB, MIB, 2 * MIB),
        (MIB + 1, MIB + 512, 20 * MIB),
        (10 * MIB, 10 * MIB, 10 * MIB),
        (11 * MIB, 12 * MIB, 12 * MIB),  # a rest of 1 MiB is not split off
    ],
)
def test_rounding_and_segments(size: int, allocated: int, reserved: int) -> None:
    allocator = CachingAllocator()
    allocator.take(size)
    assert (allocator.allocated, allocator.reserved) == (allocated, reserved)


def test_a_freed_block_serves_again_and_the_smallest_that_fits() -> None:
    allocator = CachingAllocator()
    large, small = allocator.take(40 * MIB), allocator.take(12 * MIB)
    allocator.give_back(large)
    allocator.give_back(small)
    assert allocator.take(12 * MIB) is small
    assert allocator.reserved == 52 * MIB


def test_neighbours_join_inside_a_segment() -> None:
    allocator = CachingAllocator()
    blocks = [allocator.take(5 * MIB) for _ in range(4)]
    assert allocator.reserved == 20 * MIB
    for block in blocks:
        allocator.give_back(block)
    allocator.take(20 * MIB)
    assert allocator.reserved == 20 * MIB


def test_holes_cost_segments_unless_these_can_grow() -> None:
    needed = {}
    for expandable in (False, True):
        allocator = CachingAllocator(expandable)
        for size in range(20, 120, 20):
            allocator.give_back(allocator.take(size * MIB))
        needed[expandable] = allocator.reserved
    assert needed == {False: 300 * MIB, True: 100 * MIB}


def test_an_empty_cache_gives_whole_segments_back() -> None:
    allocator = CachingAllocator()
    kept, freed = allocator.take(5 * MIB), allocator.take(30 * MIB)
    allocator.give_back(freed)
    allocator.empty_cache()
    assert allocator.reserved == 20 * MIB
    allocator.give_back(kept)
    allocator.empty_cache()
    assert allocator.reserved == 0
