"""Read what a run printed: bounded memory, whatever the size, cleaned of bars and colours."""

import mmap
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from surefit.diagnose.evidence import LogLine
from surefit.home import disk_error

HEAD_BYTES, TAIL_BYTES = 512 * 1024, 1024 * 1024
WINDOW_BYTES, WINDOWS = 8 * 1024, 24
LONGEST_LINE = 4_000

# What is worth a look in the middle of a large log; plain texts, because they are found fast.
LANDMARKS = (
    b"Traceback (most recent call last)",
    b"Fatal Python error",
    b"out of memory",
    b"Watchdog caught",
    b"Assertion `",
    b"No space left",
    b"NCCL WARN",
    b": nan",
    b"'nan'",
)

_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07|\x00")
_PREFIX = re.compile(
    r"(?P<role>\[default(?P<local>\d+)\]:)?(?P<torch>\[rank(?P<rank>\d+)\]: ?)?"
    r"(?:(?P<label>\d{1,4}): (?=\s*(?:\[rank|Traceback|File |\w+(?:\.\w+)*Error)))?"
    r"(?P<ray>\([\w.]+ pid=\d+(?:, ip=[\d.]+)?\) )?"
)
# kubectl and docker with --timestamps; docker compose
_COLLECTORS = (
    re.compile(r"^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d) (?:std(?:out|err) [FP] )?"),
    re.compile(r"^[\w.-]+-\d+ +\| ?"),
)
_SPOKEN_RANK = re.compile(r"\[[Rr]ank ?(\d+)\]|\bRank (\d+)\]")
_BAR = re.compile(
    r"(?P<name>[^|\r]{0,80}?)\s*(?P<share>\d{1,3})%\|[^|]*\|\s*(?P<done>[\d.]+[kMGTB]?)/(?P<total>[\d.]+[kMGTB]?)"
    r"\s*(?:\[[^\]]*\])?"
)


def read_log(path: Path, name: str | None = None, rank: int | None = None) -> list[LogLine]:
    """The lines of a log; of a large one its beginning, its end and the places that speak of errors.

    Args:
        path: the file.
        name: how to call it in evidence; its own name by default.
        rank: the rank whose output it is, where the file's name says so.

    Raises:
        OutsideError: the file may not be read.
    """
    try:
        with path.open("rb") as handle:
            size = path.stat().st_size if path.is_file() else 0
            if size <= HEAD_BYTES + TAIL_BYTES:
                pieces = [(1, handle.read())]
            else:
                with mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ) as view:
                    pieces = list(_pieces(view, size))
    except OSError as error:
        raise disk_error(f"cannot read {path}", error, path) from error
    return clean_lines(pieces, name or path.name, rank)


def clean_lines(
    pieces: list[tuple[int, bytes]], name: str, rank: int | None = None
) -> list[LogLine]:
    """Turn pieces of a log, each with the number of its first line, into clean lines."""
    lines: list[LogLine] = []
    bar = ""
    prefix = _collector_prefix(pieces)
    for first, piece in pieces:
        for offset, raw in enumerate(piece.split(b"\n")):
            text = raw.decode("utf-8", "replace")
            if prefix is not None:
                text = prefix.sub("", text, count=1)
            for part in text.split("\r") if "\r" in text else (text,):
                for line, this_bar in _clean(part, name, first + offset, rank):
                    if this_bar and this_bar == bar and lines:
                        lines[-1] = replace(line, position=lines[-1].position)
                    else:
                        lines.append(replace(line, position=len(lines)))
                    bar = this_bar
    return lines


def _collector_prefix(pieces: list[tuple[int, bytes]]) -> re.Pattern[str] | None:
    """What a log collector wrote before every line, where one did: a time, a container's name."""
    sample = b"\n".join(piece[:20_000] for _, piece in pieces).decode("utf-8", "replace")
    lines = [line for line in sample.splitlines()[:200] if line.strip()]
    for prefix in _COLLECTORS:
        if len(lines) >= 3 and sum(bool(prefix.match(line)) for line in lines) > 0.9 * len(lines):
            return prefix
    return None


