"""Files and functions stay short enough to be read (design 11)."""

import statistics

from policy.project import SOURCE
from policy.sizes import (
    FILE_LIMIT,
    FUNCTION_LIMIT,
    LONG_FUNCTIONS_ALLOWED,
    file_sizes,
    function_sizes,
)


def test_no_source_file_holds_two_subjects() -> None:
    too_long = [size for size in file_sizes(SOURCE) if size.lines > FILE_LIMIT]
    assert not too_long, "look for the second subject in these"


def test_no_function_is_too_long_to_read() -> None:
    too_long = [
        size
        for size in function_sizes(SOURCE)
        if size.lines > LONG_FUNCTIONS_ALLOWED.get(size.name.split(":")[0], FUNCTION_LIMIT)
    ]
    assert not too_long


def test_most_functions_are_short() -> None:
    lines = [size.lines for size in function_sizes(SOURCE)]
    assert statistics.median(lines) <= 12
    assert sorted(lines)[len(lines) * 9 // 10] <= 30
