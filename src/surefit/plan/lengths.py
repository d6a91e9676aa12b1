"""How long the rows are: what a data report tells, as a distribution to compute with."""

import math
from dataclasses import dataclass
from functools import lru_cache

from surefit.data.report import DatasetReport, PackedCounts, TokenCounts
from surefit.recipe.schema import Recipe

_MOST_PASSES = 1024  # of a step, looked at one by one
_STEPS = 64  # pieces of the integral in `expected_longest`


@dataclass(frozen=True)
class Lengths:
    """Row lengths in tokens.

    Args:
        rows: number of rows.
        points: (share of the rows, length that this share does not exceed), rising.
        mean: mean length.
        trained_share: share of the tokens that carries loss.
        known: False where no row was measured and every row is taken as full.
    """

    rows: int
    points: tuple[tuple[float, int], ...]
    mean: float
    trained_share: float
    known: bool

    @property
    def longest(self) -> int:
        """Length of the longest row."""
        return self.points[-1][1]

    @property
    def tokens(self) -> float:
        """Tokens in all rows."""
        return self.rows * self.mean

    def at(self, share: float) -> float:
        """The length that this share of the rows does not exceed, interpolated."""
        before = self.points[0]
        for point in self.points[1:]:
            if share <= point[0]:
                width = point[0] - before[0]
                part = (share - before[0]) / width if width else 1.0
                return before[1] + part * (point[1] - before[1])
            before = point
        return float(self.longest)

    def worst_of_passes(self, count: int) -> tuple[int, int, int]:
        """(at least, probably, at most) the tokens of the largest of all passes of `count` rows.

        Rows are drawn at random. At least: the longest row with the shortest, or an average pass.
        Probably: as far above the average as the largest of so many normal sums lies. At most: the
        longest rows together.
        """
        count = min(count, self.rows)
        passes = max(1.0, self.rows / count)
        above = math.sqrt(2 * math.log(passes) * count) * _spread(self) if passes > 1 else 0.0
        average = count * self.mean
        least = max(average, self.longest + (count - 1) * self.points[0][1])
        most = max(least, self.longest + (count - 1) * self.longest)
        probably = max(average + above, self.longest + (count - 1) * self.mean)
        return math.floor(least), round(min(max(probably, least), most)), math.ceil(most)

    def sorted_width(self, count: int, step: int) -> float:
        """Mean padded width of passes of `count` rows, when the `step` rows of a step are sorted.

        The longest of each pass is a rank of the step's rows: rank k of n lies at (n - k + 1/2) / n.
        """
        longest_ones = range(0, step, count)
        if len(longest_ones) > _MOST_PASSES:
            # A sample, evenly spread: the lengths rise without a jump.
            every = len(longest_ones) // _MOST_PASSES
            longest_ones = longest_ones[every // 2 :: every]
        return sum(self.at(1 - (place + 0.5) / step) for place in longest_ones) / len(longest_ones)

    def expected_longest(self, count: int) -> float:
        """Mean of the longest of `count` random rows: the padded width of a micro-batch."""
        return max(_mean_longest_of(self, count), self.mean)


@lru_cache(maxsize=64)
def _spread(lengths: Lengths) -> float:
    """The standard deviation of a row's length."""
    seen = [lengths.at((piece + 0.5) / _STEPS) for piece in range(_STEPS)]
    middle = sum(seen) / _STEPS
    return math.sqrt(sum((length - middle) ** 2 for length in seen) / _STEPS)


@lru_cache(maxsize=512)
def _mean_longest_of(lengths: Lengths, count: int) -> float:
    """The mean of the longest of `count` rows: lengths weighted by d(share ** count)."""
    total = 0.0
    for piece in range(_STEPS):
        low, high = piece / _STEPS, (piece + 1) / _STEPS
        total += lengths.at((low + high) / 2) * (high**count - low**count)
    return total


def lengths_of(tokens: TokenCounts | None, rows: int, max_length: int) -> Lengths:
    """Lengths from a report, cut at `max_length`; without a report every row is taken as full."""
    if tokens is None or tokens.total <= 0:
        return Lengths(rows, ((0.0, max_length), (1.0, max_length)), float(max_length), 1.0, False)
    longest = min(tokens.longest, max_length)
    points = _points(tokens, longest)
    return Lengths(
        rows,
        points,
        min(tokens.mean, float(longest)),
        min(1.0, tokens.trained / tokens.total),
        True,
    )


def planned_lengths(recipe: Recipe, report: DatasetReport, max_length: int) -> Lengths:
    """Lengths of what the batch counts: rows, or packed sequences."""
    if recipe.how.packing:
        return line_lengths(report, max_length)
    return lengths_of(report.tokens, report.usable, max_length)


def line_lengths(report: DatasetReport, max_length: int) -> Lengths:
    """Lengths of packed sequences in place of rows.

    The report's own count holds for the length it was made for; for another one, every sequence is
    taken as full, which is the most that memory could be asked for.
    """
    packed, tokens = report.packed, report.tokens
    if packed is None or tokens is None or report.max_length != max_length:
        total = tokens.total if tokens else report.usable * max_length
        full = max(1, math.ceil(total / max_length))
        share = min(1.0, tokens.trained / max(1, total)) if tokens else 1.0
        longest = min(max_length, total)
        return Lengths(full, ((0.0, longest), (1.0, longest)), float(longest), share, bool(tokens))
    points = _points(packed, packed.longest)
    trained = min(1.0, tokens.trained / max(1, tokens.total))
    return Lengths(packed.sequences, points, packed.mean, trained, True)


def _points(counts: TokenCounts | PackedCounts, longest: int) -> tuple[tuple[float, int], ...]:
    """A distribution from a report's percentiles."""
    middle = {
        share: min(counts.percentiles[name], longest)
        for name, share in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99))
        if name in counts.percentiles
    }
    return ((0.0, min(counts.shortest, longest)), *sorted(middle.items()), (1.0, longest))
