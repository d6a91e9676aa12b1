"""Events: what a run says while it happens, one JSON object a line of `events.jsonl`.

Lines are only appended, each by one write, so that a reader can follow the file while two processes
(worker and supervisor) add to it. The number of a line is its id.
"""

import math
import time
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, field_validator

from surefit.runs.state import RunState

PhaseName = Literal[
    "download",
    "import",
    "load_tokenizer",
    "load_model",
    "prepare_data",
    "rehearsal",
    "first_step",
    "train",
    "eval",
    "save",
    "merge",
    "push",
    "verify",
]


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    time: float = Field(default_factory=time.time, description="Seconds since 1970.")


class Status(_Line):
    """The run moved to another state."""

    kind: Literal["status"] = "status"
    state: RunState
    cause: str | None = None


class Phase(_Line):
    """Work inside a state began, went on or ended."""

    kind: Literal["phase"] = "phase"
    name: PhaseName
    status: Literal["started", "progress", "ended"]
    done: float | None = None
    total: float | None = None
    unit: str | None = None
    seconds: float | None = Field(None, description="Length of the phase; only when it ended.")
    peak_bytes: int | None = Field(
        None, description="Peak memory of the worker in the phase; only when it ended."
    )


class Metric(_Line):
    """Figures after an optimizer step or an evaluation. A value that is not finite is kept as null."""

    kind: Literal["metric"] = "metric"
    split: Literal["train", "eval"] = "train"
    step: int
    steps: int
    epoch: float
    loss: float | None = Field(description="Mean over the trained tokens, in nats.")
    learning_rate: float | None = None
    gradient_norm: float | None = None
    tokens: int | None = Field(None, description="Real tokens so far, padding not counted.")
    trained_tokens: int | None = Field(None, description="Tokens with loss so far.")
    tokens_per_second: float | None = None
    memory_bytes: int | None = Field(
        None, description="Memory of the worker now: device, else resident."
    )

    @field_validator("loss", "learning_rate", "gradient_norm", "tokens_per_second")
    @classmethod
    def _finite_or_null(cls, value: float | None) -> float | None:
        return value if value is None or math.isfinite(value) else None


class Checkpoint(_Line):
    """A checkpoint is complete on the disk; its manifest was written last."""

    kind: Literal["checkpoint"] = "checkpoint"
    step: int
    folder: str = Field(description="Relative to the run folder.")
    size_bytes: int


class Problem(_Line):
    """Something went wrong, in words."""

    kind: Literal["problem"] = "problem"
    what: str
    why: str
    next: str
    exit_code: int | None = None
    details: dict[str, Any] = Field(default_factory=dict)


class Note(_Line):
    """Something that a person should know and that is no problem."""

    kind: Literal["note"] = "note"
    topic: str
    text: str
    details: dict[str, Any] = Field(default_factory=dict)


Event = Annotated[
    Status | Phase | Metric | Checkpoint | Problem | Note, Field(discriminator="kind")
]
EVENT: TypeAdapter[Status | Phase | Metric | Checkpoint | Problem | Note] = TypeAdapter(Event)
