"""`surefit stop`: end a run, and wait until nothing of it lives."""

import time
from typing import TYPE_CHECKING

import click

from surefit.cli.output import json_option, print_json, say
from surefit.errors import ExitCode, OutsideError

if TYPE_CHECKING:
    from surefit.runs import RunFolder
    from surefit.supervise import RunView

_POLL_SECONDS = 0.1


@click.command("stop")
@click.argument("run", metavar="RUN")
@click.option(
    "--wait",
    type=click.FloatRange(min=0),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait for the end.",
)
@json_option
def stop_command(run: str, wait: float, as_json: bool) -> ExitCode:
    """Stop RUN: it keeps its last checkpoint, and everything it started ends.

    Returns when nothing of the run lives any more. A run that has ended already is left as it is.
    """
    from surefit.cli.ending import ending_text, view_record
    from surefit.runs import find_run_folder
    from surefit.supervise import observe, request_stop

    folder = find_run_folder(run)
    view = observe(folder)
    was_over = view.state.is_final
    if not was_over:
        request_stop(folder)
        view = _wait_for_end(folder, wait)
    if as_json:
        print_json({**view_record(view), "was_over": was_over})
    elif was_over:
        click.echo(f"{folder.id} had ended already: it is {view.state}")
    else:
        click.echo(ending_text(view))
    return ExitCode.DONE


def _wait_for_end(run: "RunFolder", seconds: float) -> "RunView":
    """The run after its end.

    Raises:
        OutsideError: it has not ended in time.
    """
    from surefit.supervise import observe

    say(f"stopping {run.id} ...")
    end = time.monotonic() + seconds
    while True:
        view = observe(run)
        if view.state.is_final:
            return view
        if time.monotonic() >= end:
            raise OutsideError(
                f"the run {run.id} has not ended after {seconds:g} seconds",
                f"it was asked to stop and is still {view.state}",
                f"wait and look with `surefit show {run.id}`, or call `surefit stop {run.id}` again",
            )
        time.sleep(_POLL_SECONDS)
