"""Clean what a run printed: colours, progress bars and prefixes off, every line with its rank."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from surefit.diagnose.evidence import LogLine
from surefit.diagnose.large_log import Piece, read_pieces
from surefit.home import disk_error, refuse_irregular

LONGEST_LINE = 2_000

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
    r"(?P<name>[^|\r]{0,80}?)\s*(?P<share>\d{1,3})%\|[^|]*\|\s*(?P<done>[\d.]+[kMGTB]?)/(?P<tota"
    r"l>[\d.]+[kMGTB]?)"
    r"\s*(?:\[[^\]]*\])?"
)


def read_log(path: Path, name: str | None = None, rank: int | None = None) -> list[LogLine]:
    """The clean lines of a log; of a large one its beginning, its end and what speaks of errors.

    Args:
        path: the file.
        name: how to call it in evidence; its own name by default.
        rank: the rank whose output it is, where the file's name says so.

    Raises:
        OutsideError: the file may not be read.
    """
    try:
        refuse_irregular(path, open_pipes=True)
        with path.open("rb") as handle:
            pieces = read_pieces(handle)
    except OSError as error:
        raise disk_error(f"cannot read {path}", error, path) from error
    return clean_lines(pieces, name or path.name, rank)


def clean_lines(pieces: list[Piece], name: str, rank: int | None = None) -> list[LogLine]:
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


def _collector_prefix(pieces: list[Piece]) -> re.Pattern[str] | None:
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
