"""Rows are joined into as few sequences as best fit makes of them, and their number is known before."""

import random
import time

from hypothesis import given
from hypothesis import strategies as st

from surefit.data.packing import count_packed, pack

LENGTHS = st.lists(st.integers(1, 64), min_size=1, max_size=200)


def lines_of(lengths: list[int], limit: int) -> list[list[int]]:
    """The lengths in each line."""
    falling = sorted(lengths, reverse=True)
    placed = pack(falling, limit)
    lines: list[list[int]] = [[] for _ in range(max(placed) + 1)]
    for line, length in zip(placed, falling, strict=True):
        lines[line].append(length)
    return lines


@given(LENGTHS)
def test_every_row_is_in_one_line_and_no_line_is_too_long(lengths: list[int]) -> None:
    lines = lines_of(lengths, 64)
    assert sorted(length for line in lines for length in line) == sorted(lengths)
    assert all(0 < sum(line) <= 64 for line in lines)


@given(LENGTHS)
def test_the_number_of_lines_is_near_the_least_possible(lengths: list[int]) -> None:
    # 11/9 of the best and 1 line more; the tokens alone bound the best from below.
    least = -(-sum(lengths) // 64)
    assert least <= len(lines_of(lengths, 64)) <= 11 / 9 * _best_at_least(lengths) + 1


def _best_at_least(lengths: list[int]) -> int:
    """No two rows over half a line share one: the other bound from below."""
    return max(-(-sum(lengths) // 64), sum(length > 32 for length in lengths)) + 1


@given(LENGTHS)
def test_a_row_goes_where_it_leaves_the_least_room(lengths: list[int]) -> None:
    rooms: list[int] = []
    for length in sorted(lengths, reverse=True):
        fitting = [room for room in rooms if room >= length]
        best = min(fitting, default=64)
        if fitting:
            rooms.remove(best)
        rooms.append(best - length)
    assert sorted(64 - room for room in rooms) == sorted(
        sum(line) for line in lines_of(lengths, 64)
    )


def test_the_counts_are_those_of_the_lines() -> None:
    counts = count_packed([1, 2, 3, 4, 5, 6, 100], 10)
    # 10 (cut), 6 + 4, 5 + 3 + 2, 1
    assert (counts.sequences, counts.longest, counts.shortest) == (4, 10, 1)
    assert counts.mean == 7.8
    assert counts.filled == 31 / 40


def test_two_hundred_thousand_rows_are_packed_in_a_moment() -> None:
    chance = random.Random(1)
    falling = sorted((chance.randint(10, 2048) for _ in range(200_000)), reverse=True)
    began = time.process_time()
    pack(falling, 2048)
    assert time.process_time() - began < 3
