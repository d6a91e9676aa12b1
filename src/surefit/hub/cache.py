"""The Hub's ordinary cache on this machine, in the layout that every Hub client shares.

    models--org--name/blobs/<etag>                 content, under the hash it is known by
    models--org--name/snapshots/<commit>/<file>    a link to its blob
    models--org--name/refs/<revision>              the commit that a branch named last

Source: huggingface_hub's guide "Understand caching". Beside it, under surefit's own home, lie the
listings: which files a commit has, and the headers of its weights.
"""

import json
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from surefit.home import disk_error, hub_folder, make_folder, write_atomically
from surefit.models.facts import HubFile, ModelFacts

COMMIT = re.compile(r"[0-9a-f]{40}")
_ETAG = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


@dataclass(frozen=True)
class RepoCache:
    """What the cache holds of one repository."""

    root: Path
    kind: str
    repo: str

    @property
    def folder(self) -> Path:
        """Its folder in the cache."""
        return self.root / f"{self.kind}s--{self.repo.replace('/', '--')}"

    def snapshot(self, commit: str) -> Path:
        """The folder of one commit."""
        return self.folder / "snapshots" / commit

    def blob(self, file: HubFile, commit: str) -> Path:
        """Where a file's content lies."""
        safe = file.etag if _ETAG.fullmatch(file.etag) else None
        if safe:
            return self.folder / "blobs" / safe
        return self.snapshot(commit) / file.path  # without a hash there is nothing to share it by

    def commit_of(self, revision: str) -> str | None:
        """The commit that a revision named when it was last asked."""
        if COMMIT.fullmatch(revision):
            return revision
        try:
            text = self._ref(revision).read_text(encoding="ascii").strip()
        except (OSError, ValueError):
            return None
        return text if COMMIT.fullmatch(text) else None

    def keep_ref(self, revision: str, commit: str) -> None:
        """Remember what a revision names now."""
        if not COMMIT.fullmatch(revision):
            write_atomically(self._ref(revision), commit)

    def asked_at(self, revision: str) -> float | None:
        """When the revision was last asked, seconds since 1970."""
        try:
            return self._ref(revision).stat().st_mtime
        except OSError:
            return None

    def _ref(self, revision: str) -> Path:
        parts = [part for part in revision.split("/") if part not in ("", ".", "..")]
        return self.folder.joinpath("refs", *parts)

    def listing(self, commit: str) -> dict[str, Any] | None:
        """What was listed of a commit, or None."""
        try:
            found = json.loads(self._listing_file(commit).read_bytes())
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None

    def keep_listing(self, commit: str, listing: dict[str, Any]) -> None:
        """Remember what a commit holds: it never changes."""
        write_atomically(self._listing_file(commit), json.dumps(listing))

    def _listing_file(self, commit: str) -> Path:
        return hub_folder() / self.folder.name / f"{commit}.json"

    def holds(self, file: HubFile, commit: str) -> bool:
        """Whether a file is there whole, as far as its size tells."""
        return has_size(self.snapshot(commit) / file.path, file.size_bytes)

    def link(self, file: HubFile, commit: str) -> Path:
        """Put a file whose blob is there into its snapshot.

        Raises:
            OutsideError: the cache cannot be written.
        """
        place, blob = self.snapshot(commit) / file.path, self.blob(file, commit)
        if place == blob:
            return place
        make_folder(place.parent)
        draft = place.with_name(f".{place.name}.{os.getpid()}")
        try:
            draft.unlink(missing_ok=True)
            try:
                draft.symlink_to(os.path.relpath(blob, place.parent))
            except OSError:  # a file system without links
                shutil.copyfile(blob, draft)
            draft.replace(place)
        except OSError as error:
            raise disk_error(f"cannot write {place}", error, place) from error
        return place


def has_size(path: Path, size: int) -> bool:
    """Whether a file is there with this size."""
    try:
        return path.stat().st_size == size
    except OSError:
        return False


def missing_files(facts: ModelFacts) -> tuple[HubFile, ...]:
    """The files of a planned model that are not in the cache, or not whole."""
    if facts.hub is None:
        return ()
    folder = Path(facts.folder)
    return tuple(
        file for file in facts.hub.files if not has_size(folder / file.path, file.size_bytes)
    )
