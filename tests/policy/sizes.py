"""How long files and functions are: `python tests/policy/sizes.py` prints the table."""

import ast
import statistics
import sys
from pathlib import Path
from typing import NamedTuple

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from policy.project import SOURCE, TESTS, name_of, python_files, syntax_tree

FILE_LIMIT = 400
FUNCTION_LIMIT = 60
# The training run is read once, top to bottom (design 11).
LONG_FUNCTIONS_ALLOWED = {"src/surefit/train/run.py": 150}


class Size(NamedTuple):
    """Lines of one file or function."""

    lines: int
    name: str


def file_sizes(folder: Path) -> list[Size]:
    """Lines of every Python file under a folder."""
    return [
        Size(len(path.read_text(encoding="utf-8").splitlines()), name_of(path))
        for path in python_files(folder)
    ]


def function_sizes(folder: Path) -> list[Size]:
    """Lines of every function under a folder, from `def` to its end, docstring left out."""
    return [
        Size(_lines_of(node), f"{name_of(path)}:{node.lineno} {node.name}")
        for path in python_files(folder)
        for node in ast.walk(syntax_tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def _lines_of(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    lines = (node.end_lineno or node.lineno) - node.lineno + 1
    first = node.body[0]
    if ast.get_docstring(node, clean=False) is not None:
        lines -= (first.end_lineno or first.lineno) - first.lineno + 1
    return lines


def table() -> str:
    """Median, 90th percentile and largest of both, for the source and for the tests."""
    rows = [f"{'':24} {'count':>6} {'median':>7} {'p90':>5} {'max':>5}  largest"]
    for folder, title in ((SOURCE, "src"), (TESTS, "tests")):
        for kind, sizes in (("files", file_sizes(folder)), ("functions", function_sizes(folder))):
            if not sizes:
                continue
            numbers = sorted(size.lines for size in sizes)
            median = statistics.median(numbers)
            p90 = numbers[min(len(numbers) - 1, len(numbers) * 9 // 10)]
            largest = max(sizes)
            rows.append(
                f"{title + ' ' + kind:24} {len(numbers):6} {median:7.0f} {p90:5} "
                f"{largest.lines:5}  {largest.name}"
            )
    return "\n".join(rows)


if __name__ == "__main__":
    print(table())
