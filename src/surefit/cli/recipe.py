"""`surefit recipe`: an example, the schema, or what a recipe says."""

from pathlib import Path

import click

from surefit.cli.output import json_option, print_json
from surefit.errors import UsageError


@click.command("recipe")
@click.argument("recipe", metavar="[RECIPE]", required=False, type=click.Path(path_type=Path))
@click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="FIELD=VALUE",
    help="Change a field of the recipe; may be repeated.",
)
@click.option("--example", is_flag=True, help="Print a complete recipe with comments.")
@click.option("--schema", is_flag=True, help="Print the JSON schema, for an editor.")
@json_option
def recipe_command(
    recipe: Path | None, changes: tuple[str, ...], example: bool, schema: bool, as_json: bool
) -> None:
    """Read RECIPE and print it with every default filled in; or print an example or the schema.

    \b
    surefit recipe --example > recipe.yaml
    surefit recipe recipe.yaml --set goal.epochs=3
    """
    wanted = [
        name
        for name, given in (("RECIPE", recipe), ("--example", example), ("--schema", schema))
        if given
    ]
    if len(wanted) != 1:
        raise UsageError(
            "surefit recipe needs exactly one of RECIPE, --example and --schema",
            f"given: {', '.join(wanted) or 'none'}",
            "begin with `surefit recipe --example > recipe.yaml`",
        )
    if example:
        _print_example(as_json)
    elif schema:
        from surefit.recipe.fields import recipe_schema

        print_json(recipe_schema())
    elif recipe:
        _print_resolved(recipe, changes, as_json)


def _print_example(as_json: bool) -> None:
    from surefit.recipe.example import EXAMPLE

    if as_json:
        print_json({"example": EXAMPLE})
    else:
        click.echo(EXAMPLE, nl=False)


def _print_resolved(path: Path, changes: tuple[str, ...], as_json: bool) -> None:
    from surefit.recipe import load_recipe

    values = load_recipe(path, changes).recipe.model_dump(mode="json")
    if as_json:
        print_json(values)
        return
    import yaml

    click.echo(yaml.safe_dump(values, sort_keys=False, allow_unicode=True), nl=False)
