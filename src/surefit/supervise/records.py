"""What the supervisor keeps in the run folder: who watches, and who asked for a stop."""

import time
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from surefit.launch import Job
from surefit.launch.process import ProcessIdentity


class SupervisorRecord(BaseModel):
    """`supervisor.json`: the process that watches a run, and the worker it watches.

    Start times are in clock ticks since the machine's start; with `boot` they name one process and no
    other, also after a restart of the machine.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    pid: int
    start_time: int
    boot: str
    worker_pid: int | None = None
    worker_start_time: int | None = None
    job: Job | None = None
    launched: float | None = Field(
        None, description="When the worker was started, seconds since 1970."
    )
    takeovers: int = Field(0, description="How many supervisors were lost before this one.")

    @property
    def identity(self) -> ProcessIdentity:
        """The supervisor's process."""
        return ProcessIdentity(self.pid, self.start_time, self.boot)

    @property
    def worker(self) -> ProcessIdentity | None:
        """The worker's process, once there is one."""
        job = self.job
        return ProcessIdentity(job.pid, job.start_time, job.boot) if job else None


NO_JOB = {"job": None, "worker_pid": None, "worker_start_time": None, "launched": None}
"""Changes a record to one of a supervisor whose worker has ended and was put aside."""


class StopRequest(BaseModel):
    """`stop.json`: somebody or something wants the run to end."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    who: str = Field(description="A user's name, or the limit that was reached.")
    time: float = Field(default_factory=time.time)
    how: Literal["stop", "limit", "signal"] = "stop"
    reason: str = "somebody asked for it"
    at_once: bool = Field(False, description="Without the time for a checkpoint.")
