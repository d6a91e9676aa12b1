"""Files from the Hub into its cache: gone on with where they were cut off, verified by size and hash."""

import contextlib
import errno
import fcntl
import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Lock
from typing import IO, TYPE_CHECKING, Any

from surefit.errors import OutsideError, SurefitError, WorkerExit
from surefit.home import disk_error, free_bytes, make_folder
from surefit.hub.cache import RepoCache, has_size, missing_files
from surefit.hub.failures import Subject, hub_down
from surefit.hub.names import HubName
from surefit.hub.settings import Settings
from surefit.models.facts import HubFile, HubOrigin, ModelFacts
from surefit.units import bytes_text, seconds_text

if TYPE_CHECKING:
    from surefit.hub.client import Client, Patience
    from surefit.hub.finding import Say
    from surefit.hub.token import Token

Progress = Callable[[int], None]
AT_ONCE = 4  # files of a model that are fetched at the same time
_PIECE = 1 << 20
_LARGEST_PLAIN = 50 * 10**9  # beyond it the Hub's storage gives no plain download
_ROOM_LEFT = 64 * 2**20
_LOCK_SECONDS = 0.2


class CancelledError(Exception):
    """The fetching was broken off from outside; what was fetched is kept."""


@dataclass(frozen=True)
class Fetching:
    """Fetches files of one commit.

    Args:
        client: asks for them.
        cache: where they go.
        commit: which.
        progress: told the bytes that came, as they come; also those found already there.
        cancelled: when set, every file ends at its next bytes.
    """

    client: "Client"
    cache: RepoCache
    commit: str
    progress: Progress = lambda _count: None
    cancelled: Event = field(default_factory=Event)

    def fetch(self, file: HubFile) -> Path:
        """A file in the snapshot, whole and verified.

        Raises:
            SurefitError: refused, no answer, damaged on the way twice, or no room.
        """
        if self.cache.holds(file, self.commit):
            self.progress(file.size_bytes)
            return self.cache.snapshot(self.commit) / file.path
        blob = self.cache.blob(file, self.commit)
        make_folder(blob.parent)
        with self._alone(blob):
            if has_size(blob, file.size_bytes):
                self.progress(file.size_bytes)
            else:
                self._fill(file, blob)
        return self.cache.link(file, self.commit)

    def fetch_all(self, files: Sequence[HubFile], at_once: int = AT_ONCE) -> None:
        """Several files, some at the same time. The first failure ends them all."""
        if not files:
            return
        with ThreadPoolExecutor(min(at_once, len(files))) as threads:
            coming = [threads.submit(self.fetch, file) for file in files]
            try:
                for one in coming:
                    one.result()
            except BaseException:
                self.cancelled.set()
                for one in coming:
                    one.cancel()
                raise

    def _fill(self, file: HubFile, blob: Path) -> None:
        partial = blob.with_name(f"{blob.name}.surefit.incomplete")
        for last in (False, True):
            self._receive(file, partial)
            if _hash_of(partial, file) == (file.etag or None):
                break
            # What was kept from an earlier try may be what is damaged: once more from the beginning.
            self.progress(-file.size_bytes)
            partial.unlink()
            if last:
                raise self._damaged(file)
            self.client.say(
                f"{file.path} arrived damaged (another hash than {file.etag[:12]}): once more"
            )
        try:
            partial.replace(blob)
        except OSError as error:
            raise disk_error(f"cannot write {blob}", error, blob) from error

    def _receive(self, file: HubFile, partial: Path) -> None:
        """Bring the partial file to its full size, in as many pieces as it takes."""
        import httpx2

        patience = self.client.patience
        waits = iter(patience.waits)
        have = partial.stat().st_size if partial.is_file() else 0
        if have > file.size_bytes:
            partial.unlink()
            have = 0
        self.progress(have)
        while have < file.size_bytes or not partial.is_file():
            before = have
            why = "the connection ended early"
            try:
                have = self._stream(file, partial, have)
            except httpx2.TransportError as error:
                why = str(error) or type(error).__name__
                now = partial.stat().st_size if partial.is_file() else 0
                have = now
            if have >= file.size_bytes:
                break
            if have > before:
                waits = iter(patience.waits)  # it moves: the patience begins anew
            wait = next(waits, None)
            got = f"{bytes_text(have)} of {bytes_text(file.size_bytes)}"
            if wait is None:
                raise hub_down(self.client.subject, f"{file.path} broke off after {got}: {why}")
            self.client.say(
                f"{file.path} broke off after {got} ({why}): going on in {seconds_text(wait)}"
            )
            self._pause(wait)

    def _stream(self, file: HubFile, partial: Path, have: int) -> int:
        """One request; the size of the partial file after it."""
        url = self.client.file_url(self.commit, file.path)
        ranged = {"range": f"bytes={have}-"} if have else {}
        with self.client.get(url, ranged, stream=True) as response:
            if have and response.status_code != 206:
                self.progress(-have)
                have = 0
            try:
                with partial.open("r+b" if have else "wb") as handle:
                    handle.seek(have)
                    return self._copy(response.iter_raw(), handle, have, file)
            except OSError as error:
                raise _no_room(error, file, partial) from error

    def _copy(self, pieces: Iterator[bytes], handle: IO[bytes], have: int, file: HubFile) -> int:
        for piece in pieces:
            if self.cancelled.is_set():
                raise CancelledError
            if have + len(piece) > file.size_bytes:
                raise self._too_long(file)
            handle.write(piece)
            have += len(piece)
            self.progress(len(piece))
        return have

    @contextlib.contextmanager
    def _alone(self, blob: Path) -> Iterator[None]:
        """Only one process fetches a file; the others wait, and find it there."""
        lock = self.cache.root / ".locks" / self.cache.folder.name / f"{blob.name}.surefit.lock"
        make_folder(lock.parent)
        handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            while not _locked(handle):
                self._pause(_LOCK_SECONDS)
            yield
        finally:
            os.close(handle)

    def _pause(self, seconds: float) -> None:
        if self.cancelled.wait(seconds):
            raise CancelledError

    def _too_long(self, file: HubFile) -> SurefitError:
        return hub_down(
            self.client.subject,
            f"{file.path} is longer than the {file.size_bytes:,} bytes that the Hub lists",
        )

    def _damaged(self, file: HubFile) -> SurefitError:
        return OutsideError(
            f"{file.path} of {self.client.subject.name.repo} arrives damaged",
            f"twice its content had another hash than {file.etag}, which the Hub lists",
            "start again on another network; if it stays, tell the publisher at "
            f"{self.client.subject.page}/discussions",
            worker_exit=WorkerExit.NETWORK,
            details={"class": "HUB_DOWN"},
        )


