"""Find the exceptions in a log: per rank, with their chains, whole or with the beginning cut off."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from surefit.diagnose.evidence import Failure, Frame, LogLine, Raised

HEAD = "Traceback (most recent call last):"
MESSAGE_LINES = 60
_FRAME = re.compile(r'^\s+File "(?P<path>[^"]+)", line (?P<line>\d+)(?:, in (?P<function>\S+))?')
# rich draws its tracebacks in a box, with the exception below it
_BOX_HEAD = re.compile(r"^[╭+┌].*Traceback \(most recent call last\)")
_BOX_FRAME = re.compile(r"^[│|] +(?P<path>\S+\.py):(?P<line>\d+) in (?P<function>\S+)")
_BOX_EDGES = frozenset("│╰╭|└┌+")
_EXCEPTION = re.compile(r"^(?P<kind>[A-Za-z_][\w.]*)(?::\s?(?P<message>.*)|\s*)$")
# Outside a traceback only what is named as an error counts as one.
_STRICT = re.compile(
    r"^(?P<kind>(?:[A-Za-z_]\w*\.)*_?[A-Z]\w*(?:Error|Exception|Interrupt|Exit|Iteration|"
    r"Failure|NotFound))"
    r"(?::\s(?P<message>.*)|:?)$"
)
_NAMES_ONE = re.compile(r"Error|Exception|Interrupt|Exit|Iteration|Failure|NotFound")
_LOGGED = re.compile(
    r"(?:\bERROR\b|\bCRITICAL\b|\bFATAL\b|[Ee]rror:).*?\s"
    r"(?P<kind>(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)): (?P<message>.*)$"
)
_LINKS = (
    "During handling of the above exception, another exception occurred:",
    "The above exception was the direct cause of the following exception:",
)
_HARMLESS = re.compile(r"Exception ignored in|Exception in thread|Logging error|Error in atexit")
# What a program prints next, and what therefore ends the text of an exception.
_OTHER_TEXT = re.compile(
    r"^(?:\d{4}-\d\d-\d\d|\[?[IWEF]\d{3,4} |\+ |srun:|slurmstepd:|={10,}|-{10,}|\[\w+\] |wandb:|"
    r"\{')"
    r"|(?<!\d)\d{1,3}%\|"
)


@dataclass
class _Reader:
    """The state of reading one stream: the output of one rank in one file."""

    rank: int | None
    failures: list[Failure] = field(default_factory=list)
    chain: list[Raised] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    kind: str | None = None
    message: list[str] = field(default_factory=list)
    lines: list[LogLine] = field(default_factory=list)
    inside: bool = False
    linked: bool = False
    harmless: bool = False
    loose: bool = False
    strange: int = 0
    before: str = ""

    def read(self, line: LogLine) -> None:
        text = line.text
        if text.endswith(HEAD) or _BOX_HEAD.search(text):
            self._begin(text)
        elif self.inside and (box := _BOX_FRAME.match(text)):
            self.frames.append(
                Frame(box["path"], int(box["line"]), box["function"], log_line=line.number)
            )
        elif self.inside and text[:1] in _BOX_EDGES:
            return
        elif frame := _FRAME.match(text):
            if not self.inside:
                self._begin(text)
            self.frames.append(
                Frame(
                    frame["path"],
                    int(frame["line"]),
                    frame["function"] or "?",
                    log_line=line.number,
                )
            )
        elif text.strip() in _LINKS:
            self._finish_exception()
            self.linked = True
        elif self.inside:
            self._inside(line)
        elif self.kind is not None:
            self._after(line)
        else:
            self._outside(line)
        self.before = text

    def _begin(self, text: str) -> None:
        linked = self.linked or text.startswith("Original ") or self._is_remote()
        self._finish_exception()
        if not linked:
            self._finish_chain()
        self.linked, self.inside, self.loose, self.strange = False, True, False, 0
        self.harmless = bool(_HARMLESS.search(self.before) or _HARMLESS.search(text))

    def _is_remote(self) -> bool:
        """A pool's worker quotes its own traceback before the parent's: one story."""
        return (self.kind or "").endswith("RemoteTraceback")

    def _inside(self, line: LogLine) -> None:
        if line.text[:1].isspace():
            self._source(line.text)
            return
        match = _EXCEPTION.match(line.text)
        if match is None or not _is_exception_name(match["kind"]):
            self.strange += 1  # another process prints in between
            self.inside = self.strange < 6
            return
        self._raise(line, match)

    def _source(self, text: str) -> None:
        """The line of code below a call; the marks below it are not code."""
        if self.frames and not self.frames[-1].source and text.strip(" ^~"):
            self.frames[-1] = replace(self.frames[-1], source=text.strip())

    def _raise(self, line: LogLine, match: re.Match[str]) -> None:
        self.inside, self.kind = False, match["kind"]
        self.message, self.lines = [match["message"] or ""], [line]

    def _after(self, line: LogLine) -> None:
        """More of the exception's own text, or the end of it."""
        quoted = self.message[-1].endswith(":")  # ...raised: and the other exception below it
        strict = None if quoted else _STRICT.match(line.text)
        far = line.number - self.lines[-1].number > 12
        if _OTHER_TEXT.search(line.text) or strict or far or len(self.lines) >= MESSAGE_LINES:
            self._finish_exception()
            self._outside(line)
        else:
            self.message.append(line.text)
            self.lines.append(line)

    def _outside(self, line: LogLine) -> None:
        if not _NAMES_ONE.search(line.text):
            return
        match = _STRICT.match(line.text)
        if match is None:
            match = _LOGGED.search(line.text)
            if match is None or (self.chain and match["message"] in self.chain[-1].message):
                return
            self._finish_chain()
            self.loose = True
        elif not self.before[:1].isspace():
            self._finish_chain()
            self.loose = True
        self._raise(line, match)

    def _finish_exception(self) -> None:
        if self.kind is not None:
            message = "\n".join(self.message).strip()
            self.chain.append(Raised(self.kind, message, tuple(self.frames), tuple(self.lines)))
        self.kind, self.message, self.lines, self.frames = None, [], [], []

    def _finish_chain(self) -> None:
        if self.chain:
            self.failures.append(
                Failure(tuple(self.chain), self.rank, handled=self.harmless, loose=self.loose)
            )
        self.chain, self.harmless, self.loose = [], False, False

    def finish(self) -> list[Failure]:
        self._finish_exception()
        self._finish_chain()
        return self.failures


