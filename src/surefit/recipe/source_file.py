"""The text of a recipe's file, or words for why there is none."""

from pathlib import Path

from surefit.errors import RecipeError
from surefit.home import disk_error, refuse_irregular
from surefit.recipe.document import MAX_BYTES
from surefit.recipe.near_names import near_files
from surefit.units import count_text, plural


def read_text(path: Path) -> str:
    """Read a file of at most a megabyte as UTF-8.

    Raises:
        RecipeError: it is missing, a folder, too large or no text.
        OutsideError: it may not be read.
    """
    try:
        refuse_irregular(path, open_pipes=True)
        with path.open("rb") as handle:
            content = handle.read(MAX_BYTES + 1)
    except FileNotFoundError as error:
        raise _missing_file(path) from error
    except IsADirectoryError as error:
        raise _folder(path) from error
    except OSError as error:
        raise disk_error(f"cannot read the recipe {path}", error, path) from error
    if len(content) > MAX_BYTES:
        raise RecipeError(
            f"{path} is too large for a recipe",
            f"it has more than {count_text(MAX_BYTES)} bytes; a recipe is a page of text",
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
    near = near_files(path.name, recipes)
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
