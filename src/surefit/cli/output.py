"""How commands speak: data to stdout, words to stderr, `--json` for machines."""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


def json_option(command: Command) -> Command:
    """Add `--json`."""
    return click.option(
        "--json", "as_json", is_flag=True, help="Print JSON for a program to read."
    )(command)


def recipe_options(command: Command) -> Command:
    """Add the RECIPE argument and `--set`."""
    command = click.option(
        "--set",
        "changes",
        multiple=True,
        metavar="FIELD=VALUE",
        help="Change a field of the recipe; may be repeated.",
    )(command)
    return click.argument("recipe", metavar="RECIPE", type=click.Path(path_type=Path))(command)


def print_json(data: Any) -> None:
    """Print one JSON value on stdout."""
    click.echo(json.dumps(data, ensure_ascii=False, indent=1, default=str))


def print_json_line(data: Any) -> None:
    """Print one JSON value as one line on stdout, at once."""
    click.echo(json.dumps(data, ensure_ascii=False, default=str))
    sys.stdout.flush()


def say(text: str = "") -> None:
    """Print words for a person on stderr."""
    click.echo(text, err=True)


def width_now() -> int:
    """Columns to use: the terminal's, at most 100, at least 40."""
    return max(40, min(100, shutil.get_terminal_size((80, 24)).columns))


def can_unicode(stream: IO[str] | None = None) -> bool:
    """Whether a stream can show bars and marks beyond ASCII."""
    encoding = (getattr(stream or sys.stdout, "encoding", None) or "ascii").lower()
    return encoding.replace("-", "") in ("utf8", "utf16", "utf32")
