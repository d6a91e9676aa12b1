"""`surefit check`: a look at training data alone, or at the data of a recipe."""

from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click

from surefit.cli.output import json_option, print_json, say
from surefit.errors import ExitCode, Refused, UsageError

if TYPE_CHECKING:
    from surefit.data import DatasetReport
    from surefit.models import ModelFacts
    from surefit.recipe import LoadedRecipe

_RECIPE_ENDINGS = (".yaml", ".yml")


@click.command("check")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "--model",
    metavar="DIR",
    help="The model, its name on the Hub, or `starter`: its tokenizer gives lengths and samples.",
)
@click.option(
    "--eval",
    "eval_rows",
    metavar="FILE",
    help="Rows to evaluate on: a file, or a share such as 5%.",
)
@click.option("--max-length", type=click.IntRange(min=8), metavar="N", help="Cut rows at N tokens.")
@click.option(
    "--format",
    "layout",
    metavar="NAME",
    help="Format of the rows: messages, sharegpt, alpaca, prompt_completion, text, preference or "
    "unpaired_preference. Default: recognised.",
)
@click.option(
    "--map",
    "mapping",
    multiple=True,
    metavar="ROLE=COLUMN",
    help="Which column holds what, such as prompt=question.",
)
@click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="FIELD=VALUE",
    help="A field of the recipe, such as goal.batch=32.",
)
@click.option(
    "--html",
    "page",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the report as one page to FILE as well.",
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
    page: Path | None,
    as_json: bool,
) -> ExitCode:
    """Find what is wrong with the training data in FILE, and show rows as they will be trained.

    FILE is data (JSONL, JSON, CSV, TSV, Parquet or Arrow, packed with gzip or zstd or not, a folder
    of them, or a data set on the Hugging Face Hub such as org/name:train), or a recipe in YAML
    whose data and model are then looked at. Ends with 0 when the data can be trained, with 1 when
    it cannot.
    """
    options = (
        *_as_changes(model, eval_rows, max_length, layout),
        *_as_columns(mapping),
        *changes,
    )
    loaded = (
        _recipe(file, options)
        if file.suffix.lower() in _RECIPE_ENDINGS
        else _from_file(file, options)
    )
    report = _report(loaded, with_model=model is not None or loaded.path is not None)
    if page is not None:
        from surefit.cli.checkpage import write_check_page

        write_check_page(report, file.name or str(file), page)
        say(f"the page is in {page}")
    if as_json:
        print_json(report.model_dump(mode="json"))
    else:
        from surefit.cli.checkview import check_text

        click.echo(check_text(report))
    return ExitCode.NO if report.verdict == "refuse" else ExitCode.DONE


def _as_changes(
    model: str | None, eval_rows: str | None, max_length: int | None, layout: str | None
) -> tuple[str, ...]:
    """The options as changes of a recipe: the same fields, the same checks."""
    given = {
        "model": model,
        "data.eval": eval_rows,
        "goal.max_length": max_length,
        "data.format": layout,
    }
    return tuple(f"{field}={value}" for field, value in given.items() if value is not None)


def _as_columns(mapping: tuple[str, ...]) -> tuple[str, ...]:
    if not mapping:
        return ()
    from surefit.recipe.data_spec import ColumnName

    for one in mapping:
        if "=" not in one.strip("="):
            raise UsageError(
                f"--map {one} names no column",
                "a mapping is a role and the column that holds it",
                "write it as --map prompt=question",
            )
        role = one.partition("=")[0]
        if role not in get_args(ColumnName):
            raise UsageError(
                f"--map {one}: there is no role {role!r}",
                f"the roles are {', '.join(get_args(ColumnName))}",
                "write the role before the =, the file's own name behind it",
            )
    return tuple(f"data.columns.{one}" for one in mapping)


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
    from surefit.hub import find_data
    from surefit.plan import planned_max_length
    from surefit.tokens import load_chat_tokenizer

    recipe, tokenizer, facts = loaded.recipe, None, None
    max_length = recipe.goal.max_length
    if with_model:
        tokenizer = load_chat_tokenizer(_tokenizer_folder(recipe.model, loaded.base_folder))
        facts = _facts(loaded)
        max_length = planned_max_length(recipe, facts) if facts else max_length
    with counting("reading the data") as told:
        return check_data(
            recipe.data,
            loaded.base_folder,
            tokenizer,
            max_length=max_length,
            batch=recipe.goal.batch,
            seed=recipe.goal.seed,
            progress=told,
            packing=recipe.how.packing,
            fetched=find_data(recipe.data, loaded.base_folder, say=say),
            model_limit=facts.max_positions if facts else None,
        )


def _tokenizer_folder(source: str, base_folder: Path) -> Path:
    """A folder of a tokenizer is enough to look at data; weights are needed to train only."""
    from surefit.hub import find_model
    from surefit.hub.names import hub_name
    from surefit.models import resolve_model_folder

    if hub_name(source, base_folder, "model", "model") is not None:
        return find_model(source, base_folder, say=say).folder
    folder = base_folder / Path(source).expanduser()
    if (folder / "tokenizer.json").is_file():
        return folder
    return resolve_model_folder(source, base_folder)


def _facts(loaded: "LoadedRecipe") -> "ModelFacts | None":
    """What is known of the model; of a folder with a tokenizer alone, nothing."""
    from surefit.hub import find_model

    try:
        return find_model(loaded.recipe.model, loaded.base_folder).facts
    except Refused:
        return None
