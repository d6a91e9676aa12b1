"""What a run leaves besides its events: heartbeats, the exit status, and the result with its evidence."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from surefit.runs.event import PhaseName


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Heartbeat(_Record):
    """The last sign of life of one rank: `heartbeats/rank<N>.json`, replaced as a whole."""

    rank: int
    phase: PhaseName
    step: int
    time: float
    moved: float | None = Field(
        None,
        description="When the work itself last got anywhere; a thread of its own writes `time`.",
    )
    memory_bytes: int | None = None
    waiting: str | None = Field(
        None, description="What the worker waits for, such as room on the disk; null: it works."
    )


class ExitStatus(_Record):
    """How the worker ended, as its parent saw it: `exit.json`. Both null: it still lives, or nobody saw."""

    code: int | None = None
    signal: int | None = None
    oom_kill: int | None = Field(
        None, description="How far the memory cgroup's counter rose; null: not known."
    )
    scheduler: str | None = None
    time: float | None = None


class FileHash(_Record):
    """A file of the result."""

    path: str = Field(description="Relative to the run folder.")
    size_bytes: int
    sha256: str


class Verification(_Record):
    """The saved model, loaded again by plain libraries and compared with the one in memory."""

    loaded_with: str
    rows: int
    max_difference: float = Field(description="Largest absolute difference of a logit.")
    tolerance: float
    change_from_base: float = Field(
        description="Largest absolute difference of a logit to the base model's."
    )


class Result(_Record):
    """The evidence of success: `result.json`, written last."""

    kind: Literal["adapter", "model"]
    folder: str = Field(description="Relative to the run folder.")
    base_model: str
    files: tuple[FileHash, ...]
    verification: Verification
    steps: int
    epochs: float
    first_loss: float
    final_loss: float
    eval_loss: float | None
    tokens: int
    trained_tokens: int
    seconds: float
    peak_memory_bytes: int | None


class Effective(_Record):
    """What the worker's live objects are, beside what the plan says: `effective.json`."""

    declared: dict[str, Any]
    effective: dict[str, Any]
    differences: tuple[str, ...] = Field(
        description="Fields that differ; any of them fails the run."
    )


class RehearsalCheck(_Record):
    """One proof of the rehearsal."""

    name: str
    passed: bool
    measured: float | None = Field(description="The figure that decides.")
    limit: float | None = Field(
        description="What it may be at most; null: it only has to be there."
    )
    text: str = Field(description="The check in words, with its figures.")
    seconds: float


class Rehearsal(_Record):
    """The run's life in small, on the real device: `rehearsal.json`."""

    checks: tuple[RehearsalCheck, ...]
    peak_bytes: int = Field(description="Measured in the worst step.")
    planned_bytes: int = Field(description="The plan's `peak_bytes`.")
    worst_tokens: int = Field(description="Tokens of the worst micro-batch, padding counted.")
    worst_step_seconds: float = Field(description="Forward and backward of the worst micro-batch.")
    seconds: float
