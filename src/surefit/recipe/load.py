"""From a file and `--set` options to a Recipe, or to an error that names file, line and field."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from surefit.errors import RecipeError, SurefitError
from surefit.recipe.batches import divisors
from surefit.recipe.document import Document, read_document
from surefit.recipe.overrides import apply_overrides, read_overrides
from surefit.recipe.places import Places
from surefit.recipe.problem import RecipeProblem
from surefit.recipe.problems import problems_of
from surefit.recipe.schema import Recipe
from surefit.recipe.source_file import read_text

_OPTIONAL_PARTS = frozenset({"method", "goal", "limits", "how"})


_WORDS = frozenset({"starter", "none"})  # they mean what they say, also beside a file of that name
_PATTERN = re.compile(r"[*?\[]")


@dataclass(frozen=True)
class LoadedRecipe:
    """A recipe with what it came from.

    `text` is the file as it was given; `recipe` also holds the overrides. Relative paths in the
    recipe start at `base_folder`.
    """

    recipe: Recipe
    text: str
    base_folder: Path
    path: Path | None = None
    overrides: tuple[str, ...] = field(default=())
    places: Places | None = field(default=None, repr=False, compare=False)

    def place_of(self, name: str) -> str:
        """Where a field such as `goal.epochs` was written: ``recipe.yaml:4: goal.epochs``."""
        return self.places.where(tuple(name.split("."))) if self.places else name

    def resolved(self) -> Recipe:
        """The recipe with whole paths: it means the same wherever its copy lies."""
        data = self.recipe.data
        changes = {"train": self._whole(data.train), "eval": data.eval and self._whole(data.eval)}
        return self.recipe.model_copy(
            update={
                "model": self._whole(self.recipe.model),
                "data": data.model_copy(update=changes),
            }
        )

    def _whole(self, name: str) -> str:
        """A path from the root where `name` is one; words such as `starter` and `5%` stay."""
        path = self.base_folder / Path(name).expanduser()
        is_path = path.exists() or (_PATTERN.search(path.name) and path.parent.is_dir())
        return str(path.absolute()) if is_path and name not in _WORDS else name


def load_recipe(path: Path, overrides: Sequence[str] = ()) -> LoadedRecipe:
    """Read a recipe from YAML, or from JSON where the name ends in `.json`.

    Args:
        path: the file.
        overrides: texts such as ``goal.epochs=3``, applied after the file.

    Raises:
        RecipeError: the file is no recipe; all problems are in `details["problems"]`.
        OutsideError: the file may not be read.
    """
    path = Path(path)
    name, text = str(path), read_text(path)
    document = read_document(text, name, is_json=path.suffix.lower() == ".json")
    values = _table(document, name)
    changes = read_overrides(overrides, path.absolute().parent)
    places = Places(name, document, changes)
    recipe = _validated(values, places)
    return LoadedRecipe(
        recipe, text, path.absolute().parent, path.absolute(), tuple(overrides), places
    )


def recipe_from(
    values: Mapping[str, Any], base_folder: Path, overrides: Sequence[str] = ()
) -> LoadedRecipe:
    """Make a recipe from values that stand in no file: a form, an API call, Python.

    Raises:
        RecipeError: the values are no recipe.
    """
    changes = read_overrides(overrides, base_folder)
    places = Places(None, Document(values, {}), changes)
    recipe = _validated(dict(values), places)
    return LoadedRecipe(recipe, "", base_folder.absolute(), None, tuple(overrides), places)


@contextmanager
def naming_places(loaded: LoadedRecipe) -> Iterator[None]:
    """Give errors that name a field of the recipe the file and line where it was written."""
    try:
        yield
    except SurefitError as error:
        if error.where and error.where.partition(".")[0] in Recipe.model_fields:
            error.where = loaded.place_of(error.where)
            error.args = (error.as_text(),)
        raise


def _validated(values: dict[str, Any], places: Places) -> Recipe:
    changed = _without_empty_parts(apply_overrides(values, places.changes))
    try:
        recipe = Recipe.model_validate(changed)
    except ValidationError as error:
        raise places.error(problems_of(error.errors(), changed)) from None
    problems = _impossible(recipe)
    if problems:
        raise places.error(problems)
    return recipe


def _without_empty_parts(values: dict[str, Any]) -> dict[str, Any]:
    """A part whose fields are all commented out (`goal:` and nothing under it) says nothing."""
    return {
        key: value
        for key, value in values.items()
        if value is not None or key not in _OPTIONAL_PARTS
    }


def _impossible(recipe: Recipe) -> list[RecipeProblem]:
    """Values that are right one by one and cannot go together."""
    problems = []
    batch, micro = recipe.goal.batch, recipe.how.micro_batch
    if micro and batch % micro:
        near = max(size for size in divisors(batch) if size <= micro)
        problems.append(
            RecipeProblem(
                ("how", "micro_batch"),
                f"how.micro_batch {micro} does not divide goal.batch {batch}",
                "a step is a whole number of equal micro-batches",
                f"set `how.micro_batch: {near}`, or `goal.batch: {math.ceil(batch / micro) * micro}`",
            )
        )
    share = recipe.data.eval_share
    if share is not None and not 0 < share < 1:
        problems.append(
            RecipeProblem(
                ("data", "eval"),
                f"data.eval must leave rows for training and for evaluation; it is {recipe.data.eval!r}",
                "a share lies between 0% and 100%",
                "set `data.eval: 5%`, or `data.eval: none`",
            )
        )
    return problems


def _table(document: Document, name: str) -> dict[str, Any]:
    values = document.values
    if isinstance(values, dict):
        return values
    found = "a list" if isinstance(values, list) else "empty" if values is None else "one value"
    line = document.line_of(()) or 1
    raise RecipeError(
        "a recipe must be a table of fields" if values is not None else "the recipe is empty",
        f"{name} is {found}; a recipe has at least `model` and `data.train`",
        f"begin with `surefit recipe --example > {name}`"
        if values is None
        else "write `model: starter` at the top",
        where=f"{name}:{line}",
    )
