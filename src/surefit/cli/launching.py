"""Start a run or go on with one, and stay with it: shared by `train`, `rehearse` and `resume`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from surefit.cli.ending import ending_text, exit_code_of, view_record
from surefit.cli.following import attend, face_for, interrupts
from surefit.cli.output import print_json_line, say
from surefit.errors import ExitCode
from surefit.runs import RunFolder, RunState

if TYPE_CHECKING:
    from surefit.supervise import Preflight


def launch(
    recipe: Path,
    changes: tuple[str, ...],
    *,
    name: str | None,
    detach: bool,
    as_json: bool,
    only_rehearse: bool,
) -> int:
    """Check, plan, start; then follow to the end, or leave at once. Returns the exit code."""
    ready = _ready(recipe, changes, only_rehearse=only_rehearse)
    from surefit.supervise import start

    # From here Ctrl-C is a wish about the run: it may come between the run's birth and our knowing.
    with interrupts() as pressed:
        run = start(ready, name)
        if detach and not pressed:
            return _leave(run, as_json=as_json)
        if not as_json:
            for one in ready.warnings:
                say(f"warning: {one.message} ({one.code}); next: {one.next}")
            say(
                f"run {run.id}: {ready.plan.verdict.replace('_', ' ')}, {ready.plan.verdict_reason}"
            )
        return stay(run, pressed, as_json=as_json, planned_bytes=ready.plan.peak_bytes)


def launch_again(
    run: RunFolder, changes: tuple[str, ...], *, old_data: bool, detach: bool, as_json: bool
) -> int:
    """Resume a run; then follow to the end, or leave at once. Returns the exit code."""
    from surefit.supervise import resume

    with interrupts() as pressed:
        found = resume(run, changes, old_data=old_data)
        if detach and not pressed:
            return _leave(run, as_json=as_json)
        if not as_json:
            say(f"run {run.id}: {found.words}")
        return stay(run, pressed, as_json=as_json, planned_bytes=found.plan.peak_bytes)


def stay(run: RunFolder, pressed: list[int], *, as_json: bool, planned_bytes: int | None) -> int:
    """Show a run that was started here until it ends. Returns the exit code."""
    face = face_for(run, as_json=as_json, planned_bytes=planned_bytes)
    view = attend(run, face, pressed, lambda count: _stop(run, count))
    if as_json:
        print_json_line(view_record(view))
    else:
        click.echo(ending_text(view))
    stopped_here = pressed and view.state is RunState.STOPPED
    return ExitCode.INTERRUPTED if stopped_here else exit_code_of(view)


def _stop(run: RunFolder, count: int) -> str:
    from surefit.supervise import request_stop

    request_stop(run, at_once=count > 1)
    return (
        "stopping at once"
        if count > 1
        else "stopping; what has been trained is kept. Ctrl-C again stops at once"
    )


def _ready(recipe: Path, changes: tuple[str, ...], *, only_rehearse: bool) -> "Preflight":
    from surefit.cli.counting import counting
    from surefit.recipe import load_recipe, naming_places
    from surefit.supervise import preflight

    loaded = load_recipe(recipe, changes)
    with naming_places(loaded), counting("reading the data") as told:
        return preflight(loaded, only_rehearse=only_rehearse, progress=told, say=say)


def _leave(run: RunFolder, *, as_json: bool) -> int:
    if as_json:
        print_json_line({"run": run.id, "folder": str(run.path)})
        return ExitCode.DONE
    click.echo(run.id)
    say(
        f"it runs by itself; follow it with `surefit logs -f {run.id}`, stop it with `surefit stop {run.id}`"
    )
    return ExitCode.DONE
