"""Go on with an interrupted run: from its newest checkpoint that verifies, with the same plan."""

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from surefit.data.report import DatasetReport
from surefit.errors import Refused, UsageError
from surefit.hub import missing_files
from surefit.launch.process import ProcessIdentity, boot_id, identify
from surefit.plan.plan import Plan
from surefit.recipe import recipe_from
from surefit.recipe.schema import Limits, Recipe
from surefit.runs import RunFolder, RunState, Status, list_run_folders
from surefit.runs.checkpoints import BrokenCheckpoint, describe_file, newest_whole, read_manifest
from surefit.runs.fingerprint import changed_files, fingerprint
from surefit.supervise.attempts import Retry, put_aside
from surefit.supervise.limits import limits_of
from surefit.supervise.observing import observe
from surefit.supervise.records import NO_JOB, SupervisorRecord
from surefit.supervise.spawning import spawn_supervisor
from surefit.supervise.spent import spent_before
from surefit.supervise.view import RunView
from surefit.units import plural, seconds_text

_SETTLE_SECONDS, _POLL_SECONDS = 15.0, 0.05
_MAY_CHANGE = frozenset(
    {"limits.hours", "limits.dollars", "limits.dollars_per_hour", "limits.silent_minutes"}
)
_INTERRUPTED = frozenset({RunState.STOPPED, RunState.FAILED, RunState.LOST})


@dataclass(frozen=True)
class Resumption:
    """From where a run goes on."""

    run: RunFolder
    plan: Plan
    checkpoint: str | None
    broken: tuple[BrokenCheckpoint, ...]

    @property
    def words(self) -> str:
        """In words, with every checkpoint that was passed over."""
        skipped = [f"{one.name} is passed over ({one.why})" for one in self.broken]
        start = (
            f"going on from {self.checkpoint}" if self.checkpoint else "no checkpoint: from step 0"
        )
        return "; ".join([*skipped, start])


def newest_interrupted() -> RunFolder:
    """The newest run that can be resumed.

    Raises:
        UsageError: there is none.
    """
    for run in list_run_folders():
        if observe(run, recover=False).state in _INTERRUPTED:
            return run
    raise UsageError(
        "there is no run to go on with",
        "none of the runs was stopped, failed or lost",
        "list them with `surefit runs`, or start one with `surefit train recipe.yaml`",
    )


def resume(
    run: RunFolder,
    changes: tuple[str, ...] = (),
    *,
    old_data: bool = False,
    command: tuple[str, ...] = (),
) -> Resumption:
    """Verify the checkpoints, put the last worker's traces aside, and start a supervisor.

    Args:
        run: a run that was stopped, failed or lost.
        changes: texts such as ``limits.hours=8``; only limits may change.
        old_data: go on with the run's own rows although the data file has changed since.
        command: started instead of the worker, in tests.

    Raises:
        UsageError: the run goes on or is done, or a change is no limit.
        Refused: base model or data have changed, or a limit is used up.
        OutsideError: the disk is full, or no process could be started.
    """
    view = settled(run)
    plan = refuse_other_states(run, view)
    plan, recipe = with_changes(run, plan, changes)
    refuse_reached_limit(run, plan)
    checkpoint, broken = newest_whole(run.checkpoints)
    if checkpoint is not None:
        refuse_changed_base(run, plan, checkpoint)
    if not old_data:
        refuse_changed_data(run)
    found = Resumption(run, plan, checkpoint.name if checkpoint else None, broken)
    _queue(run, plan, recipe if changes else None, view, found)
    spawn_supervisor(run, command)
    return found


def _queue(
    run: RunFolder, plan: Plan, recipe: Recipe | None, view: RunView, found: Resumption
) -> None:
    """Make the run one that waits for its device, in an order that survives a power cut anywhere."""
    record = run.read(run.supervisor, SupervisorRecord)
    me = identify(os.getpid()) or ProcessIdentity(os.getpid(), -1, boot_id())
    mine = {"pid": me.pid, "start_time": me.start_time, "boot": me.boot, **NO_JOB}
    record = record.model_copy(update=mine) if record else SupervisorRecord(**mine)
    run.write(run.supervisor, record)
    cause = view.cause or str(view.state)
    put_aside(run, Retry(kind="resume", cause=cause, change=found.words))
    run.write(run.plan, plan)
    if recipe is not None:
        run.write(run.recipe, recipe)
    run.append(Status(state=RunState.QUEUED, cause=f"resumed: {found.words}"))


def settled(run: RunFolder) -> RunView:
    """The run once its end is on record and its last supervisor is gone, or as it is.

    A supervisor that is still writing down how the run ended would write into the next attempt.
    """
    end = time.monotonic() + _SETTLE_SECONDS
    while True:
        view = observe(run)
        over = run.state()[0].is_final
        record = run.read(run.supervisor, SupervisorRecord)
        if over and (record is None or not record.identity.is_alive()):
            return view
        if view.alive or not (over or view.evidence) or time.monotonic() > end:
            return view
        time.sleep(_POLL_SECONDS)


