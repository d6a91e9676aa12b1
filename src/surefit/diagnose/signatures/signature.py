"""What a signature is: one known failure, with the words for it.

A signature's docstring is its page in the documentation. Most signatures only declare patterns and
words (`TextSignature`); the others read the evidence in `match`. See `killed.py` for a signature
that reads, `lora_targets.py` for one that declares.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar, get_args

from surefit.diagnose.diagnosis import Diagnosis, Repair
from surefit.diagnose.evidence import Evidence, Failure, LogLine, compiled
from surefit.diagnose.phases import find_phase, find_step
from surefit.diagnose.signatures.showing import exception_lines, shown_lines
from surefit.runs.event import PhaseName
from surefit.units import shortened

LONGEST_LOG_LINE = 600  # characters of a line that is no exception's
LOOKS_LIKE_AN_ERROR = re.compile(
    r"error|fatal|fail|cannot|can't|couldn't|could not|unable|denied|exceeded|not found|no space"
    r"|refused|invalid|aborted|no such|not permitted|read-only|too many|terminate called|what\(\):",
    re.IGNORECASE,
)
_TRAINER_PHASES = frozenset(get_args(PhaseName))


@dataclass(frozen=True)
class Found:
    """What a pattern found: its named groups, and the lines that show it."""

    evidence: Evidence
    groups: dict[str, str] = field(default_factory=dict)
    lines: tuple[LogLine, ...] = ()
    failure: Failure | None = None

    @property
    def text(self) -> str:
        """The failure's whole chain, or the line that matched."""
        return self.failure.text if self.failure else self.lines[0].text


class Signature:
    """One known failure. `match` gives its diagnosis, or None where the evidence does not show it."""

    code: ClassVar[str]
    failure_class: ClassVar[str]
    title: ClassVar[str]
    retryable: ClassVar[bool] = False

    def match(self, evidence: Evidence) -> Diagnosis | None:
        """The diagnosis, or None."""
        raise NotImplementedError

    def answer(
        self,
        evidence: Evidence,
        *,
        what: str,
        why: str,
        next_step: str,
        lines: Iterable[LogLine] = (),
        rank: int | None = None,
        phase: str | None = None,
        retryable: bool | None = None,
        repair: tuple[Repair, ...] = (),
    ) -> Diagnosis:
        """A diagnosis with phase, step, rank and evidence filled in."""
        root = evidence.root
        rank = root.rank if rank is None else rank
        found = phase or find_phase(evidence, root.failure, rank)
        return Diagnosis(
            failure_class=self.failure_class,
            code=self.code,
            what=one_line(what),
            why=one_line(why),
            next_step=one_line(next_step),
            phase=found if found in _TRAINER_PHASES else "unknown",
            step=find_step(evidence, rank),
            root_rank=rank,
            retryable=self.retryable if retryable is None else retryable,
            evidence=tuple(shown_lines(evidence, lines, rank)),
            repair=repair if evidence.plan.run_id else (),
        )


