"""From a file and `--set` options to a Recipe, or to an error that names file, line and field."""

import difflib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from surefit.errors import RecipeError
from surefit.home import disk_error
from surefit.recipe.document import MAX_BYTES, Document, KeyPath, read_document
from surefit.recipe.overrides import Override, apply_overrides, read_overrides
from surefit.recipe.problems import RecipeProblem, problems_of
from surefit.recipe.schema import Recipe
from surefit.units import count_text, plural

_OPTIONAL_PARTS = frozenset({"method", "goal", "limits", "how"})


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
    name, text = str(path), _read_text(path)
    document = read_document(text, name, is_json=path.suffix.lower() == ".json")
    values = _table(document, name)
    changes = read_overrides(overrides, path.absolute().parent)
    recipe = _validated(values, name, document, changes)
    return LoadedRecipe(recipe, text, path.absolute().parent, path.absolute(), tuple(overrides))


def recipe_from(
    values: Mapping[str, Any], base_folder: Path, overrides: Sequence[str] = ()
) -> LoadedRecipe:
    """Make a recipe from values that stand in no file: a form, an API call, Python.

    Raises:
        RecipeError: the values are no recipe.
    """
    changes = read_overrides(overrides, base_folder)
    recipe = _validated(dict(values), None, Document(values, {}), changes)
    return LoadedRecipe(recipe, "", base_folder.absolute(), None, tuple(overrides))


def _validated(
    values: dict[str, Any], name: str | None, document: Document, changes: Sequence[Override]
) -> Recipe:
    changed = _without_empty_parts(apply_overrides(values, changes))
    places = _Places(name, document, changes)
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


@dataclass(frozen=True)
class _Places:
    """Where each value came from: a line of the file, or an override."""

    name: str | None
    document: Document
    changes: Sequence[Override]

    def error(self, problems: Sequence[RecipeProblem]) -> RecipeError:
        ordered = sorted(problems, key=lambda problem: self._line(problem.path) or 0)
        first, others = ordered[0], ordered[1:]
        also = [
            f"{self._where(problem, short=True)}{problem.what}; {problem.next_step}"
            for problem in others
        ]
        return RecipeError(
            first.what,
            first.why,
            first.next_step,
            where=self._where(first) or None,
            details={"problems": [self._record(problem) for problem in ordered], "also": also},
        )

    def _line(self, path: KeyPath) -> int | None:
        return None if self._override(path) else self.document.line_of(path)

    def _override(self, path: KeyPath) -> Override | None:
        # The last one that touches the field is the one that counts.
        for change in reversed(self.changes):
            if path[: len(change.path)] == change.path:
                return change
        return None

    def _where(self, problem: RecipeProblem, *, short: bool = False) -> str:
        change = self._override(problem.path)
        end = ": " if short else f": {problem.field}"
        if change:
            return f"--set {change.text}{end}"
        if self.name is None:
            return "" if short else problem.field
        line = self._line(problem.path)
        return f"{self.name}:{line}{end}" if line else f"{self.name}{end}"

    def _record(self, problem: RecipeProblem) -> dict[str, Any]:
        change = self._override(problem.path)
        return {
            "file": None if change else self.name,
            "line": self._line(problem.path),
            "set": change.text if change else None,
            "field": problem.field,
            "what": problem.what,
            "why": problem.why,
            "next": problem.next_step,
        }


def _impossible(recipe: Recipe) -> list[RecipeProblem]:
    """Values that are right one by one and cannot go together."""
    problems = []
    batch, micro = recipe.goal.batch, recipe.how.micro_batch
    if micro and batch % micro:
        near = max(size for size in range(1, min(micro, batch) + 1) if batch % size == 0)
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


def _read_text(path: Path) -> str:
    try:
        content = path.read_bytes() if path.stat().st_size <= MAX_BYTES else None
    except FileNotFoundError as error:
        raise _missing_file(path) from error
    except IsADirectoryError as error:
        raise _folder(path) from error
    except OSError as error:
        raise disk_error(f"cannot read the recipe {path}", error, path) from error
    if path.is_dir():
        raise _folder(path)
    if content is None:
        raise RecipeError(
            f"{path} is too large for a recipe",
            f"it has {count_text(path.stat().st_size)} bytes; a recipe is a page of text",
            "name the recipe, not the data: `surefit recipe --example` prints one",
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise RecipeError(
            f"{path} is not a text file in UTF-8",
            f"the byte 0x{content[error.start]:02x} at position {count_text(error.start)} is no UTF-8",
            "name a recipe in YAML, or save the file as UTF-8",
            where=f"{path}:{line}",
        ) from error


def _missing_file(path: Path) -> RecipeError:
    folder = path.absolute().parent
    if not folder.is_dir():
        return RecipeError(
            f"there is no recipe {path}",
            f"the folder {folder} does not exist",
            "check the path, or run `surefit recipe --example`",
        )
    recipes = sorted(
        entry.name
        for entry in folder.iterdir()
        if entry.suffix.lower() in (".yaml", ".yml", ".json")
    )
    near = difflib.get_close_matches(path.name, recipes, n=1, cutoff=0.5)
    if near:
        next_step = f"did you mean {path.with_name(near[0])}?"
    elif recipes and len(recipes) <= 5:
        next_step = f"name one of {', '.join(recipes)}"
    else:
        next_step = f"write one with `surefit recipe --example > {path}`"
    return RecipeError(
        f"there is no recipe {path}",
        f"{folder} holds {plural(len(recipes), 'YAML or JSON file')}, and none of this name",
        next_step,
    )


def _folder(path: Path) -> RecipeError:
    recipes = sorted(entry for entry in path.glob("*.yaml"))
    example = recipes[0] if recipes else path / "recipe.yaml"
    return RecipeError(
        f"{path} is a folder",
        "a recipe is a file in YAML or JSON",
        f"name the file, such as {example}",
    )
