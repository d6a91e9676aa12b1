"""`surefit runs`: the list of runs, newest first."""

import time
from typing import TYPE_CHECKING

import click

from surefit.cli.drawing import heading, mark
from surefit.cli.output import json_option, print_json, say, width_now
from surefit.units import seconds_text, shortened

if TYPE_CHECKING:
    from surefit.supervise import RunView


@click.command("runs")
@click.option("--limit", "-n", type=click.IntRange(min=1), metavar="N", help="Only the newest N.")
@json_option
def runs_command(limit: int | None, as_json: bool) -> None:
    """List the runs, newest first, with their state, progress and cause of end."""
    from surefit.supervise import list_runs

    views = list_runs()[:limit]
    if as_json:
        print_json([view.model_dump(mode="json") for view in views])
    elif not views:
        say("there are no runs yet; begin with `surefit recipe --example > recipe.yaml`")
    else:
        click.echo("\n".join(_table(views)))


def _table(views: "list[RunView]") -> list[str]:
    from surefit.cli.ending import GOOD

    names = max(len(view.run.id) for view in views)
    begun_times = [f"{seconds_text(max(0.0, time.time() - view.created))} ago" for view in views]
    wide = max(map(len, begun_times))
    lines = [heading(f"{'run'.ljust(names)}  {'state'.ljust(10)}  {'begun'.ljust(wide)}  progress")]
    for view, begun_time in zip(views, begun_times, strict=True):
        state = mark(str(view.state).ljust(10), GOOD.get(view.state))
        begun = begun_time.ljust(wide)
        head = f"{view.run.id.ljust(names)}  {view.state!s:<10}  {begun}  "
        text = shortened(_progress(view), max(12, width_now() - len(head)))
        lines.append(f"{view.run.id.ljust(names)}  {state}  {begun}  {text}")
    return lines


def _progress(view: "RunView") -> str:
    if view.cause:
        return view.cause
    if view.unwatched:
        return view.unwatched
    return f"step {view.step} of {view.steps}" if view.steps else ""