def _is_exception_name(kind: str) -> bool:
    return kind.rsplit(".", 1)[-1].lstrip("_")[:1].isupper() or kind.endswith(
        ("error", "timeout", "gaierror")
    )


def find_failures(lines: Iterable[LogLine]) -> list[Failure]:
    """The exceptions of a log in the order of their last lines, each rank's read for itself."""
    readers: dict[tuple[str, int | None], _Reader] = {}
    for line in lines:
        key = (line.file, line.rank)
        readers.setdefault(key, _Reader(line.rank)).read(line)
    found = [failure for reader in readers.values() for failure in reader.finish()]
    return sorted(found, key=lambda failure: failure.position)


def parse_traceback(text: str, file: str, rank: int | None) -> Failure | None:
    """The exception in a traceback that is one text, such as an error file's `py_callstack`."""
    lines = [
        LogLine(file, number, part.rstrip(), rank, number)
        for number, part in enumerate(text.split("\n"), start=1)
        if part.strip()
    ]
    found = find_failures(lines)
    return found[-1] if found else None


def mark_handled(
    failures: Iterable[Failure], work: dict[tuple[str, int | None], int]
) -> Iterator[Failure]:
    """Mark the failures after which the same rank went on working.

    Args:
        failures: what was raised.
        work: the position of the last sign of work by file and rank, see `last_work`.
    """
    for failure in failures:
        stream = failure.last.lines[0].file if failure.last.lines else "", failure.rank
        went_on = work.get(stream, -1) > failure.position
        yield replace(failure, handled=failure.handled or went_on)
