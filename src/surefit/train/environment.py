"""The process around the training: environment, streams and stacks on demand.

Some variables are read when a process starts (the allocator) or when a library loads (threads,
telemetry), so the worker starts itself again, under the same process id, with the plan's values.
"""

import faulthandler
import io
import os
import signal
import sys
from pathlib import Path

from surefit.plan.plan import TrainingPlan

_READY = "SUREFIT_WORKER_READY"
_NOT_QUANTIZED = frozenset({"full", "lora", "rslora", "dora"})


def worker_environment(training: TrainingPlan) -> dict[str, str]:
    """The variables a worker must be started with."""
    return {
        "HF_HUB_OFFLINE": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "TRANSFORMERS_VERBOSITY": "warning",
        "TOKENIZERS_PARALLELISM": "false",
        "OMP_NUM_THREADS": str(training.threads),
        "MKL_NUM_THREADS": str(training.threads),
        "PYTHONFAULTHANDLER": "1",
        "PYTHONUNBUFFERED": "1",
        **training.allocator,
    }


def restart_in(variables: dict[str, str]) -> None:
    """Replace this process by itself with `variables` set, unless it already runs with them."""
    wanted = {**variables, _READY: "1"}
    if all(os.environ.get(name) == value for name, value in wanted.items()):
        return
    if os.environ.get(_READY):
        # Somebody changed a variable on the way: setting it again here would not be heard.
        os.environ.update(wanted)
        return
    os.execve(sys.executable, sys.orig_argv, {**os.environ, **wanted})  # noqa: S606 - same argv


def prepare_process(log: Path, rank: int = 0) -> None:
    """Stacks on a crash and on SIGUSR1, streams by the line, no death by a closed terminal.

    On SIGUSR1 the stacks of all threads go to a file of their own, `stacks_rank<N>.txt` beside the
    log: written in C, so also when no Python code runs any more.
    """
    faulthandler.enable()
    stacks = os.open(
        log.with_name(f"stacks_rank{rank}.txt"), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644
    )
    faulthandler.register(signal.SIGUSR1, file=stacks, all_threads=True, chain=False)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    sys.stdout = _SturdyStream(1, log)
    sys.stderr = _SturdyStream(2, log)


def hide_unused_libraries(training: TrainingPlan) -> None:
    """Keep peft from loading bitsandbytes where nothing is quantised: 44 MiB and two seconds.

    `None` in `sys.modules` is how Python marks a module as not there.
    """
    if training.method.type in _NOT_QUANTIZED:
        sys.modules["bitsandbytes"] = None  # type: ignore[assignment]


class _SturdyStream(io.TextIOWrapper):
    """Standard output that outlives its reader: a broken pipe sends the rest to the run's log."""

    def __init__(self, descriptor: int, log: Path) -> None:
        raw = io.FileIO(descriptor, "wb", closefd=False)
        super().__init__(
            io.BufferedWriter(raw), encoding="utf-8", errors="backslashreplace", line_buffering=True
        )
        self._descriptor, self._log = descriptor, log

    def write(self, text: str) -> int:
        try:
            return super().write(text)
        except BrokenPipeError:
            self._turn_to_the_log()
            return len(text)

    def flush(self) -> None:
        try:
            super().flush()
        except BrokenPipeError:
            self._turn_to_the_log()

    def _turn_to_the_log(self) -> None:
        # What was buffered is written again by the next flush, to the new place.
        handle = os.open(self._log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        os.dup2(handle, self._descriptor)
        os.close(handle)
