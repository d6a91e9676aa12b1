"""Runs that really die, one kind after the other: shared by the process tests and `scripts/bench deaths`.

A death is a run of the real worker under a real supervisor, with a fault in step 3 and a checkpoint of
step 2. What counts: the class of the diagnosis, the seconds from the fault to the diagnosis, and that
nothing is lost (log, checkpoint, events, no process).
"""

import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import supervised
import tiny_run

from surefit.launch.local.memory_group import MemoryGroup
from surefit.recipe import load_recipe
from surefit.runs import RunFolder, RunState
from surefit.runs.checkpoints import is_whole
from surefit.supervise import RunView, observe, preflight, start

FAULTY = Path(__file__).with_name("faulty_worker.py")
SLOW = 180.0
SILENT_SECONDS = 6.0


@dataclass(frozen=True)
class Death:
    """A kind of death: the fault, and the class that its diagnosis must have."""

    name: str
    fault: str
    expected: str
    words: str = ""
    of_several: str | None = None  # the class where one of several ranks dies so
    seconds: float = 3.0
    needs_root: bool = False
    meanwhile: Callable[[RunFolder], None] | None = None


@dataclass(frozen=True)
class Outcome:
    """What became of it. `lost` is empty where nothing was."""

    death: Death
    view: RunView
    seconds: float
    lost: tuple[str, ...]

    @property
    def found(self) -> str:
        """The class of the diagnosis."""
        return self.view.diagnosis.failure_class if self.view.diagnosis else "none"


def begin(
    folder: Path,
    model: Path,
    name: str,
    fault: str,
    *,
    ranks: int = 1,
    micro_batch: int = 1,
    checkpointing: bool = True,
    letters: int = 0,
    silent: float = SILENT_SECONDS,
) -> RunFolder:
    """Start a run of 30 steps whose worker has a fault.

    Args:
        folder: where its data and recipe go.
        model: the base.
        name: the run's id.
        fault: as `faulty_worker.py` knows it.
        ranks: processes that train together.
        micro_batch: sequences per pass.
        checkpointing: whether activations are recomputed: with micro-batch 1 nothing is smaller.
        letters: makes every row so many letters longer.
        silent: seconds of silence that count as a hang.
    """
    place = folder / name
    place.mkdir(parents=True)
    conversations = tiny_run.conversations(40)
    for one in conversations:
        one[0]["content"] += "z" * letters
    rows = [json.dumps({"messages": one}) for one in conversations]
    (place / "rows.jsonl").write_text("\n".join(rows) + "\n")
    several = f", ranks: {ranks}, strategy: ddp" if ranks > 1 else ""
    (place / "recipe.yaml").write_text(
        f"model: {model}\ndata: {{train: rows.jsonl}}\nmethod: {{type: lora, rank: 4}}\n"
        "goal: {epochs: 6, max_length: 128, learning_rate: 1e-3}\n"
        f"limits: {{silent_minutes: {silent / 60}}}\n"
        f"how: {{threads: 1, checkpoint_every_steps: 2, micro_batch: {micro_batch}, "
        f"gradient_checkpointing: {str(checkpointing).lower()}{several}}}\n"
    )
    ready = preflight(load_recipe(place / "recipe.yaml"))
    from surefit.home import runs_folder

    command = (sys.executable, str(FAULTY), fault, str(runs_folder() / name))
    return start(ready, name, command=command)


def limit_group(run: RunFolder) -> None:
    """Set a limit on the worker's own memory group, 256 MiB above what it holds, and let it go on."""
    supervised.wait_for("the fault", lambda: (run.path / "fault_time").exists(), SLOW)
    job = supervised.record_of(run).job
    assert job is not None
    assert job.details.get("memory_group_is_own") == "True", "no memory group of its own"
    group = MemoryGroup(Path(job.details["memory_group"]), own=True)
    assert group.limit_to(group.used_bytes() + 2**28)
    (run.path / "go").touch()


DEATHS = (
    Death("SIGKILL", "sigkill", "KILLED"),
    Death("segmentation fault", "segv", "SEGV"),
    Death("abort", "abort", "UNKNOWN", "SIGABRT"),
    Death("exception", "raises", "UNKNOWN", "the fault of this test"),
    Death("exit 0 without a result", "exit0", "ARTIFACT_MISSING", of_several="PEER_LOST"),
    Death("loss is no number", "nan", "NAN"),
    Death("hang", "hang", "HANG", "never_comes", seconds=SILENT_SECONDS + 5),
    Death(
        "OOM kill in a cgroup",
        "oom",
        "HOST_OOM",
        "counter rose by 1",
        needs_root=True,
        meanwhile=limit_group,
    ),
    Death("full /dev/shm", "shm", "SHM", needs_root=True),
)


def die(death: Death, folder: Path, model: Path, *, rank: int = 0, ranks: int = 1) -> Outcome:
    """Let a run die, and look at what is there afterwards."""
    fault = f"{death.fault}@{rank}" if ranks > 1 else death.fault
    run = begin(folder, model, f"{death.fault}-{ranks}-{rank}", fault, ranks=ranks)
    if death.meanwhile is not None:
        death.meanwhile(run)
    ended = (RunState.FAILED, RunState.LOST, RunState.DONE, RunState.STOPPED)
    view = supervised.wait_for_state(run, *ended, seconds=SLOW)
    seconds = run.diagnosis.stat().st_mtime - float((run.path / "fault_time").read_text())
    return Outcome(death, view, seconds, tuple(_lost(run, death)))


def is_right(outcome: Outcome) -> bool:
    """Whether the diagnosis is the expected one, in time, and nothing is lost."""
    death = outcome.death
    several = "-1-0" not in outcome.view.id
    expected = death.of_several if several and death.of_several else death.expected
    named = outcome.found == expected and death.words in outcome.view.model_dump_json()
    return named and not outcome.lost and outcome.seconds <= death.seconds


def _lost(run: RunFolder, death: Death) -> list[str]:
    """What should be there after a death and is not."""
    lost = []
    if f"about to: {death.fault}" not in run.log.read_text(errors="replace"):
        lost.append("the last words in the log")
    if not is_whole(run.checkpoints / "step-2"):
        lost.append("the checkpoint of step 2")
    if len(list(run.read_events())) != len(run.events.read_bytes().splitlines()):
        lost.append("a line of events.jsonl")
    record = supervised.record_of(run)
    end = time.monotonic() + 5
    while observe(run).alive and time.monotonic() < end:
        time.sleep(0.05)
    if any(marked(pid, run) for pid in pids()):
        lost.append(f"processes were left behind (worker {record.worker_pid})")
    return lost


def pids() -> list[int]:
    """Every process."""
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def marked(pid: int, run: RunFolder) -> bool:
    """Whether a living process belongs to the run."""
    from surefit.launch.local.environment import RUN_VARIABLE
    from surefit.launch.process import environment_of

    return environment_of(pid).get(RUN_VARIABLE) == str(run.path)


def allowed() -> str | None:
    """Why memory groups and mounts cannot be tried here; None: they can."""
    from surefit.launch.local.memory_group import make_group

    if os.geteuid() != 0:
        return "needs root"
    group = make_group("try")
    if group is None or not group.own:
        return "no memory cgroup may be made here"
    group.remove()
    return None
