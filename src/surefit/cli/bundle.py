"""`surefit bundle`: what a run left behind, in one file that can be shown to others."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from surefit.cli.drawing import heading
from surefit.cli.output import json_option, print_json, say
from surefit.errors import ExitCode, UsageError
from surefit.units import bytes_text, plural

if TYPE_CHECKING:
    from surefit.supervise.bundle import Item


@click.command("bundle")
@click.argument("run", metavar="RUN")
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Where to write it. Default: RUN.tar.gz here.",
)
@click.option(
    "--yes", is_flag=True, help="Write it without asking; needed where nobody can answer."
)
@click.option("--show", metavar="NAME", help="Print one file of the bundle, as it would be packed.")
@json_option
def bundle_command(
    run: str, output: Path | None, yes: bool, show: str | None, as_json: bool
) -> ExitCode:
    """Pack what RUN left behind, to be shown to others. Nothing is sent anywhere.

    Left out are data, weights and quoted rows; taken out are secrets, your home folder, your user name
    and the machine's name. The list is shown before anything is written, and you are asked.
    """
    from surefit.runs import find_run_folder
    from surefit.supervise.bundle import collect, write

    folder = find_run_folder(run)
    items = collect(folder)
    if show is not None:
        click.echo(_content(items, show))
        return ExitCode.DONE
    target = output or Path(f"{folder.id}.tar.gz")
    if not as_json:
        say("\n".join(_list(items, target)))
    if not yes and not _agreed(as_json):
        say("nothing was written")
        return ExitCode.NO
    write(items, target)
    if as_json:
        print_json({"file": str(target.absolute()), "items": [_record(one) for one in items]})
    else:
        click.echo(str(target))
    return ExitCode.DONE


def _content(items: "list[Item]", name: str) -> str:
    for item in items:
        if item.name == name:
            return item.content.decode(errors="replace").rstrip("\n")
    raise UsageError(
        f"the bundle holds no {name!r}",
        "it holds " + ", ".join(item.name for item in items),
        f"name one of them, such as `--show {items[0].name}`",
    )


def _list(items: "list[Item]", target: Path) -> list[str]:
    width = max(len(item.name) for item in items)
    lines = [heading(f"{target} would hold")]
    for item in items:
        taken = f"  {plural(item.replaced, 'place')} taken out" if item.replaced else ""
        cut = "  shortened" if item.cut else ""
        lines.append(f"  {item.name.ljust(width)}  {bytes_text(len(item.content)):>9}{taken}{cut}")
    lines.append("look into one with `--show NAME`; no data, no weights, no secrets are in it")
    return lines


def _agreed(as_json: bool) -> bool:
    if as_json or not sys.stdin.isatty():
        raise UsageError(
            "nobody can be asked whether to write the bundle",
            "standard input is no terminal"
            if not as_json
            else "a program asked for it with `--json`",
            "look at the list, then add `--yes`",
        )
    return click.confirm("write it?", default=False, err=True)


def _record(item: "Item") -> dict[str, object]:
    return {
        "name": item.name,
        "size_bytes": len(item.content),
        "replaced": item.replaced,
        "cut": item.cut,
    }
