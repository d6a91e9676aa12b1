"""Checkpoints as files: which are whole, and what is wrong with the others. Needs no torch.

A checkpoint is `checkpoints/step-<N>/`. Its `manifest.json`, written last, holds size and SHA-256 of
every other file, and the fingerprints of the base model and the data that it belongs to.
"""

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from surefit.runs.result import FileHash

MANIFEST = "manifest.json"
_NAME = re.compile(r"step-(\d+)")


@dataclass(frozen=True)
class BrokenCheckpoint:
    """A checkpoint that cannot be gone on from, and why, in words."""

    name: str
    why: str


def step_of(folder: Path) -> int | None:
    """The step in a checkpoint's name, or None where it is no checkpoint's name."""
    found = _NAME.fullmatch(folder.name)
    return int(found[1]) if found else None


def checkpoint_folders(root: Path) -> list[Path]:
    """All checkpoint folders, whole or not, newest first."""
    found = [(step, folder) for folder in root.glob("step-*") if (step := step_of(folder))]
    return [folder for _, folder in sorted(found, reverse=True)]


def newest_whole(root: Path) -> tuple[Path | None, tuple[BrokenCheckpoint, ...]]:
    """The newest checkpoint that verifies, and the broken ones that are newer, newest first."""
    broken: list[BrokenCheckpoint] = []
    for folder in checkpoint_folders(root):
        why = why_broken(folder)
        if why is None:
            return folder, tuple(broken)
        broken.append(BrokenCheckpoint(folder.name, why))
    return None, tuple(broken)


def why_broken(folder: Path) -> str | None:
    """What is wrong with a checkpoint, in words; None: every file is what the manifest says."""
    manifest = read_manifest(folder)
    if manifest is None:
        there = (folder / MANIFEST).exists()
        return f"its {MANIFEST} is " + ("damaged" if there else "missing: it was never finished")
    try:
        entries = [FileHash(**entry) for entry in manifest["files"]]
    except (KeyError, TypeError, ValueError):
        return f"its {MANIFEST} names no files"
    return next((why for entry in entries if (why := _why_differs(folder, entry))), None)


def is_whole(folder: Path) -> bool:
    """Whether every file of the manifest is there with its hash."""
    return why_broken(folder) is None


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """The manifest of a checkpoint, None where it is missing or damaged."""
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
    except (OSError, ValueError):
        return None
    return manifest if isinstance(manifest, dict) else None


def describe_file(file: Path, root: Path) -> FileHash:
    """A file's place, size and SHA-256, read from the disk."""
    with file.open("rb") as handle:
        digest = hashlib.file_digest(handle, "sha256").hexdigest()
    return FileHash(
        path=file.relative_to(root).as_posix(), size_bytes=file.stat().st_size, sha256=digest
    )


def _why_differs(folder: Path, entry: FileHash) -> str | None:
    file = folder / entry.path
    try:
        size = file.stat().st_size
        if size != entry.size_bytes:
            return f"{entry.path} has {size:,} bytes of {entry.size_bytes:,}"
        same = describe_file(file, folder).sha256 == entry.sha256
    except FileNotFoundError:
        return f"{entry.path} is missing"
    except OSError as error:
        return f"{entry.path} cannot be read: {error.strerror or error}"
    return None if same else f"{entry.path} does not have the hash its {MANIFEST} names"
