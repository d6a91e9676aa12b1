"""The lines that a diagnosis shows: what it found, the exit status, what the run was working on."""

import re
from collections.abc import Iterable, Iterator

from surefit.diagnose.diagnosis import EvidenceLine
from surefit.diagnose.evidence import Evidence, Failure, Frame, LogLine, Raised

MOST_LINES = 24
MOST_MESSAGE_LINES = 16
MOST_OF_CHAIN = 4
MOST_RANKS = 8
_FOREIGN = re.compile(r"(site|dist)-packages|/lib/python3|<frozen|/torch/|<string>|/bin/[\w-]+$")


def shown_lines(
    evidence: Evidence, lines: Iterable[LogLine], rank: int | None
) -> list[EvidenceLine]:
    """The lines of a diagnosis: its own, what the run worked on, its end, its last signs of life."""
    own = [_quoted(line) for line in lines]
    rest = [*_subject(evidence, own), *_status(evidence), *_beats(evidence, rank)]
    return [*list(dict.fromkeys(own))[: MOST_LINES - len(rest)], *rest]


def exception_lines(failure: Failure, raised: Raised) -> tuple[LogLine, ...]:
    """An exception of a chain in full, the first lines of the others, and the user's own code."""
    others = [one for one in reversed(failure.chain) if one is not raised and one.lines]
    told = [one.lines[0] for one in others[:MOST_OF_CHAIN]]
    return (*raised.lines[:MOST_MESSAGE_LINES], *told, *own_code(failure))


def own_frame(failure: Failure) -> Frame | None:
    """The innermost call in the user's own code."""
    for raised in reversed(failure.chain):
        for frame in reversed(raised.frames):
            if not _FOREIGN.search(frame.path):
                return frame
    return None


def own_code(failure: Failure) -> tuple[LogLine, ...]:
    """The innermost call in the user's own code, as a line of evidence."""
    frame = own_frame(failure)
    if frame is None:
        return ()
    text = f'File "{frame.path}", line {frame.line}, in {frame.function}: {frame.source}'
    file = failure.last.lines[0].file if failure.last.lines else "log"
    return (LogLine(file, frame.log_line, text.rstrip(": ")),)


def _quoted(line: LogLine) -> EvidenceLine:
    return EvidenceLine(file=line.file, line=line.number, text=line.text.strip())


def _subject(evidence: Evidence, told: list[EvidenceLine]) -> Iterator[EvidenceLine]:
    """Where the log first names the model, the data and the output, unless that was told."""
    for name in (evidence.plan.model, evidence.plan.data, evidence.plan.output):
        if name is None or any(name in one.text for one in told):
            continue
        line = next((line for line in evidence.lines if name in line.text), None)
        if line is not None:
            yield _quoted(line)


def _status(evidence: Evidence) -> Iterator[EvidenceLine]:
    end = evidence.exit
    if end.known:
        word = f", scheduler: {end.scheduler}" if end.scheduler else ""
        memory = "" if end.oom_kill is None else f", oom_kill counter rose by {end.oom_kill}"
        yield EvidenceLine(file="exit.json", line=None, text=end.text + memory + word)


def _beats(evidence: Evidence, rank: int | None) -> Iterator[EvidenceLine]:
    few = len(evidence.heartbeats) <= MOST_RANKS // 2
    for beat in evidence.heartbeats[:MOST_RANKS]:
        if rank is None or beat.rank == rank or few:
            text = (
                f"rank {beat.rank}: phase {beat.phase}, step {beat.step}, "
                f"last sign of life {beat.seconds_ago:.0f} s before"
            )
            yield EvidenceLine(file="heartbeats.json", line=None, text=text)
