"""Every way a worker can end, as words and as an exit code."""

import contextlib
import errno
import json
import re
import resource
import shutil
import sys
import time
import traceback
import types
from pathlib import Path

import psutil

from surefit.errors import OutsideError, SurefitError, WorkerExit
from surefit.home import DISK_FULL_ERRNOS, write_atomically
from surefit.runs.event import Problem
from surefit.train.journal import Journal
from surefit.train.stop import StopRequested

_FULL_DISK_BYTES = 2**24
_NEAR_LIMIT = 0.95
# Another rank went away, or did not come in time: what gloo, NCCL and the store say then.
_PEER_GONE = re.compile(
    r"Connection (?:closed|reset) by|gloo/transport|ncclRemoteError|ncclCommAbort|recvValue failed"
    r"|failed to recv|Broken pipe|Socket (?:closed|is closed)|[Tt]imed out (?:waiting|after)"
    r"|wait timeout|Process group has been aborted|communicator was aborted|Application timeout"
)


class NumericFailure(SurefitError):
    """Numbers went wrong: a loss or gradient that is not finite, a model that learned nothing."""

    worker_exit = WorkerExit.NUMERIC


class ConfigurationDiffers(SurefitError):
    """What runs is not what the plan says."""

    worker_exit = WorkerExit.CONFIGURATION


