"""What a launcher is: five calls and declared features, asked before a run instead of found out after."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field

from surefit.plan.plan import TrainingPlan
from surefit.runs import ExitStatus, RunFolder


@dataclass(frozen=True)
class Features:
    """What a launcher can do."""

    several_nodes: bool
    time_limit: bool  # ends a run by itself when a limit is reached
    retries: bool  # starts a run again by itself
    live_logs: bool  # logs can be read while the run lives
    durable_output: bool  # the run folder outlives the machine that trains


class Job(BaseModel):
    """A worker that was started: enough to find exactly this one again, and no other."""

    model_config = ConfigDict(frozen=True)

    launcher: str
    pid: int = Field(
        description="Process id of the worker, or of what stands for it on this machine."
    )
    start_time: int = Field(description="Its start in clock ticks since the machine's start.")
    boot: str = Field(description="Which start of the machine that was.")
    details: dict[str, str] = Field(default_factory=dict, description="The launcher's own memory.")


@dataclass(frozen=True)
class JobStatus:
    """What a job does now."""

    alive: bool
    exit: ExitStatus | None = None  # how it ended, where its end was seen


@dataclass(frozen=True)
class Order:
    """What is to be started. `command` replaces the worker in tests; descriptors stay open in it."""

    run: RunFolder
    training: TrainingPlan
    command: tuple[str, ...] | None = None
    keep_open: tuple[int, ...] = field(default=())


class Launcher(Protocol):
    """Starts workers somewhere. A launcher keeps nothing in memory that a `Job` does not hold."""

    name: str
    features: Features

    def submit(self, order: Order) -> Job:
        """Start a worker on a run folder.

        Raises:
            OutsideError: it could not be started.
        """
        ...

    def status(self, job: Job) -> JobStatus:
        """What the job does now."""
        ...

    def logs(self, run: RunFolder, job: Job | None) -> "LogSource":
        """Everything the worker prints from now on, raw: the caller redacts it."""
        ...

    def cancel(self, run: RunFolder, job: Job, *, firm: bool) -> None:
        """Ask the whole job to end (gentle), or end it at once with everything it started (firm)."""
        ...

    def collect(self, run: RunFolder, job: Job) -> ExitStatus:
        """Bring home what an ended job left, end what it left running, and say how it ended."""
        ...


class LogSource(Protocol):
    """A stream of log bytes."""

    def read(self) -> bytes:
        """What there is now, at most 1 MiB; empty where nothing waits."""
        ...

    def descriptors(self) -> Sequence[int]:
        """File descriptors that become readable when there is more to read or the job ended."""
        ...

    def close(self) -> None:
        """Let the stream go."""
        ...
