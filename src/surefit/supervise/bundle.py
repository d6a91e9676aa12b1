"""A bundle: what a run left behind, without data, weights, secrets and names, to be shown to somebody else.

Everything is shown before it is written: `collect` makes the contents in memory, `write` packs them.
"""

import io
import json
import os
import platform
import re
import socket
import tarfile
import time
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from surefit.errors import UsageError
from surefit.home import open_atomically
from surefit.runs import RunFolder
from surefit.supervise.redaction import REDACTED, Redactor, secret_values
from surefit.supervise.user import user_name

LARGEST_FILE = 16 * 2**20
_SHORTEST_NAME = 3
_COMMON_NAMES = frozenset({"root", "user", "ubuntu", "localhost", "admin", "home"})
_PATTERNS = (
    "recipe.yaml",
    "recipe.json",
    "plan.json",
    "dataset.json",
    "events.jsonl",
    "effective.json",
    "rehearsal.json",
    "result.json",
    "supervisor.json",
    "stop.json",
    "exit.json",
    "diagnosis.json",
    "ranks.json",
    "log/*.log",
    "log/*.txt",
    "log/error_rank*.json",
    "heartbeats/*.json",
    "checkpoints/*/manifest.json",
    "attempts/*/*.json",
    "attempts/*/*.txt",
)
_NEVER = frozenset({"bad_batch.json"})  # its token ids are the user's rows
_WITH_ROWS = {"dataset.json": ("samples", "findings")}  # fields that quote rows
_PACKAGES = ("torch", "transformers", "peft", "accelerate", "tokenizers", "safetensors", "pydantic")


@dataclass(frozen=True)
class Item:
    """One file of a bundle."""

    name: str
    content: bytes
    replaced: int  # places that were taken out
    cut: bool = False


class Scrubber:
    """Takes out secrets, the home folder, the user's and the machine's name."""

    def __init__(self) -> None:
        self._secrets = sorted(secret_values(os.environ))
        home = str(Path.home())
        pairs = [(home, b"~")] if len(home) > 1 else []
        for name, instead in ((user_name(), b"[user]"), (socket.gethostname(), b"[host]")):
            if len(name) >= _SHORTEST_NAME and name not in _COMMON_NAMES:
                pairs.append((name, instead))
        self._names = [
            (
                re.compile(rb"(?<![A-Za-z0-9])" + re.escape(one.encode()) + rb"(?![A-Za-z0-9])"),
                instead,
            )
            for one, instead in pairs
        ]

    def clean(self, content: bytes) -> tuple[bytes, int]:
        """The content without them, and how many places were replaced."""
        redactor = Redactor(self._secrets)
        clean = redactor.feed(content) + redactor.finish()
        count = clean.count(REDACTED) - content.count(REDACTED)
        for pattern, instead in self._names:
            clean, found = pattern.subn(instead, clean)
            count += found
        return clean, count

    def text(self, text: str) -> str:
        """A text without them."""
        return self.clean(text.encode())[0].decode(errors="replace")


def collect(run: RunFolder) -> list[Item]:
    """The contents of a run's bundle, cleaned; nothing is written.

    Raises:
        OutsideError: a file may not be read.
    """
    scrubber = Scrubber()
    items = [_item(file, run.path, scrubber) for file in _files(run)]
    about = json.dumps(_about(run), indent=1).encode()
    return [Item("about.json", *scrubber.clean(about)), *items]


def write(items: Iterable[Item], target: Path) -> None:
    """Pack the contents as `.tar.gz`, whole or not at all.

    Raises:
        UsageError: there is such a file already.
        OutsideError: the disk is full or the folder may not be written.
    """
    if target.exists():
        raise UsageError(
            f"{target} exists already",
            "a bundle replaces nothing",
            f"choose another name with `--output`, such as `--output {target.with_name('other.tar.gz')}`",
        )
    root = target.name.removesuffix(".gz").removesuffix(".tar")
    with open_atomically(target) as handle, tarfile.open(fileobj=handle, mode="w:gz") as packed:
        for item in items:
            entry = tarfile.TarInfo(f"{root}/{item.name}")
            entry.size, entry.mtime = len(item.content), int(time.time())
            packed.addfile(entry, io.BytesIO(item.content))


def _files(run: RunFolder) -> list[Path]:
    found: dict[Path, None] = {}
    for pattern in _PATTERNS:
        for file in sorted(run.path.glob(pattern)):
            if file.is_file() and not file.is_symlink() and file.name not in _NEVER:
                found[file] = None
    return list(found)


def _item(file: Path, root: Path, scrubber: Scrubber) -> Item:
    content = file.read_bytes() if file.stat().st_size <= LARGEST_FILE else _ends_of(file)
    cut = len(content) < file.stat().st_size
    if file.name in _WITH_ROWS:
        content = _without_rows(content, _WITH_ROWS[file.name])
    clean, replaced = scrubber.clean(content)
    return Item(file.relative_to(root).as_posix(), clean, replaced, cut)


def _ends_of(file: Path) -> bytes:
    half = LARGEST_FILE // 2
    with file.open("rb") as handle:
        start = handle.read(half)
        handle.seek(-half, os.SEEK_END)
        return start + b"\n[surefit: the middle was left out of the bundle]\n" + handle.read()


def _without_rows(content: bytes, fields: tuple[str, ...]) -> bytes:
    """A record without the fields that quote rows of the data."""
    try:
        record: dict[str, Any] = json.loads(content)
    except ValueError:
        return b"{}"
    for field in fields:
        left = record.pop(field, None)
        if isinstance(left, list) and field == "findings":
            keep = ("code", "severity", "count")
            record[field] = [{name: one.get(name) for name in keep} for one in left]
    return json.dumps(record, indent=1).encode()


def _about(run: RunFolder) -> dict[str, Any]:
    """The machine and the versions that looked at the run."""
    return {
        "run": run.id,
        "made": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "system": platform.platform(),
        "python": platform.python_version(),
        "packages": {name: _version_of(name) for name in ("surefit", *_PACKAGES)},
        "left_out": "data, weights, bad_batch.json, quoted rows, secrets, names of user and machine",
    }


def _version_of(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
