"""`surefit rehearse`: the whole life of a run in small, before hours are spent on it."""

from pathlib import Path

import click

from surefit.cli.output import json_option, recipe_options


@click.command("rehearse")
@recipe_options
@click.option("--name", metavar="NAME", help="Name the run; without it a name is made.")
@click.option("--detach", is_flag=True, help="Start the rehearsal and return at once.")
@json_option
def rehearse_command(
    recipe: Path, changes: tuple[str, ...], name: str | None, detach: bool, as_json: bool
) -> int:
    """Prove RECIPE on this machine in minutes, without training it.

    The worst batch, the evaluation, saving, loading again and comparing happen for real. Ends with 0
    when all of it worked.
    """
    from surefit.cli.launching import launch

    return launch(recipe, changes, name=name, detach=detach, as_json=as_json, only_rehearse=True)
