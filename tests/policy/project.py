"""The project's own files, as the policy tests read them."""

import ast
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "surefit"
TESTS = ROOT / "tests"


@cache
def tracked_files() -> tuple[Path, ...]:
    """All files that git knows or would take, without the ignored ones."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    paths = (ROOT / name for name in listed.stdout.decode().split("\0") if name)
    return tuple(sorted(path for path in set(paths) if path.is_file()))


def python_files(folder: Path) -> tuple[Path, ...]:
    """The Python files under a folder, ignored ones left out."""
    return tuple(
        path for path in tracked_files() if path.suffix == ".py" and path.is_relative_to(folder)
    )


@cache
def syntax_tree(path: Path) -> ast.Module:
    """The parsed file."""
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def name_of(path: Path) -> str:
    """The path as people write it: relative to the project."""
    return path.relative_to(ROOT).as_posix()


def dotted(node: ast.expr) -> str:
    """The text of a name such as ``torch.load``, ``(...).load`` behind anything but names."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        front = dotted(node.value)
        return f"{front}.{node.attr}" if front else f"(...).{node.attr}"
    return ""
