"""Start a run from a recipe and stay with it: shared by `train` and `rehearse`."""

from pathlib import Path

import click

from surefit.cli.ending import ending_text, exit_code_of, view_record
from surefit.cli.following import Face, face_for, follow
from surefit.cli.output import print_json_line, say
from surefit.errors import ExitCode
from surefit.runs import RunFolder, RunState
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

    run = start(ready, name)
    if detach:
        return _leave(run, as_json=as_json)
    if not as_json:
        say(f"run {run.id}: {ready.plan.verdict.replace('_', ' ')}, {ready.plan.verdict_reason}")
    return attend(run, as_json=as_json, planned_bytes=ready.plan.peak_bytes)


def attend(run: RunFolder, *, as_json: bool, planned_bytes: int | None) -> int:
    """Follow a run to its end, say how it ended, and return the exit code."""
    from surefit.supervise import observe

    interrupted = False

    def on_interrupt(count: int) -> str:
        nonlocal interrupted
        interrupted = True
        return _stop(run, count)

    # The run has a supervisor of its own: a terminal that closes takes only this display with it.
    face: Face = face_for(run, as_json=as_json, planned_bytes=planned_bytes)
    follow(run, face, lambda: RunState(observe(run).state), on_interrupt)
    view = observe(run)
    if as_json:
        print_json_line(view_record(view))
    else:
        click.echo(ending_text(view))
    stopped_here = interrupted and view.state is RunState.STOPPED
    return ExitCode.INTERRUPTED if stopped_here else exit_code_of(view)


def _stop(run: RunFolder, count: int) -> str:
    from surefit.supervise import request_stop

    if count == 1:
        request_stop(run)
        return "stopping: the run keeps its last checkpoint; Ctrl-C again stops at once"
    request_stop(run, at_once=True)
    return "stopping at once"


def _ready(recipe: Path, changes: tuple[str, ...], *, only_rehearse: bool) -> Preflight:
    from surefit.cli.counting import counting
    from surefit.recipe import load_recipe
    from surefit.supervise import preflight

    loaded = load_recipe(recipe, changes)
    with counting("reading the data") as told:
        return preflight(loaded, only_rehearse=only_rehearse, progress=told)


def _leave(run: RunFolder, *, as_json: bool) -> int:
    if as_json:
        print_json_line({"run": run.id, "folder": str(run.path)})
        return ExitCode.DONE
    click.echo(run.id)
    say(
        f"it runs by itself; follow it with `surefit logs -f {run.id}`, stop it with `surefit stop {run.id}`"
    )
    return ExitCode.DONE
