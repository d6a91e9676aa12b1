"""Data sets of the Hub as files: which ones, fetched one by one into the Hub's cache, verified."""

import difflib
import time

from surefit.data.finding_files import FetchedFile
from surefit.errors import RecipeError, Refused, SurefitError, WorkerExit
from surefit.hub.cache import RepoCache
from surefit.hub.client import AT_THE_TERMINAL, IN_A_RUN, Client
from surefit.hub.failures import Subject, offline
from surefit.hub.fetching import Fetching, refuse_full_disk, refuse_huge_files
from surefit.hub.finding import Say
from surefit.hub.listing import Listing, list_files
from surefit.hub.names import HubName
from surefit.hub.settings import Settings
from surefit.hub.splits import Choice, Side, UnknownPartError, choose_files
from surefit.hub.token import find_token
from surefit.models.facts import HubFile
from surefit.units import bytes_text, plural

_CARD = "README.md"
_TOLD_EVERY = 3.0


def files_of(name: HubName, side: Side, source: str, say: Say) -> tuple[FetchedFile, ...]:
    """The files of a data set on the Hub, fetched. See `surefit.hub.find_data`."""
    settings = Settings.here()
    subject = Subject(name, f"data.{side}", settings, find_token())
    if not settings.offline:
        say(f"{source} is no file here: asking {settings.host} for the data set {name.repo}")
    client = Client(subject, AT_THE_TERMINAL, say)
    cache = RepoCache(settings.cache, "dataset", name.repo)
    listing = list_files(client, cache)
    if listing.remark:
        say(listing.remark)
    choice = _chosen(client, cache, listing, side)
    files = [listing.files[path] for path in choice.files]
    _say_choice(say, name, listing, choice, files)
    _fetch(client, cache, listing, files)
    place = cache.snapshot(listing.commit)
    pinned = f"{name.repo}@{listing.commit[:7]}"
    return tuple(
        FetchedFile(
            name=f"{pinned}/{file.path}",
            path=place / file.path,
            origin=f"{settings.endpoint}/datasets/{name.repo}/resolve/{listing.commit}/{file.path}",
        )
        for file in files
    )


def _say_choice(
    say: Say, name: HubName, listing: Listing, choice: Choice, files: list[HubFile]
) -> None:
    subset = f"subset {choice.subset}, " if choice.subset else ""
    whole = bytes_text(sum(file.size_bytes for file in files))
    remark = f"; {choice.remark}" if choice.remark else ""
    say(
        f"{name.repo} at {listing.commit[:7]}: {subset}split {choice.split}, "
        f"{plural(len(files), 'file')} ({whole}){remark}"
    )


def _chosen(client: Client, cache: RepoCache, listing: Listing, side: Side) -> Choice:
    subject, name = client.subject, client.subject.name
    card = ""
    if _CARD in listing.files:
        _fetch(client, cache, listing, [listing.files[_CARD]])
        card = (cache.snapshot(listing.commit) / _CARD).read_text(
            encoding="utf-8", errors="replace"
        )
    try:
        choice = choose_files(listing.files, card, name.subset, name.split, side)
    except UnknownPartError as error:
        raise _unknown_part(subject, error) from error
    if not choice.files:
        raise _no_files(subject, listing)
    return choice


def _fetch(client: Client, cache: RepoCache, listing: Listing, files: list[HubFile]) -> None:
    lacking = [file for file in files if not cache.holds(file, listing.commit)]
    if not lacking:
        return
    subject = client.subject
    if subject.settings.offline:
        raise offline(subject, f"{lacking[0].path} was never fetched here")
    refuse_huge_files(lacking, subject)
    refuse_full_disk(lacking, cache.root, subject.name.repo)
    patient = Client(subject, IN_A_RUN if len(lacking) > 1 else AT_THE_TERMINAL, client.say)
    told = _Told(client.say, subject.name.repo, sum(file.size_bytes for file in lacking))
    Fetching(patient, cache, listing.commit, told.add).fetch_all(lacking)


class _Told:
    """Bytes that came, said every few seconds."""

    def __init__(self, say: Say, repo: str, total: int) -> None:
        self._say, self._repo, self._total = say, repo, total
        self._done, self._last = 0, time.monotonic()

    def add(self, count: int) -> None:
        self._done += count
        now = time.monotonic()
        if now - self._last >= _TOLD_EVERY:
            self._last = now
            self._say(
                f"{self._repo}: {bytes_text(self._done)} of {bytes_text(self._total)} fetched"
            )


def _unknown_part(subject: Subject, error: UnknownPartError) -> SurefitError:
    name, known = subject.name, ", ".join(error.known) or "none"
    first = _nearest(error)
    if error.part == "subset":
        example = name.with_part(first, name.split or "train") if first else name.repo
    else:
        example = name.with_part(name.subset or error.subset, first) if first else name.repo
    many = f"{error.part}s"
    within = f" of its subset {error.subset}" if error.subset else ""
    what = (
        f"the data set {name.repo} has no {error.part} {error.asked!r}"
        if error.asked is not None
        else f"the data set {name.repo} has several {many}, and the recipe chooses none"
        if len(error.known) != 1
        else f"the data set {name.repo} has no {error.part} that is meant for {subject.field}"
    )
    return RecipeError(
        what,
        f"the {many}{within} are: {known}",
        f"write `{subject.field}: {example}`",
        where=subject.field,
        worker_exit=WorkerExit.INPUT_MISSING,
    )


def _nearest(error: UnknownPartError) -> str:
    """What was probably meant: the nearest name, else `train`, else the first."""
    near = difflib.get_close_matches(error.asked or "", error.known, n=1)
    usual = ["train"] if "train" in error.known else []
    return next(iter([*near, *usual, *error.known]), "")


def _no_files(subject: Subject, listing: Listing) -> SurefitError:
    names = sorted(path for path in listing.files if not path.startswith("."))
    held = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    script = f"{subject.name.repo.rpartition('/')[2]}.py"
    if script in listing.files:
        why = f"its rows come out of a Python script ({script}), and surefit never runs code of a data set"
    else:
        why = (
            f"it holds {held or 'nothing'}; JSONL, JSON, CSV, TSV, Parquet and Arrow files are read"
        )
    return Refused(
        f"the data set {subject.name.repo} has no file that surefit reads",
        why,
        f"try the Hub's own Parquet copy: `{subject.field}: {subject.name.repo}@refs/convert/parquet`",
        where=subject.field,
    )
