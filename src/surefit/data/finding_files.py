"""From what a recipe names (file, folder, glob) to the files that are read."""

import re
from dataclasses import dataclass
from pathlib import Path

from surefit.data.row import DataFile, Side
from surefit.home import IrregularFileError, refuse_irregular
from surefit.models.folder import STARTER
from surefit.models.starter_samples import starter_questions, starter_rows
from surefit.recipe.data_spec import DataSpec

SUFFIXES = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet", ".arrow")
COMPRESSIONS = (".gz", ".zst")
_HELD_OUT = re.compile(r"(^|[^a-z])(test|valid|validation|val|dev|eval|evaluation)([^a-z]|$)")
ORIGIN = "origin"
"""The note of a file that was fetched: where from."""
_LONGEST_PATH = 400  # bytes
_GLOB = re.compile(r"[*?\[]")


@dataclass(frozen=True)
class FetchedFile:
    """A file that was brought here from elsewhere.

    Args:
        name: as messages show it.
        path: where it lies.
        origin: where it came from: its address, with the commit.
    """

    name: str
    path: Path
    origin: str


Fetched = dict[tuple[Side, str], tuple[FetchedFile, ...]]
"""What a specification's text means on its side, where that is no path of this machine."""


def find_files(spec: DataSpec, base_folder: Path, fetched: Fetched | None = None) -> list[DataFile]:
    """The files that a data specification names, readable or not, those to evaluate on first."""
    known = fetched or {}
    files: list[DataFile] = []
    if spec.eval is not None and spec.eval_share is None and spec.eval != "none":
        files += _fetched_or_found(spec.eval, base_folder, "eval", known)
    return files + _fetched_or_found(spec.train, base_folder, "train", known)


def _fetched_or_found(name: str, base_folder: Path, side: Side, fetched: Fetched) -> list[DataFile]:
    if (side, name) not in fetched:
        return _find(name, base_folder, side)
    return [
        DataFile(one.name, one.path, side, one.path.stat().st_size, notes={ORIGIN: one.origin})
        for one in fetched[side, name]
    ]


def _find(name: str, base_folder: Path, side: Side) -> list[DataFile]:
    if name == STARTER:
        path = starter_rows() if side == "train" else starter_questions()
        return [_one(path, path.parent, side)]
    path = base_folder / Path(name).expanduser()
    if path.is_dir():
        return _in_folder(path, base_folder, side)
    if not path.exists() and _GLOB.search(path.name):
        found = sorted(path.parent.glob(path.name))
        if found:
            return [_one(one, base_folder, side) for one in found if one.is_file()]
    return [_one(path, base_folder, side)]


def _one(path: Path, base_folder: Path, side: Side) -> DataFile:
    name = _short_name(path, base_folder)
    try:
        refuse_irregular(path)
        with path.open("rb"):
            return DataFile(name, path, side, path.stat().st_size)
    except IrregularFileError as error:
        return DataFile(name, path, side, 0, "irregular", error.strerror or str(error))
    except OSError as error:
        return DataFile(name, path, side, 0, "missing", error.strerror or str(error))


def _in_folder(folder: Path, base_folder: Path, side: Side) -> list[DataFile]:
    """The data files of a folder; a set laid out in splits gives its training files."""
    name = _short_name(folder, base_folder)
    found = sorted(path for path in folder.rglob("*") if path.is_file() and _is_data(path))
    if not found:
        held = sorted(
            one.name + ("/" if one.is_dir() else "")
            for one in folder.iterdir()
            if one.name[0] != "."
        )
        return [DataFile(name, folder, side, 0, "no_data", ", ".join(held[:8]) or "nothing")]
    chosen = [path for path in found if _is_held_out(path, folder) == (side == "eval")]
    if not chosen and side == "eval":
        chosen = found
    if not chosen:
        names = ", ".join(path.name for path in found[:5])
        return [DataFile(name, folder, side, 0, "only_test", names)]
    return [_linked(_one(path, base_folder, side), folder) for path in chosen]


def _is_data(path: Path) -> bool:
    suffixes = [suffix for suffix in path.suffixes if suffix not in COMPRESSIONS]
    return bool(suffixes) and suffixes[-1].lower() in SUFFIXES and path.name[0] != "."


def _is_held_out(path: Path, folder: Path) -> bool:
    return bool(_HELD_OUT.search(path.relative_to(folder).as_posix().lower()))


def _followed(path: Path) -> Path:
    """The file that a link leads to, also of a link that a copy has turned into a small text file."""
    if path.is_symlink() or path.stat().st_size > _LONGEST_PATH:
        return path
    try:
        text = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return path
    target = path.parent / text
    is_link = text.startswith("../") and "\n" not in text and target.is_file()
    return target if is_link else path


def _linked(file: DataFile, folder: Path) -> DataFile:
    """Refuse a link that leads out of the folder, except into the same Hub cache entry."""
    file.path = _followed(file.path)
    target = file.path.resolve()
    root = folder.resolve()
    if root.parent.name == "snapshots":
        root = root.parent.parent
    file.size_bytes = target.stat().st_size if target.is_file() else 0
    if not target.is_relative_to(root):
        file.problem, file.detail = "outside_link", str(target)
    return file


def _short_name(path: Path, base_folder: Path) -> str:
    """Relative to the base folder where the path lies inside of it."""
    try:
        return path.absolute().relative_to(base_folder.absolute()).as_posix()
    except ValueError:
        return str(path)
