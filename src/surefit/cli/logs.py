"""`surefit logs`: what a run printed, from its first byte; -f follows it to its end."""

from typing import TYPE_CHECKING

import click

from surefit.cli.output import json_option, print_json_line, say
from surefit.errors import ExitCode

if TYPE_CHECKING:
    from surefit.runs import RunFolder


@click.command("logs")
@click.argument("run", metavar="RUN")
@click.option(
    "--follow", "-f", is_flag=True, help="Go on until the run has ended, with its progress."
)
@click.option(
    "--lines", "-n", type=click.IntRange(min=0), metavar="N", help="Only the last N lines."
)
@json_option
def logs_command(run: str, follow: bool, lines: int | None, as_json: bool) -> ExitCode:
    """Print what RUN printed. -f picks up a live run: its log and its progress, to its end.

    Ctrl-C ends the watching, never the run. With --json every line of the log is one JSON object,
    and with -f every event too.
    """
    from surefit.runs import find_run_folder

    folder = find_run_folder(run)
    if follow:
        return _follow(folder, lines, as_json=as_json)
    _print(folder, lines, as_json=as_json)
    return ExitCode.DONE


def _print(run: "RunFolder", last: int | None, *, as_json: bool) -> None:
    from surefit.cli.following import LogLines

    log = LogLines(run)
    lines = [*log.poll(), *log.rest()]
    for line in lines if last is None else lines[len(lines) - min(last, len(lines)) :]:
        if as_json:
            print_json_line({"kind": "log", "text": line})
        else:
            click.echo(line)
    if not lines and not as_json:
        say(f"the run {run.id} has printed nothing; its state: `surefit show {run.id}`")


def _follow(run: "RunFolder", last: int | None, *, as_json: bool) -> ExitCode:
    from surefit.cli.ending import ending_text, view_record
    from surefit.cli.following import LogLines, attend, face_for, interrupts

    face = face_for(
        run, as_json=as_json, planned_bytes=None, hint="Ctrl-C ends the watching, not the run"
    )
    with interrupts() as pressed:
        view = attend(run, face, pressed, lambda _count: None, LogLines(run, last))
    if not view.state.is_final:
        say(f"the run {run.id} goes on; stop it with `surefit stop {run.id}`")
        return ExitCode.INTERRUPTED
    if as_json:
        print_json_line(view_record(view))
    else:
        say(ending_text(view))
    return ExitCode.DONE
