"""Evidence: everything a run left behind, read once and told apart. Judges nothing.

exit        how the parent saw it end: code, signal, memory counter, the scheduler's word
lines       what it printed, cleaned, with file, line number and rank
failures    the exceptions in it, one entry a chain, with frames and rank
rank_exits  how a launcher such as torchrun saw each of its processes end
heartbeats  the last sign of life of each rank
metrics     the figures it logged: loss, gradient norm, learning rate
files       what was on the disk afterwards
problem     what surefit's own worker said in words
"""

import math
import re
import signal as signals
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property

from surefit.runs.event import Problem

LONGEST_TEXT = 4_000  # characters of an exception that are searched
CLOSING_LINES = 60  # how many of the last lines can speak of the end
_WARNING = re.compile(
    r"\b(?:WARN(?:ING)?|[Ww]arning|\w+Warning|INFO|DEBUG|NOTICE|[Rr]etry(?:ing)?|[Nn]otice:|"
    r"[Hh]int:)\b"
    r"|^Failed to load .* from kernels-community|^\[notice\]|ignored\b|falling back|previous (?:run|attempt)|^wandb:"
)
WEIGHTS = re.compile(
    r"(^|/)(adapter_model|model|pytorch_model|consolidated)[^/]*\.(safetensors|bin|pt|pth)$|\.gguf$"
)


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern, compiled once: there are more of them than `re` itself remembers."""
    return re.compile(pattern, re.MULTILINE)


@dataclass(frozen=True, slots=True)
class LogLine:
    """A printed line: colour codes and rank prefixes are off, the indentation stays."""

    file: str
    number: int
    text: str
    rank: int | None = None
    position: int = 0  # its place in its file; several progress bars share one number


@dataclass(frozen=True, slots=True)
class Frame:
    """A call in a traceback."""

    path: str
    line: int
    function: str
    source: str = ""
    log_line: int = 0  # where the log shows it


@dataclass(frozen=True)
class Raised:
    """One exception as it was printed."""

    kind: str
    message: str
    frames: tuple[Frame, ...]
    lines: tuple[LogLine, ...]

    @cached_property
    def text(self) -> str:
        """The exception line and what follows it, as printed; the end of a very long one is cut."""
        text = f"{self.kind}: {self.message}" if self.message else self.kind
        return text[:LONGEST_TEXT]


@dataclass(frozen=True)
class Failure:
    """A chain of exceptions: the first cause first, the one that ended it last."""

    chain: tuple[Raised, ...]
    rank: int | None = None
    time: float | None = None  # seconds since 1970, where an error file tells
    handled: bool = False  # the run went on afterwards
    loose: bool = False  # printed without a traceback

    @property
    def last(self) -> Raised:
        """The exception that nobody caught."""
        return self.chain[-1]

    @cached_property
    def text(self) -> str:
        """The whole chain, the last exception first: it is the most specific."""
        return "\n".join(raised.text for raised in reversed(self.chain))

    @cached_property
    def frames(self) -> tuple[Frame, ...]:
        """The calls of the whole chain, the last exception's first."""
        return tuple(frame for raised in reversed(self.chain) for frame in raised.frames)

    @property
    def position(self) -> int:
        """Where its last line stands in its file; 0 for an error file."""
        lines = self.last.lines
        return lines[0].position if lines else 0

    def mentions(self, pattern: str) -> bool:
        """Whether any call's path, function or source file matches."""
        wanted = compiled(pattern)
        return any(wanted.search(f"{frame.path}:{frame.function}") for frame in self.frames)


@dataclass(frozen=True)
class Exit:
    """How the run ended, in one form for -9, 137, `0:9` and SIGKILL."""

    code: int | None = None
    signal: int | None = None
    oom_kill: int | None = None
    scheduler: str | None = None
    known: bool = False

    @property
    def alive(self) -> bool:
        """Whether somebody looked and the process still lived."""
        return self.known and self.code is None and self.signal is None

    @property
    def failed(self) -> bool:
        """Whether it ended otherwise than with code 0."""
        return self.signal is not None or self.code not in (0, None)

    @property
    def text(self) -> str:
        """The status in words: ``exit code 137 (signal 9, SIGKILL)``."""
        if self.signal is not None:
            name = f"signal {self.signal} ({signal_name(self.signal)})"
            return name if self.code is None else f"exit code {self.code}, {name}"
        if self.code is not None:
            return f"exit code {self.code}"
        return "the process still lives" if self.known else "exit status not known"


