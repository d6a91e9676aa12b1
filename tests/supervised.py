"""Runs with a real supervisor and a worker of the test's choice, and the proof that nothing is left."""

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import tiny_run

from surefit.data.report import DatasetReport
from surefit.launch.local.environment import RUN_VARIABLE
from surefit.plan.plan import Plan
from surefit.recipe import LoadedRecipe
from surefit.recipe.data_spec import DataSpec
from surefit.recipe.schema import Recipe
from surefit.runs import RunFolder, RunState
from surefit.supervise import Preflight, RunView, observe
from surefit.supervise.records import SupervisorRecord

WORKER = Path(__file__).with_name("fake_worker.py")


def plan_of(folder: Path, **changes: Any) -> Plan:
    """A plan whose model is two small files; the fake worker reads neither."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps({"vocab_size": 99}))
    (folder / "model.safetensors").write_bytes(b"")
    outside = {name: changes.pop(name) for name in list(changes) if name in Plan.model_fields}
    changes.setdefault("rehearse", True)
    return tiny_run.plan_for(folder, 24, **changes).model_copy(update=outside)


def preflight_of(folder: Path, **changes: Any) -> Preflight:
    """What `start` needs, made by hand."""
    prepared = folder / "prepared"
    prepared.mkdir(parents=True, exist_ok=True)
    for name in ("prepared.json", "train.ids.u32", "train.mask.u8", "train.offsets.u64"):
        (prepared / name).write_bytes(b"{}")
    plan = plan_of(folder / "model", **changes)
    report = DatasetReport(
        verdict="ok",
        format="messages",
        format_reason="",
        sources=(),
        rows=24,
        usable=24,
        prepared=str(prepared),
    )
    recipe = Recipe(model="starter", data=DataSpec(train="t.jsonl"))
    loaded = LoadedRecipe(recipe, "model: starter\n", folder, None)
    return Preflight(loaded, plan.model, plan.hardware, report, plan)


def worker(run_name: str, mode: str, *words: str) -> tuple[str, ...]:
    """The command of the fake worker for a run that is about to be started under a name."""
    from surefit.home import runs_folder

    return (sys.executable, str(WORKER), str(runs_folder() / run_name), mode, *words)


def wait_for(what: str, true: Callable[[], Any], seconds: float = 20.0) -> Any:
    """Wait until something is true; what it gave."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = true()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError(f"not within {seconds} s: {what}; last {true()!r:.300}")


def nothing_left(home: Path, seconds: float = 3.0) -> None:
    """Wait until no process of a home's runs lives."""
    end = time.monotonic() + seconds
    while left := living(home):
        assert time.monotonic() < end, [" ".join(one.cmdline())[-200:] for one in left]
        time.sleep(0.02)


def wait_for_state(run: RunFolder, *states: RunState, seconds: float = 20.0) -> RunView:
    """The view of a run once it is in one of the states."""

    def found() -> RunView | None:
        view = observe(run)
        return view if view.state in states else None

    view: RunView = wait_for(f"{run.id} in {states}: {run.state()}", found, seconds)
    return view


def record_of(run: RunFolder) -> SupervisorRecord:
    """The supervisor's record, once it names the worker."""

    def found() -> SupervisorRecord | None:
        record = run.read(run.supervisor, SupervisorRecord)
        return record if record is not None and record.worker_pid else None

    record: SupervisorRecord = wait_for("a worker on record", found)
    return record


def kill(pid: int) -> None:
    """SIGKILL, and wait until it has worked."""
    os.kill(pid, signal.SIGKILL)
    wait_for(f"{pid} gone", lambda: not is_alive(pid))


def is_alive(pid: int) -> bool:
    """Whether a process of that number runs."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def living(home: Path) -> list[psutil.Process]:
    """Every supervisor, worker and descendant of a home's runs."""
    found = []
    for process in psutil.process_iter():
        try:
            marked = process.environ().get(RUN_VARIABLE, "").startswith(str(home))
            supervises = "surefit.supervise" in process.cmdline() and any(
                part.startswith(str(home)) for part in process.cmdline()
            )
        except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
            continue
        if marked or supervises:
            found.append(process)
    return found


@contextmanager
def clean_home(home: Path) -> Iterator[Path]:
    """A home whose runs are all over when the test ends; what still lives is named, then killed."""
    try:
        yield home
        end = time.monotonic() + 5
        while living(home) and time.monotonic() < end:
            time.sleep(0.05)
        left = [" ".join(one.cmdline())[:120] for one in living(home)]
        assert not left, f"left behind: {left}"
    finally:
        for process in living(home):
            process.kill()