def _clean(part: str, name: str, number: int, rank: int | None) -> Iterator[tuple[LogLine, str]]:
    """Clean lines, each with the name of the progress bar it is, or "" for other text.

    A bar has no line end: what is printed after it stands on its line and is taken apart here.
    """
    text = part[:LONGEST_LINE]
    if "\x1b" in text or "\x00" in text:
        text = _COLOUR.sub("", text)
    text, rank = _without_prefix(text, rank)
    bar = _BAR.match(text) if "%|" in text[:120] else None
    if bar:
        yield LogLine(name, number, bar[0].rstrip(), rank), f"{bar['name']}|{bar['total']}"
        text = text[bar.end() :]
    if text.strip():
        yield LogLine(name, number, text.rstrip(), rank), ""


def _without_prefix(text: str, rank: int | None) -> tuple[str, int | None]:
    """The text without its rank prefix, and the rank that it or the text names."""
    prefix = _PREFIX.match(text)
    if prefix and prefix.end():
        text = text[prefix.end() :]
        named = prefix["rank"] or prefix["local"] or prefix["label"]
        rank = int(named) if named else rank
    spoken = _SPOKEN_RANK.search(text[:160]) if "ank" in text[:160] else None
    return text, int(spoken[1] or spoken[2]) if spoken else rank


def _pieces(view: mmap.mmap, size: int) -> Iterator[tuple[int, bytes]]:
    """Head, windows around landmarks, tail; each with its first line's number."""
    tail_start = size - TAIL_BYTES
    number, counted = 1, 0
    for start, end in _merged(_spans(view, tail_start), tail_start, size):
        start = view.rfind(b"\n", 0, start) + 1 if start else 0
        if start < counted:
            start = counted
        number += _newlines(view, counted, start)
        yield number, view[start:end]
        number += _newlines(view, start, end)
        counted = end


def _spans(view: mmap.mmap, tail_start: int) -> list[tuple[int, int]]:
    spans = [(0, HEAD_BYTES)]
    for landmark in LANDMARKS:
        first = _hits(view, landmark, HEAD_BYTES, tail_start, WINDOWS // 2)
        spans += [(max(0, hit - WINDOW_BYTES // 4), hit + WINDOW_BYTES) for hit in first]
        spans += [
            (max(0, hit - WINDOW_BYTES // 4), hit + WINDOW_BYTES)
            for hit in _last_hits(view, landmark, HEAD_BYTES, tail_start, WINDOWS // 2)
        ]
    return spans


def _hits(view: mmap.mmap, text: bytes, start: int, end: int, most: int) -> Iterator[int]:
    for _ in range(most):
        hit = view.find(text, start, end)
        if hit < 0:
            return
        yield hit
        start = hit + WINDOW_BYTES


def _last_hits(view: mmap.mmap, text: bytes, start: int, end: int, most: int) -> Iterator[int]:
    for _ in range(most):
        hit = view.rfind(text, start, end)
        if hit < 0:
            return
        yield hit
        end = max(start, hit - WINDOW_BYTES)


def _merged(spans: list[tuple[int, int]], tail_start: int, size: int) -> Iterator[tuple[int, int]]:
    spans = sorted([*((s, min(e, tail_start)) for s, e in spans), (tail_start, size)])
    start, end = spans[0]
    for next_start, next_end in spans[1:]:
        if next_start <= end:
            end = max(end, next_end)
        else:
            yield start, end
            start, end = next_start, next_end
    yield start, end


def _newlines(view: mmap.mmap, start: int, end: int) -> int:
    """Count line ends in blocks, so that memory stays small."""
    total = 0
    for block in range(start, end, 4 * 1024 * 1024):
        total += view[block : min(block + 4 * 1024 * 1024, end)].count(b"\n")
    return total