class TextSignature(Signature):
    """A failure that is known by what the libraries print.

    The patterns are searched in the exceptions of the process that failed first and, where nothing
    was raised, in the last lines of the log. Named groups fill the words; `defaults` stand in for
    groups that another wording lacks. `{model}`, `{data}`, `{output}`, `{again}`, `{place}`,
    `{step}`, `{exit}` and `{text}` (what was printed) are always there.
    """

    patterns: ClassVar[tuple[str, ...]]
    last_only: ClassVar[bool] = False  # search the uncaught exception only, not what led to it
    log_patterns: ClassVar[tuple[str, ...] | None] = None  # without an exception; None: the same
    plain_lines: ClassVar[bool] = False  # such a line need not look like an error
    what: ClassVar[str]
    why: ClassVar[str]
    next_step: ClassVar[str]
    defaults: ClassVar[dict[str, str]] = {}
    context: ClassVar[tuple[str, ...]] = ()  # further lines worth showing

    def match(self, evidence: Evidence) -> Diagnosis | None:
        """The diagnosis when a pattern matches and `accepts` agrees."""
        found = self.find(evidence)
        if found is None:
            return None
        words = self.words(found)
        extra = [line for pattern in self.context if (line := evidence.find(pattern)) is not None]
        return self.answer(
            evidence,
            what=self.what.format_map(words),
            why=self.why.format_map(words),
            next_step=self.next_step.format_map(words),
            lines=(*found.lines, *extra),
            phase=self.phase_of(found),
            repair=self.repairs(found),
        )

    def find(self, evidence: Evidence) -> Found | None:
        """Where the first pattern stands that matches and is accepted."""
        failure, end = evidence.root.failure, evidence.exit
        if failure is not None:
            looks = (find_in_failure(evidence, p, failure, self.last_only) for p in self.patterns)
        elif evidence.verified or not (end.failed or not end.known):
            return None
        else:
            lines = [
                line
                for line in evidence.speaking
                if self.plain_lines or LOOKS_LIKE_AN_ERROR.search(line.text)
            ]
            wanted = self.patterns if self.log_patterns is None else self.log_patterns
            looks = (find_in_lines(evidence, pattern, lines) for pattern in wanted)
        return next((found for found in looks if found and self.accepts(found)), None)

    def accepts(self, found: Found) -> bool:
        """Whether the rest of the evidence agrees. Most texts are unmistakable."""
        return True

    def phase_of(self, found: Found) -> str | None:
        """The phase where the failure itself tells it, None where the evidence has to."""
        return None

    def words(self, found: Found) -> dict[str, str]:
        """The values that the words may name; `text` is the first line of what was printed."""
        given = {name: value for name, value in found.groups.items() if value}
        text = found.failure.last.text if found.failure else found.lines[0].text
        spoken = {"text": shortened(first_line(text), 300).rstrip(". ")}
        return {**common_words(found.evidence), **spoken, **self.defaults, **given}

    def repairs(self, found: Found) -> tuple[Repair, ...]:
        """Changes of the recipe that get past it."""
        return ()


def find_in_failure(
    evidence: Evidence, pattern: str, failure: Failure, last_only: bool = False
) -> Found | None:
    """A pattern in the exceptions of a failure, the uncaught one first."""
    chain = (failure.last,) if last_only else tuple(reversed(failure.chain))
    for raised in chain:
        match = compiled(pattern).search(raised.text)
        if match:
            lines = exception_lines(failure, raised)
            return Found(evidence, _groups(match), lines, failure)
    return None


def find_in_lines(evidence: Evidence, pattern: str, lines: Iterable[LogLine]) -> Found | None:
    """A pattern in lines of a log, the first line that has it."""
    for line in lines:
        match = compiled(pattern).search(line.text[:LONGEST_LOG_LINE])
        if match:
            return Found(evidence, _groups(match), (line,))
    return None


def first_line(text: str) -> str:
    """The first line that says something, without pictures."""
    lines = (re.sub(r"[^\x00-\u2bff]", "", line).strip() for line in text.splitlines())
    lines = (line for line in lines if len(line.strip(" :")) > 1)
    first = next(lines, text)
    return f"{first} {next(lines, '')}".strip() if first.endswith(":") else first


def _groups(match: re.Match[str]) -> dict[str, str]:
    return {
        name: re.sub(r"\s+", " ", value).strip()
        for name, value in match.groupdict().items()
        if value
    }


def common_words(evidence: Evidence) -> dict[str, str]:
    """Words that every signature may use."""
    plan, root = evidence.plan, evidence.root
    step = find_step(evidence, root.rank)
    place = f" on rank {root.rank}" if root.rank is not None else ""
    return {
        "model": plan.model or "the model",
        "data": plan.data or "the training data",
        "output": plan.output or "the output folder",
        "again": again(evidence),
        "place": place,
        "step": f" at step {step}" if step else "",
        "exit": evidence.exit.text,
    }


def again(evidence: Evidence) -> str:
    """How to start the run once more: from its checkpoint, where there is one."""
    plan = evidence.plan
    kept = any(path.endswith("/manifest.json") for path in evidence.files or ())
    if plan.run_id and kept:
        return f"go on with `surefit resume {plan.run_id}`"
    if plan.run_id:
        return f"start it again: `surefit train {plan.output}/recipe.json`"
    return "start the same command again"


def one_line(text: str) -> str:
    """A text on one line, without the full stop that a heading does not have."""
    return re.sub(r"\s+", " ", text).strip()
