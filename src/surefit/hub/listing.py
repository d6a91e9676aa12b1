"""What a repository holds at a commit: asked, or remembered where nobody answers."""

import json
import os
import time
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Literal
from urllib.parse import quote

from surefit.errors import SurefitError, WorkerExit
from surefit.hub.cache import COMMIT, RepoCache
from surefit.hub.client import Client
from surefit.hub.failures import not_the_hub, offline, wrong_kind
from surefit.models.facts import HubFile
from surefit.models.weights import INDEX

Access = Literal["public", "gated", "private"]
Headers = dict[str, dict[str, tuple[str, tuple[int, ...]]]]
"""Weight file -> tensor -> (dtype, shape)."""


@dataclass(frozen=True)
class Listing:
    """The files of a commit.

    Args:
        commit: its whole id.
        files: by path.
        access: who may read it.
        remark: what a person should know about how it was found; empty where it was asked.
        headers: of weight files, as far as they were read before.
    """

    commit: str
    files: dict[str, HubFile]
    access: Access = "public"
    remark: str = ""
    headers: Headers = field(default_factory=dict)
    partial: bool = False
    """What another client has fetched: there may be more."""

    def as_json(self) -> dict[str, Any]:
        """For the disk."""
        return {
            "commit": self.commit,
            "access": self.access,
            "files": [[one.path, one.size_bytes, one.etag] for one in self.files.values()],
            "headers": self.headers,
        }


def list_files(client: Client, cache: RepoCache) -> Listing:
    """The files of the commit that the name's revision means now.

    Where the Hub may not be asked or does not answer, what was listed or fetched before counts, and
    `remark` says so. What it refuses stays refused.

    Raises:
        SurefitError: refused, or not known here either.
    """
    subject = client.subject
    revision = subject.name.revision or "main"
    pinned = _remembered(cache, revision) if COMMIT.fullmatch(revision) else None
    if pinned is not None and not pinned.partial:
        return pinned
    if subject.settings.offline:
        return _from_cache(
            client, cache, f"was not asked, because {subject.settings.offline} is set"
        )
    try:
        found = _asked(client, revision)
    except SurefitError as error:
        if error.worker_exit is not WorkerExit.NETWORK or cache.commit_of(revision) is None:
            raise
        try:
            return _from_cache(client, cache, f"did not answer ({error.why})")
        except SurefitError:
            raise error from None
    known = _remembered(cache, found.commit)
    cache.keep_ref(revision, found.commit)
    listing = Listing(
        found.commit, found.files, found.access, headers=known.headers if known else {}
    )
    cache.keep_listing(found.commit, listing.as_json())
    return listing


def _asked(client: Client, revision: str) -> Listing:
    name = client.subject.name
    path = f"{name.kind}s/{name.repo}/revision/{quote(revision, safe='')}"
    try:
        answer = client.api(path, blobs="true")
    except SurefitError as error:
        if error.details.get("missing") == "repository" and _exists_as_other_kind(client):
            raise wrong_kind(client.subject) from error
        raise
    if not isinstance(answer, dict) or not COMMIT.fullmatch(str(answer.get("sha"))):
        raise not_the_hub(client.subject, f"/api/{path} names no commit")
    access: Access = (
        "private" if answer.get("private") else "gated" if answer.get("gated") else "public"
    )
    files = [_file(one) for one in answer.get("siblings") or ()]
    return Listing(answer["sha"], {one.path: one for one in files if one is not None}, access)


def _exists_as_other_kind(client: Client) -> bool:
    name = client.subject.name
    other = "datasets" if name.kind == "model" else "models"
    try:
        client.api(f"{other}/{name.repo}")
    except SurefitError:
        return False
    return True


def _file(sibling: Any) -> HubFile | None:
    """A file of the answer; None for what is no plain relative path or has no size."""
    path, size = sibling.get("rfilename"), sibling.get("size")
    if not isinstance(path, str) or not isinstance(size, int) or not _is_inside(path):
        return None
    large = sibling.get("lfs") or {}
    return HubFile(
        path=path, size_bytes=size, etag=large.get("sha256") or sibling.get("blobId") or ""
    )


def _is_inside(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return bool(parts) and not path.startswith("/") and ".." not in parts and "\\" not in path


def _from_cache(client: Client, cache: RepoCache, why: str) -> Listing:
    """What is known here without asking.

    Raises:
        SurefitError: nothing.
    """
    subject, revision = client.subject, client.subject.name.revision or "main"
    commit = cache.commit_of(revision)
    found = _remembered(cache, commit) if commit else None
    if found is None:
        raise offline(subject, f"no commit of {revision!r} was ever fetched here")
    if found.partial and subject.name.kind == "model" and (lacking := _lacking(found, cache)):
        raise offline(subject, f"only a part of it was fetched here, without {lacking}")
    since = cache.asked_at(revision)
    day = time.strftime(" (%Y-%m-%d)", time.localtime(since)) if since else ""
    remark = (
        f"{subject.noun} is taken from the cache: commit {found.commit[:7]}, what {revision} was when "
        f"it was last asked{day}; the Hub {why}"
    )
    return Listing(found.commit, found.files, found.access, remark, found.headers, found.partial)


def _lacking(listing: Listing, cache: RepoCache) -> str | None:
    """What a model that another client has fetched lacks; None: it is whole."""
    if "config.json" not in listing.files:
        return "config.json"
    if "model.safetensors" in listing.files:
        return None
    if INDEX not in listing.files:
        return "weights"
    try:
        index = json.loads((cache.snapshot(listing.commit) / INDEX).read_bytes())
        wanted = sorted(set(index["weight_map"].values()))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None  # whoever reads it says what is wrong with it
    return next((name for name in wanted if name not in listing.files), None)


def _remembered(cache: RepoCache, commit: str) -> Listing | None:
    """The listing that was kept, else what another client has put into the cache."""
    kept = cache.listing(commit)
    if kept is not None:
        try:
            files = [
                HubFile(path=path, size_bytes=size, etag=etag) for path, size, etag in kept["files"]
            ]
            return Listing(
                kept["commit"],
                {one.path: one for one in files},
                kept["access"],
                headers=kept["headers"],
            )
        except (KeyError, TypeError, ValueError):
            return None
    return _from_snapshot(cache, commit)


def _from_snapshot(cache: RepoCache, commit: str) -> Listing | None:
    """The files of a snapshot on the disk; links tell the hash."""
    root = cache.snapshot(commit)
    files = {}
    for folder, _, names in os.walk(root):
        for name in names:
            path = Path(folder) / name
            if path.is_file():
                etag = path.resolve().name if path.is_symlink() else ""
                inside = path.relative_to(root).as_posix()
                size = path.stat().st_size
                files[inside] = HubFile(path=inside, size_bytes=size, etag=etag)
    return Listing(commit, files, partial=True) if files else None
