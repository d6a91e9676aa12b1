"""What a fake Hub holds: repositories with their commits, and accounts with their tokens."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal

Kind = Literal["model", "dataset", "space"]
KINDS: dict[str, Kind] = {"models": "model", "datasets": "dataset", "spaces": "space"}

_LFS_NAMES = re.compile(
    r"\.(safetensors|bin|pt|pth|ckpt|gguf|h5|msgpack|onnx|parquet|arrow|gz|zst|zip)$"
)
_LARGEST_REGULAR = 10 * 10**6


@dataclass(frozen=True)
class StoredFile:
    """The content of a file: bytes, or a file on the disk that is read when it is asked for."""

    source: bytes | Path

    @cached_property
    def size(self) -> int:
        """Its size in bytes."""
        return len(self.source) if isinstance(self.source, bytes) else self.source.stat().st_size

    def read(self, start: int = 0, end: int | None = None) -> bytes:
        """The bytes from `start` up to `end`, all by default."""
        stop = self.size if end is None else end
        if isinstance(self.source, bytes):
            return self.source[start:stop]
        with self.source.open("rb") as handle:
            handle.seek(start)
            return handle.read(stop - start)

    @cached_property
    def sha256(self) -> str:
        """Hash of the content: what an LFS file is known by."""
        return hashlib.sha256(self.read()).hexdigest()

    @cached_property
    def git_sha1(self) -> str:
        """What git calls the content."""
        content = self.read()
        return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()  # noqa: S324 - git's


Files = Mapping[str, StoredFile]


@dataclass
class FakeRepo:
    """One repository. `commits` maps a commit's id to its files; `refs` a branch to its commit."""

    kind: Kind
    name: str
    private: bool = False
    gated: Literal[False, "auto", "manual"] = False
    disabled: bool = False
    readers: set[str] = field(default_factory=set)
    """Accounts that a gated or private repository lets in, besides its owner."""
    commits: dict[str, Files] = field(default_factory=dict)
    refs: dict[str, str] = field(default_factory=dict)

    @property
    def owner(self) -> str:
        """The account it belongs to."""
        return self.name.partition("/")[0]

    def commit(self, files: Files, branch: str = "main") -> str:
        """Add a commit with exactly these files; its id."""
        digest = hashlib.sha1(self.refs.get(branch, "").encode())  # noqa: S324 - as git names commits
        for path, file in sorted(files.items()):
            digest.update(f"{path}\0{file.git_sha1}\0".encode())
        sha = digest.hexdigest()
        self.commits[sha] = dict(files)
        self.refs[branch] = sha
        return sha

    def resolve(self, revision: str) -> str | None:
        """The commit that a branch, a tag or a commit's (shortened) id names."""
        if revision in self.refs:
            return self.refs[revision]
        if not re.fullmatch(r"[0-9a-f]{5,40}", revision):
            return None
        return next((sha for sha in self.commits if sha.startswith(revision)), None)

    def is_lfs(self, path: str, file: StoredFile) -> bool:
        """Whether a file is kept outside of git, as large and binary ones are."""
        return bool(_LFS_NAMES.search(path)) or file.size > _LARGEST_REGULAR


@dataclass(frozen=True)
class Account:
    """Who a token belongs to, and what it may do."""

    token: str
    user: str
    role: Literal["read", "write", "fineGrained"] = "write"
    scopes: tuple[str, ...] = ()
    """Of a fine-grained token: `repo.content.read`, `repo.write`, ..."""
    reads_gated: bool = True
    expired: bool = False
    orgs: tuple[str, ...] = ()

    def may_write(self, namespace: str) -> bool:
        """Whether it may create and change repositories of a namespace."""
        member = namespace in (self.user, *self.orgs)
        allowed = self.role == "write" or (
            self.role == "fineGrained" and "repo.write" in self.scopes
        )
        return member and allowed


def files_of(folder: Path) -> dict[str, StoredFile]:
    """Every file below a folder, by its path there."""
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): StoredFile(path) for path in found}
