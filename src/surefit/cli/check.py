"""`surefit check`: a look at training data alone, or at the data of a recipe."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from surefit.cli.output import json_option, print_json
from surefit.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from surefit.data import DatasetReport
    from surefit.recipe import LoadedRecipe

_RECIPE_ENDINGS = (".yaml", ".yml")


@click.command("check")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "--model",
    metavar="DIR",
    help="The model, or `starter`: its tokenizer gives lengths and samples.",
)
@click.option(
    "--eval",
    "eval_rows",
    metavar="FILE",
    help="Rows to evaluate on: a file, or a share such as 5%.",
)
@click.option("--max-length", type=click.IntRange(min=8), metavar="N", help="Cut rows at N tokens.")
@click.option(
    "--format", "layout", metavar="NAME", help="The rows' format; this version reads `messages`."
)
@click.option(
    "--map", "mapping", multiple=True, metavar="ROLE=COLUMN", help="Which column holds what."
)
@click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="FIELD=VALUE",
    help="A field of the recipe, such as goal.batch=32.",
)
@json_option
def check_command(
    file: Path,
    model: str | None,
    eval_rows: str | None,
    max_length: int | None,
    layout: str | None,
    mapping: tuple[str, ...],
    changes: tuple[str, ...],
    as_json: bool,
) -> ExitCode:
    """Find what is wrong with the training data in FILE, and show rows as they will be trained.

    FILE is a JSONL file, or a recipe in YAML whose data and model are then looked at. Ends with 0
    when the data can be trained, with 1 when it cannot.
    """
    _refuse_unknown_format(layout, mapping)
    options = _as_changes(model, eval_rows, max_length, changes)
    loaded = (
        _recipe(file, options)
        if file.suffix.lower() in _RECIPE_ENDINGS
        else _from_file(file, options)
    )
    report = _report(loaded, with_model=model is not None or loaded.path is not None)
    if as_json:
        print_json(report.model_dump(mode="json"))
    else:
        from surefit.cli.checkview import check_text

        click.echo(check_text(report))
    return ExitCode.NO if report.verdict == "refuse" else ExitCode.DONE


def _refuse_unknown_format(layout: str | None, mapping: tuple[str, ...]) -> None:
    if layout not in (None, "messages"):
        raise UsageError(
            f"--format {layout} is not offered",
            "this version reads one format: JSONL whose rows hold `messages`",
            'write the rows as `{"messages": [{"role": "user", "content": ...}, ...]}`',
        )
    wrong = [one for one in mapping if one != "messages=messages"]
    if wrong:
        raise UsageError(
            f"--map {wrong[0]} is not offered",
            "this version reads the column `messages` only",
            "rename the column to `messages`",
        )


def _as_changes(
    model: str | None, eval_rows: str | None, max_length: int | None, changes: tuple[str, ...]
) -> tuple[str, ...]:
    """The options as changes of a recipe: the same fields, the same checks."""
    given = {"model": model, "data.eval": eval_rows, "goal.max_length": max_length}
    return (*(f"{field}={value}" for field, value in given.items() if value is not None), *changes)


def _recipe(file: Path, changes: tuple[str, ...]) -> "LoadedRecipe":
    from surefit.recipe import load_recipe

    return load_recipe(file, changes)


def _from_file(file: Path, changes: tuple[str, ...]) -> "LoadedRecipe":
    """A recipe around a data file. Its model is used only where one was named."""
    from surefit.recipe import recipe_from

    return recipe_from({"model": "starter", "data": {"train": str(file)}}, Path.cwd(), changes)


def _report(loaded: "LoadedRecipe", *, with_model: bool) -> "DatasetReport":
    from surefit.cli.counting import counting
    from surefit.data import check_data
    from surefit.models import read_model_facts
    from surefit.plan import planned_max_length
    from surefit.tokens import load_chat_tokenizer

    recipe, tokenizer, max_length = loaded.recipe, None, loaded.recipe.goal.max_length
    if with_model:
        facts = read_model_facts(recipe.model, loaded.base_folder)
        tokenizer = load_chat_tokenizer(Path(facts.folder))
        max_length = planned_max_length(recipe, facts)
    with counting("reading the data") as told:
        return check_data(
            recipe.data,
            loaded.base_folder,
            tokenizer,
            max_length=max_length,
            batch=recipe.goal.batch,
            seed=recipe.goal.seed,
            progress=told,
        )