@dataclass(frozen=True)
class RankExit:
    """How a launcher saw one of its processes end."""

    rank: int | None
    code: int | None
    signal: int | None
    first: bool = False  # the launcher calls it the root cause
    line: LogLine | None = None


@dataclass(frozen=True)
class Beat:
    """The last sign of life of a rank."""

    rank: int
    phase: str
    step: int
    seconds_ago: float


@dataclass(frozen=True)
class MetricLine:
    """Figures of one log line; a value that is absent is None, one that is not finite stays so."""

    loss: float | None
    gradient_norm: float | None
    learning_rate: float | None
    line: LogLine

    @property
    def is_finite(self) -> bool:
        """Whether loss and gradient norm, where given, are numbers."""
        return all(
            math.isfinite(value) for value in (self.loss, self.gradient_norm) if value is not None
        )


@dataclass(frozen=True)
class Plan:
    """What a run was to do, as far as it is known: from plan.json, or from what was logged."""

    run_id: str | None = None
    micro_batch: int | None = None
    accumulation: int | None = None
    max_length: int | None = None
    learning_rate: float | None = None
    model: str | None = None
    data: str | None = None
    output: str | None = None


@dataclass(frozen=True)
class Evidence:
    """Everything a run left behind. See the module's text."""

    exit: Exit = field(default_factory=Exit)
    lines: tuple[LogLine, ...] = ()
    failures: tuple[Failure, ...] = ()
    rank_exits: tuple[RankExit, ...] = ()
    heartbeats: tuple[Beat, ...] = ()
    metrics: tuple[MetricLine, ...] = ()
    files: dict[str, int] | None = None
    problem: Problem | None = None
    plan: Plan = field(default_factory=Plan)
    stop_requested: bool = False
    verified: bool = False  # surefit's own result.json, complete
    missing: str | None = None  # what its result lacks, in words
    activity: dict[str, int] = field(default_factory=dict)  # by file, the last line of work

    @cached_property
    def root(self) -> "Root":
        """The failure that came first, told from its victims."""
        from surefit.diagnose.root import find_root

        return find_root(self)

    @cached_property
    def closing(self) -> tuple[LogLine, ...]:
        """The last lines, after the last sign of work: only these can speak of the end."""
        after = [line for line in self.lines if line.position > self.activity.get(line.file, -1)]
        return tuple(after[-CLOSING_LINES:])

    @cached_property
    def speaking(self) -> tuple[LogLine, ...]:
        """The closing lines that are no warnings: where nothing was raised, one may name the cause."""
        return tuple(line for line in self.closing if not _WARNING.search(line.text))

    def find(self, pattern: str, lines: Iterable[LogLine] | None = None) -> LogLine | None:
        """The last line that matches, among all lines unless told otherwise."""
        wanted = compiled(pattern)
        for line in reversed(tuple(self.lines if lines is None else lines)):
            if wanted.search(line.text):
                return line
        return None

    def find_all(self, pattern: str) -> Iterator[tuple[LogLine, re.Match[str]]]:
        """Every line that matches, with its match."""
        wanted = compiled(pattern)
        for line in self.lines:
            match = wanted.search(line.text)
            if match:
                yield line, match

    @cached_property
    def weights(self) -> dict[str, int]:
        """The weight files with content among the files left behind."""
        return {
            path: size for path, size in (self.files or {}).items() if WEIGHTS.search(path) and size
        }

    def beat(self, rank: int | None) -> Beat | None:
        """The last sign of life of a rank, or of the only one."""
        chosen = [beat for beat in self.heartbeats if rank is None or beat.rank == rank]
        return chosen[0] if chosen else None


@dataclass(frozen=True)
class Root:
    """The first failure: an exception, a death by signal, both, or neither."""

    rank: int | None = None
    failure: Failure | None = None
    signal: int | None = None
    signal_line: LogLine | None = None


def signal_name(number: int) -> str:
    """``SIGKILL`` for 9; the number itself where the system has no name for it."""
    try:
        return signals.Signals(number).name
    except ValueError:
        return f"signal {number}"


def normal_exit(code: object, signal: object) -> tuple[int | None, int | None]:
    """One form for Python's -9, the shell's 137 and Slurm's ``0:9``: (code, signal)."""
    if isinstance(code, str) and ":" in code:
        code, signal = code.split(":", 1)
    number, died_by = _whole(code), _whole(signal) or None
    if died_by is None and number is not None:
        if number < 0:
            return None, -number
        if 128 < number <= 192:
            return number, number - 128
    return number, died_by


def _whole(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    try:
        return int(value) if isinstance(value, int | float | str) else None
    except ValueError:
        return None
