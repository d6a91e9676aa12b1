"""`main`: the one place that turns errors into text, JSON and an exit code.

0 done   1 the answer is no   2 wrong usage or recipe   3 the outside world failed
70 a bug of ours   130 Ctrl-C   141 the reader of our output went away
"""

import contextlib
import json
import os
import sys
import traceback
from collections.abc import Sequence
from typing import NoReturn

import click

from surefit.cli.group import surefit
from surefit.cli.usage import in_our_words
from surefit.errors import ExitCode, SurefitError

_PIPE_CLOSED = 141


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run one command and leave the process with its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    _survive_odd_encodings()
    code = run(given)
    with contextlib.suppress(BrokenPipeError):
        sys.stdout.flush()
        sys.stderr.flush()
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code."""
    as_json = "--json" in arguments
    try:
        with surefit.make_context("surefit", list(arguments)) as context:
            return int(surefit.invoke(context) or ExitCode.DONE)
    except click.exceptions.Exit as end:
        return end.exit_code
    except SurefitError as error:
        return show_error(error, as_json)
    except click.ClickException as error:
        return show_error(in_our_words(error), as_json)
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted; nothing that was running elsewhere was stopped", err=True)
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        return _pipe_closed()
    except Exception as error:  # noqa: BLE001 - the top level: everything else is a bug of ours
        return _show_bug(error, as_json)


def show_error(error: SurefitError, as_json: bool) -> ExitCode:
    """Say an error: as JSON on stdout where a machine asked, else as text on stderr."""
    if as_json:
        click.echo(json.dumps(error.as_dict(), ensure_ascii=False, default=str))
    else:
        click.echo(_coloured(error.as_text()), err=True, color=_stderr_colour())
    return error.exit_code


def _coloured(text: str) -> str:
    head, *rest = text.splitlines()
    label, _, words = head.partition(" ")
    lines = [f"{click.style(label, fg='red', bold=True)} {words}"]
    for line in rest:
        label, _, words = line.lstrip().partition(" ")
        lines.append(" " * (6 - len(label)) + click.style(label, bold=True) + f" {words}")
    return "\n".join(lines)


def _stderr_colour() -> bool | None:
    """None lets click decide by the terminal; the context that knew is gone here."""
    return False if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" else None


def _show_bug(error: Exception, as_json: bool) -> ExitCode:
    what = f"a bug in surefit: {type(error).__name__}: {error}"
    why = "this error was not foreseen; the traceback above shows where it happened"
    next_step = (
        "report it with the traceback and the command you typed; your files are as they were"
    )
    traceback.print_exception(error)
    show_error(SurefitError(what, why, next_step), as_json)
    return ExitCode.BUG


def _pipe_closed() -> int:
    """The reader left (`surefit runs | head`): no words, and no second error at exit."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return _PIPE_CLOSED


def _survive_odd_encodings() -> None:
    """A terminal that cannot show a character gets a question mark, not a traceback."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure:
            reconfigure(errors="replace")
