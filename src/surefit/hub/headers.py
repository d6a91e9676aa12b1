"""Headers of weight files by byte ranges: every tensor's name, dtype and shape, and no weights."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from surefit.hub.cache import RepoCache
from surefit.hub.client import Client
from surefit.hub.listing import Headers, Listing
from surefit.models.facts import HubFile
from surefit.models.weights import Tensor, header_length, parse_header, read_header

_FIRST_BYTES = 100_000  # holds the header of nearly every file, so that one request is enough
_AT_ONCE = 8


def read_headers(
    client: Client, cache: RepoCache, listing: Listing, names: Sequence[str]
) -> dict[str, tuple[dict[str, Tensor], int]]:
    """The tensors of each weight file, with the file's size.

    Args:
        client: asks for what is not known yet.
        cache: files that are there whole are read there.
        listing: the commit's files, and headers read before.
        names: the weight files.

    Raises:
        Refused: a file is damaged.
        SurefitError: the Hub refuses, or does not answer.
    """

    def of(name: str) -> tuple[dict[str, Tensor], int]:
        file = listing.files[name]
        known = listing.headers.get(name)
        if known is not None:
            return {
                key: Tensor(one[0], tuple(one[1])) for key, one in known.items()
            }, file.size_bytes
        if cache.holds(file, listing.commit):
            return read_header(cache.snapshot(listing.commit) / name), file.size_bytes
        return _fetch(client, listing.commit, file), file.size_bytes

    with ThreadPoolExecutor(min(_AT_ONCE, max(1, len(names)))) as threads:
        return dict(zip(names, threads.map(of, names), strict=True))


def as_kept(headers: dict[str, tuple[dict[str, Tensor], int]]) -> Headers:
    """The headers as a listing keeps them."""
    return {
        name: {key: (one.dtype, one.shape) for key, one in tensors.items()}
        for name, (tensors, _) in headers.items()
    }


def _fetch(client: Client, commit: str, file: HubFile) -> dict[str, Tensor]:
    place = Path(client.subject.name.repo) / file.path
    first = _range(client, commit, file, 0, min(_FIRST_BYTES, file.size_bytes))
    length = header_length(str(place), first, file.size_bytes)
    header = first[8 : 8 + length]
    if len(header) < length:
        header += _range(client, commit, file, len(first), 8 + length)
    return parse_header(str(place), header[:length], file.size_bytes)


def _range(client: Client, commit: str, file: HubFile, start: int, end: int) -> bytes:
    """Bytes from `start` up to `end`, and no more even where the server would send everything."""
    url = client.file_url(commit, file.path)
    found = b""
    for _ in range(len(client.patience.waits) + 1):
        begin = start + len(found)
        with client.get(url, {"range": f"bytes={begin}-{end - 1}"}, stream=True) as response:
            skip = 0 if response.status_code == 206 else begin
            found += _take(client, response, skip, end - begin)
        if len(found) >= end - start:
            break
    return found


def _take(client: Client, response: object, skip: int, count: int) -> bytes:
    import httpx2

    assert isinstance(response, httpx2.Response)  # noqa: S101 - for the type checker
    taken = b""
    try:
        for piece in response.iter_raw():
            taken += piece
            if len(taken) >= skip + count:
                break
    except httpx2.TransportError as error:
        client.say(f"a header broke off ({error}): asking again")
    return taken[skip : skip + count]
