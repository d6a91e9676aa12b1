"""Into which equal parts a batch can be split."""

import math


def divisors(batch: int) -> list[int]:
    """The sizes that a micro-batch may have, rising. Looks at sqrt(batch) numbers, not at all of them."""
    small = [size for size in range(1, math.isqrt(batch) + 1) if batch % size == 0]
    large = [batch // size for size in reversed(small) if size * size != batch]
    return small + large
