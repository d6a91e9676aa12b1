"""`surefit train`: from a recipe to a proven model, watched from here or left alone."""

from pathlib import Path

import click

from surefit.cli.output import json_option, recipe_options


@click.command("train")
@recipe_options
@click.option("--name", metavar="NAME", help="Name the run; without it a name is made.")
@click.option("--detach", is_flag=True, help="Start the run and return at once.")
@json_option
def train_command(
    recipe: Path, changes: tuple[str, ...], name: str | None, detach: bool, as_json: bool
) -> int:
    """Train RECIPE on this machine, after its data and its plan have been checked.

    The run is a process of its own: it goes on when this terminal closes. Ctrl-C stops it with a
    checkpoint, a second Ctrl-C at once. Ends with 0 only when the saved model was loaded again and
    gave the same answers.
    """
    from surefit.cli.launching import launch

    return launch(recipe, changes, name=name, detach=detach, as_json=as_json, only_rehearse=False)
