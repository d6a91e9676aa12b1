"""Start a run: a whole folder or none, then a supervisor of its own."""

import shutil
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from surefit.data import place_prepared
from surefit.errors import OutsideError, UsageError
from surefit.home import write_atomically
from surefit.runs import RunFolder
from surefit.runs.folder import publish_run_folder, stage_run_folder
from surefit.runs.naming import new_run_name
from surefit.supervise.readiness import Preflight, refuse_plan
from surefit.supervise.spawning import spawn_supervisor

_NAME_TRIES = 5


def start(
    preflight: Preflight, name: str | None = None, *, command: tuple[str, ...] = ()
) -> RunFolder:
    """Write the run folder and start its supervisor. Returns when the supervisor watches.

    Safe against Ctrl-C at any point: before the folder has its name there is no run; after, there is a
    whole run with a supervisor, and `KeyboardInterrupt` is raised then.

    Args:
        preflight: what was checked and planned.
        name: the run's id; without it one is made.
        command: started instead of the worker, in tests.

    Raises:
        Refused: the plan does not fit, or the disk has no room.
        UsageError: the name is taken or is no name.
        OutsideError: the disk is full, or no process could be started.
    """
    refuse_plan(preflight.plan)
    for last_try in [False] * (_NAME_TRIES - 1) + [True]:
        wanted = name or new_run_name(
            preflight.loaded.recipe.model, preflight.loaded.recipe.method.type
        )
        try:
            return _start_as(wanted, preflight, command)
        except UsageError:
            if name is not None or last_try:
                raise
    raise AssertionError("the last try returns or raises")


def _start_as(name: str, preflight: Preflight, command: tuple[str, ...]) -> RunFolder:
    staged = stage_run_folder(name)
    try:
        _fill(staged, preflight)
        with _no_interrupt():
            run = publish_run_folder(staged, name)
            spawn_supervisor(run, command)
    finally:
        shutil.rmtree(staged.path, ignore_errors=True)  # nothing is left there after a start
    return run


def _fill(run: RunFolder, preflight: Preflight) -> None:
    prepared = preflight.report.prepared
    if prepared is None:
        raise OutsideError(
            "the prepared data are not there",
            "the check of the data wrote none",
            "run the command again; if it stays, report it",
        )
    place_prepared(Path(prepared), run.data)
    write_atomically(run.recipe_text, preflight.loaded.text)
    run.write(run.recipe, preflight.loaded.resolved())
    run.write(run.dataset, preflight.report.model_copy(update={"prepared": str(_final_data(run))}))
    run.write(run.plan, preflight.plan)


def _final_data(run: RunFolder) -> Path:
    """Where the data will lie when the staged folder has its name."""
    name = run.id.split("-", 2)[2]
    return run.path.with_name(name) / run.data.name


@contextmanager
def _no_interrupt() -> Iterator[None]:
    """Hold Ctrl-C back for the few moments between a run's birth and its supervisor's.

    A blocked signal would not do: with several threads (tokenizers has some) another one takes it.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # KeyboardInterrupt is raised in the main thread only
        return
    heard: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _frame: heard.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)
    if heard:
        signal.raise_signal(signal.SIGINT)