def refuse_other_states(run: RunFolder, view: RunView) -> Plan:
    """The plan of a run that can be resumed.

    Raises:
        UsageError: it goes on, it is done, or it was only a rehearsal.
    """
    if view.state is RunState.DONE:
        raise UsageError(
            f"the run {run.id} is done",
            "its result is proven; there is nothing to go on with",
            f"look at it with `surefit show {run.id}`, or train more with `surefit train {run.recipe}`",
        )
    if view.state not in _INTERRUPTED:
        raise UsageError(
            f"the run {run.id} has not ended",
            f"it is {view.state}",
            f"follow it with `surefit logs -f {run.id}`, or end it with `surefit stop {run.id}`",
        )
    plan = run.read(run.plan, Plan)
    if plan is None or plan.training.only_rehearse:
        raise UsageError(
            f"the run {run.id} cannot be resumed",
            "it was a rehearsal" if plan else f"{run.plan} is missing or damaged",
            f"start a run from its recipe: `surefit train {run.recipe}`",
        )
    return plan


def with_changes(
    run: RunFolder, plan: Plan, changes: tuple[str, ...]
) -> tuple[Plan, Recipe | None]:
    """Plan and recipe with other limits. What would change the experiment is refused.

    Raises:
        UsageError: a change is no limit.
        RecipeError: a value is none.
    """
    recipe = run.read(run.recipe, Recipe)
    if not changes or recipe is None:
        return plan, recipe
    other = [one for one in changes if one.partition("=")[0].strip() not in _MAY_CHANGE]
    if other:
        raise UsageError(
            f"`{other[0]}` cannot change in a run that goes on",
            "half of the run would be trained one way and half the other; "
            f"only {', '.join(sorted(_MAY_CHANGE))} may change",
            f"start a new run: `surefit train {run.recipe} --set {other[0]}`",
        )
    values: dict[str, Any] = recipe.model_dump(mode="json", exclude_none=True)
    changed = recipe_from(values, Path.cwd(), changes).recipe
    limits: Limits = changed.limits
    update = {
        "limit_seconds": limits.hours * 3600 if limits.hours else None,
        "limit_dollars": limits.dollars,
        "dollars_per_hour": limits.dollars_per_hour,
        "silent_seconds": limits.silent_minutes * 60 if limits.silent_minutes else None,
    }
    return plan.model_copy(update=update), changed


def refuse_reached_limit(run: RunFolder, plan: Plan) -> None:
    """A run that has used up its limit would be stopped at once.

    Raises:
        Refused: names the limit and a larger one.
    """
    spent = spent_before(run)
    for limit in limits_of(plan):
        if spent >= limit.seconds:
            kind = limit.field.removeprefix("limits.")
            now = {"hours": plan.limit_seconds and plan.limit_seconds / 3600}.get(
                kind, plan.limit_dollars
            )
            more = f"{(now or 1) * 2:g}"
            raise Refused(
                f"the run {run.id} has used up its limit: {seconds_text(spent)} of {limit.whole}",
                f"`{limit.field}` counts all its workers together",
                f"raise it: `surefit resume {run.id} --set {limit.field}={more}`",
                where=limit.field,
            )


def refuse_changed_base(run: RunFolder, plan: Plan, checkpoint: Path) -> None:
    """The checkpoint's base model must be the one it was trained from.

    Raises:
        Refused: names the files that differ.
    """
    before = (read_manifest(checkpoint) or {}).get("origin", {}).get("base")
    if not isinstance(before, dict):
        return  # written by an older version, which kept no fingerprints
    if missing_files(plan.model):
        return  # the worker fetches the pinned commit again, and compares then
    folder = Path(plan.model.folder)
    now = fingerprint([folder / "config.json", *folder.glob("*.safetensors")])
    changed = changed_files(before, now)
    if changed:
        raise Refused(
            f"the base model in {folder} has changed since {checkpoint.name} was written",
            f"other content in {', '.join(changed)}: the checkpoint does not belong to it",
            f"put the old files back, or start a new run: `surefit train {run.recipe}`",
            details={"changed": changed},
        )


def refuse_changed_data(run: RunFolder) -> None:
    """Whoever repaired the data expects them to be trained; a run goes on with its own old rows.

    Raises:
        Refused: names the files that differ.
    """
    report = run.read(run.dataset, DatasetReport)
    changed = [
        source.path
        for source in (report.sources if report else ())
        if (file := Path(source.path)).is_file()
        and describe_file(file, file.parent).sha256 != source.sha256
    ]
    if changed:
        raise Refused(
            f"the data changed since the run {run.id} began: {', '.join(changed)}",
            f"a run goes on with the rows it began with, so the change in "
            f"{plural(len(changed), 'file')} would not be trained",
            f"train the new rows: `surefit train {run.recipe}`; or go on with the old ones: "
            f"`surefit resume {run.id} --old-data`",
            details={"changed": changed},
        )