def fetch_weights(
    facts: ModelFacts,
    token: "Token | None",
    *,
    progress: Callable[[int, int], None],
    say: "Say",
    patience: "Patience | None" = None,
) -> None:
    """Fetch what a plan pinned and the cache does not have.

    Args:
        facts: the plan's model; its `hub` names commit, files, sizes and hashes.
        token: sent to the Hub.
        progress: told (bytes that are here, bytes in all).
        say: told what is tried again.
        patience: how long to go on; that of a run by default.

    Raises:
        OutsideError: no room, refused, no answer after all tries, or damaged.
    """
    from surefit.hub.client import IN_A_RUN, Client

    files, origin = missing_files(facts), facts.hub
    if origin is None or not files:
        return
    snapshot = Path(facts.folder)
    refuse_full_disk(files, snapshot, origin.repo)
    cache = RepoCache(snapshot.parents[2], "model", origin.repo)
    subject = _subject(origin, cache, token)
    counted = _Count(progress, sum(file.size_bytes for file in files))
    cancelled = Event()
    client = Client(subject, patience or IN_A_RUN, say)
    Fetching(client, cache, origin.commit, counted.add, cancelled).fetch_all(files)


def _subject(origin: HubOrigin, cache: RepoCache, token: "Token | None") -> Subject:
    here = Settings.here()
    settings = Settings(origin.endpoint, cache.root, here.home, here.offline)
    return Subject(HubName("model", origin.repo, origin.revision), "model", settings, token)


@dataclass
class _Count:
    """Bytes of several threads, told as one number."""

    tell: Callable[[int, int], None]
    total: int
    done: int = 0
    _lock: Any = field(default_factory=Lock)

    def add(self, count: int) -> None:
        with self._lock:
            self.done += count
            self.tell(self.done, self.total)


def refuse_full_disk(files: Sequence[HubFile], folder: Path, repo: str) -> None:
    """Refuse to begin what has no room.

    Raises:
        OutsideError: the disk of the cache is too small (73).
    """
    needed, free = sum(file.size_bytes for file in files), free_bytes(folder)
    if needed + _ROOM_LEFT > free:
        raise OutsideError(
            f"there is no room for {repo}: {bytes_text(needed)} to fetch, {bytes_text(free)} free",
            f"the cache lies in {folder}",
            "free some space, or set HF_HUB_CACHE to a folder on a larger disk",
            worker_exit=WorkerExit.DISK,
            details={"class": "DISK_FULL"},
        )


def refuse_huge_files(files: Sequence[HubFile], subject: Subject) -> None:
    """Refuse single files that the Hub's storage gives no plain download of.

    Raises:
        OutsideError: fetch it beforehand.
    """
    huge = next((file for file in files if file.size_bytes > _LARGEST_PLAIN), None)
    if huge is not None:
        raise OutsideError(
            f"{huge.path} has {bytes_text(huge.size_bytes)}, more than surefit fetches in one file",
            "files over 50 GB come only by the Hub's own chunked transfer",
            f"fetch it beforehand: `hf download {subject.name.repo}`; surefit then finds it in the cache",
            where=subject.field,
        )


def _no_room(error: OSError, file: HubFile, partial: Path) -> SurefitError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return disk_error(f"cannot write {file.path}", error, partial)
    return disk_error(f"cannot write {partial}", error, partial)


def _hash_of(path: Path, file: HubFile) -> str | None:
    """The hash of a kind that the Hub lists: SHA-256 of a large file, git's SHA-1 of a small one."""
    if len(file.etag) == 64:
        with path.open("rb") as handle:
            return hashlib.file_digest(handle, "sha256").hexdigest()
    if len(file.etag) == 40:
        digest: Any = hashlib.sha1(b"blob %d\0" % file.size_bytes)  # noqa: S324 - git's own
        with path.open("rb") as handle:
            while piece := handle.read(_PIECE):
                digest.update(piece)
        return str(digest.hexdigest())
    return file.etag or None


def _locked(handle: int) -> bool:
    """Whether the lock is ours now; also where the file system has no locks."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True