class WorkerEnd:
    """Around the whole run: turns whatever ends it into a Problem, a text and an exit code."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.code = WorkerExit.DONE

    def __enter__(self) -> "WorkerEnd":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: types.TracebackType | None,
    ) -> bool:
        if error is not None:
            self.code = self._report(error)
        self.journal.close()
        return True

    def _report(self, error: BaseException) -> WorkerExit:
        if isinstance(error, StopRequested):
            self._note_stop(error)
            return WorkerExit.TEMPORARY
        victim = self.journal.place.is_rank and lost_a_peer(error)
        known = in_words(error, self.journal.phases[-1], self.journal.run.path)
        if victim:
            known = _peer_lost(error, self.journal)
        if known is not error or known.worker_exit is WorkerExit.BUG:
            traceback.print_exception(error)
        sys.stderr.write(known.as_text() + "\n")
        problem = Problem(
            what=known.what,
            why=known.why,
            next=known.next_step,
            exit_code=known.worker_exit,
            details=known.details,
        )
        if self.journal.place.is_rank:
            self._leave_word(problem, error, victim)
            return known.worker_exit
        try:
            self.journal.add(problem)
        except OutsideError as full:
            sys.stderr.write(full.as_text() + "\n")
        return known.worker_exit

    def _leave_word(self, problem: Problem, error: BaseException, victim: bool) -> None:
        """Write what ended this rank; its parent finds out which came first, and tells of that one."""
        rank = self.journal.place.rank
        problem = problem.model_copy(update={"details": {**problem.details, "rank": rank}})
        word = {
            "rank": rank,
            "time": time.time(),
            "victim": victim,
            "phase": self.journal.phases[-1],
            "step": self.journal.step,
            "problem": problem.model_dump(mode="json"),
            # The form of torchelastic's `record`, which other tools read too.
            "message": {
                "message": f"{type(error).__name__}: {error}",
                "extraInfo": {
                    "py_callstack": "".join(traceback.format_exception(error)),
                    "timestamp": str(int(time.time())),
                },
            },
        }
        file = self.journal.run.path / "log" / f"error_rank{rank}.json"
        with contextlib.suppress(SurefitError):  # the log has it too
            write_atomically(file, json.dumps(word, indent=1))

    def _note_stop(self, stop: StopRequested) -> None:
        phase = self.journal.phases[-1]
        if phase in ("first_step", "train"):
            return  # the loop has said so, with the step
        kept = (
            "the last checkpoint holds all steps" if self.journal.step else "no step was made yet"
        )
        sys.stderr.write(f"stopped on {stop} in the phase {phase}: {kept}\n")
        self.journal.note("stopped", f"stopped on {stop} in the phase {phase}; {kept}")


def lost_a_peer(error: BaseException) -> bool:
    """Whether an exception only says that another rank went away or did not come."""
    if isinstance(error, SurefitError):
        return False
    torch = sys.modules.get("torch")
    known = () if torch is None else (torch.distributed.DistError,)
    return isinstance(error, known) or (
        isinstance(error, RuntimeError) and bool(_PEER_GONE.search(str(error)))
    )


def _peer_lost(error: BaseException, journal: Journal) -> SurefitError:
    place = journal.place
    return SurefitError(
        f"rank {place.rank} lost another rank in the phase {journal.phases[-1]}",
        _first_line(error),
        f"look at what the other ranks say in {journal.run.path / 'log'}; this one is not the cause",
        worker_exit=WorkerExit.NETWORK,
        details={"class": "PEER_LOST"},
    )


def in_words(error: BaseException, phase: str, folder: Path) -> SurefitError:
    """An exception as a SurefitError with its worker exit code."""
    if isinstance(error, SurefitError):
        return error
    text = _first_line(error)
    if _is_gpu_memory(error):
        return SurefitError(
            f"the GPU ran out of memory in the phase {phase}",
            text,
            "set `how.micro_batch: 1` (same result), or `how.gradient_checkpointing: true`",
            worker_exit=WorkerExit.GPU_MEMORY,
        )
    if (
        isinstance(error, MemoryError)
        or "DefaultCPUAllocator" in text
        or ("a primitive" in text and memory_was_short())
        or _errno(error) == errno.ENOMEM
    ):
        return SurefitError(
            f"the machine ran out of memory in the phase {phase}",
            text,
            "close other programs, or set `how.micro_batch: 1` (same result)",
            worker_exit=WorkerExit.HOST_MEMORY,
        )
    if re.search(r"</?torch_|/dev/shm|shared memory", text) and "o space left" in text:
        return SurefitError(
            f"shared memory (/dev/shm) is full in the phase {phase}",
            text,
            "give the container more of it, such as `docker run --shm-size=8g` or `--ipc=host`; "
            "the last checkpoint is whole",
            worker_exit=WorkerExit.HOST_MEMORY,
            details={"class": "SHM"},
        )
    if _errno(error) in DISK_FULL_ERRNOS or _looks_like_full_disk(text, folder):
        return OutsideError(
            f"the disk is full in the phase {phase}",
            text,
            f"free some space where {folder} lies; the last checkpoint in it is whole",
            worker_exit=WorkerExit.DISK,
        )
    return SurefitError(
        f"surefit failed in the phase {phase}: {type(error).__name__}",
        text,
        f"report this with {folder / 'log'}; the traceback is in its worker.log",
        worker_exit=WorkerExit.BUG,
    )


def memory_was_short() -> bool:
    """Whether this process came close to its limit, or the machine has next to nothing left.

    oneDNN does not say that memory ran out: it "could not create a primitive".
    """
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return False
    peak = re.search(r"VmPeak:\s+(\d+) kB", status)
    if limit != resource.RLIM_INFINITY and peak and int(peak[1]) * 1024 > _NEAR_LIMIT * limit:
        return True
    memory = psutil.virtual_memory()
    return bool(memory.available < (1 - _NEAR_LIMIT) * memory.total)


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:500] if lines else type(error).__name__


def _errno(error: BaseException) -> int | None:
    return error.errno if isinstance(error, OSError) else None


def _is_gpu_memory(error: BaseException) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(error, torch.OutOfMemoryError)


def _looks_like_full_disk(text: str, folder: Path) -> bool:
    """safetensors and torch report a full disk in their own exceptions, without the number."""
    if "os error 28" in text or "No space left on device" in text:
        return True
    torch_writer = "PytorchStreamWriter" in text or "inline_container" in text
    return torch_writer and shutil.disk_usage(folder).free < _FULL_DISK_BYTES
