"""A model on the Hub to facts: its config, tokenizer, chat template and the headers of its weights are
read; the weights stay there."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from surefit.errors import OutsideError, Refused, WorkerExit
from surefit.home import home_folder
from surefit.hub.cache import RepoCache
from surefit.hub.client import AT_THE_TERMINAL, Client
from surefit.hub.contents import refuse_other_contents
from surefit.hub.failures import Subject, offline
from surefit.hub.fetching import Fetching, refuse_full_disk, refuse_huge_files
from surefit.hub.finding import FoundModel, Say
from surefit.hub.headers import as_kept, read_headers
from surefit.hub.listing import Listing, list_files
from surefit.hub.names import HubName
from surefit.hub.settings import Settings
from surefit.hub.token import find_token
from surefit.models import ModelFacts
from surefit.models.facts import HubFile, HubOrigin
from surefit.models.reading import facts_of
from surefit.models.weights import INDEX, Weights, put_together, weight_files
from surefit.units import bytes_text, plural

# What a model is read from before its weights are, and what belongs to the result of a run.
SMALL_FILES = (
    "config.json",
    "generation_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "chat_template.jinja",
    "tokenizer.model",
    "vocab.json",
    "merges.txt",
    INDEX,
)
_LARGEST_SMALL = 256 * 2**20
_AT_ONCE = 8


def model_of_hub(source: str, name: HubName, say: Say) -> FoundModel:
    """The facts of a model on the Hub. See `surefit.hub.find_model`."""
    settings = Settings.here()
    subject = Subject(name, "model", settings, find_token())
    if not settings.offline:
        say(f"{source} is no folder here: asking {settings.host} for the model {name.repo}")
    return _from_hub(source, Client(subject, AT_THE_TERMINAL, say))


def _from_hub(source: str, client: Client) -> FoundModel:
    subject = client.subject
    cache = RepoCache(subject.settings.cache, "model", subject.name.repo)
    listing = list_files(client, cache)
    if listing.remark:
        client.say(listing.remark)
    refuse_other_contents(subject, listing)
    small = _fetch_small(client, cache, listing)
    present = [path for path in listing.files if path.endswith(".safetensors") and "/" not in path]
    folder = cache.snapshot(listing.commit)
    try:
        names, listed = weight_files(folder, present)
        refuse_huge_files([listing.files[one] for one in names], subject)
        facts = facts_of(source, folder, lambda: _weights(client, cache, listing, names, listed))
    except Refused as error:
        raise _as_published(error, subject) from error
    files = (*small, *(listing.files[one] for one in names))
    missing = [file for file in files if not cache.holds(file, listing.commit)]
    origin = HubOrigin(
        endpoint=subject.settings.endpoint,
        repo=subject.name.repo,
        revision=subject.name.revision or "main",
        commit=listing.commit,
        files=files,
        access=listing.access,
        download_bytes=sum(file.size_bytes for file in missing),
        same_disk=_same_disk(cache.root, home_folder()),
    )
    return FoundModel(facts.model_copy(update={"hub": origin}), folder, listing.remark)


def _fetch_small(client: Client, cache: RepoCache, listing: Listing) -> list[HubFile]:
    small = [listing.files[name] for name in SMALL_FILES if name in listing.files]
    large = next((file for file in small if file.size_bytes > _LARGEST_SMALL), None)
    if large is not None:
        raise Refused(
            f"{large.path} of {client.subject.name.repo} has {bytes_text(large.size_bytes)}",
            "a file of that name has some megabytes in every model",
            f"look at {client.subject.page}/tree, and name another model",
            where="model",
        )
    lacking = [file for file in small if not cache.holds(file, listing.commit)]
    if lacking and client.subject.settings.offline:
        raise offline(client.subject, f"{lacking[0].path} was never fetched here")
    Fetching(client, cache, listing.commit).fetch_all(small, _AT_ONCE)
    return small


def _weights(
    client: Client, cache: RepoCache, listing: Listing, names: list[str], listed: dict[str, str]
) -> Weights:
    unknown = [
        one
        for one in names
        if one not in listing.headers and not cache.holds(listing.files[one], listing.commit)
    ]
    if unknown and client.subject.settings.offline:
        raise offline(client.subject, f"the header of {unknown[0]} was never read here")
    headers = read_headers(client, cache, listing, names)
    cache.keep_listing(listing.commit, replace(listing, headers=as_kept(headers)).as_json())
    return put_together(names, listed, headers)


def _as_published(error: Refused, subject: Subject) -> Refused:
    """What is wrong with the files is so on the Hub: a new copy would not help."""
    if "copy or download" not in error.next_step:
        return error
    step = (
        f"tell the publisher at {subject.page}/discussions, or name another commit: "
        f"`model: {subject.name.repo}@REVISION`"
    )
    return Refused(error.what, error.why, step, where="model", worker_exit=error.worker_exit)


def _same_disk(one: Path, other: Path) -> bool:
    def device(path: Path) -> int:
        while not path.exists():
            path = path.parent
        return path.stat().st_dev

    return device(one) == device(other)


def refuse_missing(facts: ModelFacts, origin: HubOrigin, missing: Sequence[HubFile]) -> None:
    """Refuse a start where the weights cannot be fetched. See `surefit.hub.refuse_unfetchable`."""
    settings = Settings.here()
    if not settings.offline:
        refuse_full_disk(missing, Path(facts.folder), origin.repo)
        return
    whole = bytes_text(sum(file.size_bytes for file in missing))
    raise OutsideError(
        f"the weights of {origin.repo} are not here, and {settings.offline} forbids to fetch them",
        f"of commit {origin.commit[:7]}, {plural(len(missing), 'file')} ({whole}) must be fetched",
        f"unset {settings.offline} and start again, or fetch them where there is a network: "
        f"`hf download {origin.repo} --revision {origin.commit}`",
        where="model",
        worker_exit=WorkerExit.INPUT_MISSING,
    )
