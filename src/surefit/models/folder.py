"""Find the folder that a recipe's `model` names, and say what is there when it is no model."""

import re
from pathlib import Path

from surefit.errors import OutsideError, RecipeError, Refused, WorkerExit
from surefit.recipe.near_names import near_files

STARTER = "starter"
_STARTER_FOLDER = Path(__file__).parent / "starter"
_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")
_PICKLE_SUFFIXES = (".bin", ".pt", ".pth", ".ckpt", ".pkl")


def resolve_model_folder(source: str, base_folder: Path) -> Path:
    """The absolute folder of a model.

    Args:
        source: as in the recipe: `starter`, or a folder, relative to `base_folder` or absolute.
        base_folder: the folder of the recipe.

    Raises:
        RecipeError: there is no such folder, or it is a file.
        Refused: the folder holds something else than a model in a format that surefit trains.
        OutsideError: the folder may not be read.
    """
    named = (base_folder / Path(source).expanduser()).absolute()
    folder = _STARTER_FOLDER if source == STARTER else named
    try:
        if folder.is_dir():
            names = sorted(entry.name for entry in folder.iterdir())
        elif folder.exists():
            raise _is_a_file(source, folder)
        else:
            raise _missing(source, folder)
    except PermissionError as error:
        raise OutsideError(
            f"cannot read the model folder {folder}",
            error.strerror or str(error),
            f"give yourself the permission: `chmod -R u+rX {folder}`",
            where="model",
            worker_exit=WorkerExit.NO_PERMISSION,
        ) from error
    _refuse_other_contents(source, folder, names)
    return folder


def _is_a_file(source: str, folder: Path) -> RecipeError:
    if folder.suffix == ".gguf":
        return RecipeError(
            f"{source!r} is a GGUF file",
            "GGUF holds weights quantised for inference; they cannot be trained",
            "name the folder of the original model, with config.json and *.safetensors files",
            where="model",
        )
    return RecipeError(
        f"{source!r} is a file, not the folder of a model",
        f"{folder} exists, but a model is a folder with config.json, tokenizer.json and "
        "*.safetensors",
        f"set `model: {folder.parent}` if this file belongs to the model there",
        where="model",
    )


def _missing(source: str, folder: Path) -> RecipeError:
    near = _near_names(folder)
    if near:
        return RecipeError(
            f"there is no model folder {source!r}",
            f"{folder} does not exist; {folder.parent} holds {', '.join(near)}",
            f"set `model: {_beside(source, near[0])}` if that is the one",
            where="model",
        )
    if _HUB_NAME.fullmatch(source):
        return RecipeError(
            f"there is no model folder {source!r}",
            f"{folder} does not exist; {source.partition('/')[0]} does, so the name is taken for a "
            "path here and not looked up on the Hugging Face Hub",
            f"correct the path, or set `model: hf://{source}` if you mean the Hub",
            where="model",
        )
    return RecipeError(
        f"there is no model folder {source!r}",
        f"{folder} does not exist (paths are relative to the folder of the recipe)",
        f"set `model:` to a folder with config.json, or try the model that comes along: "
        f"`model: {STARTER}`",
        where="model",
    )


def _near_names(folder: Path) -> list[str]:
    try:
        siblings = [entry.name for entry in folder.parent.iterdir() if entry.is_dir()]
    except OSError:
        return []
    return near_files(folder.name, siblings, most=3)


def _beside(source: str, name: str) -> str:
    return str(Path(source).parent / name)


def _refuse_other_contents(source: str, folder: Path, names: list[str]) -> None:
    """Name what a folder holds when it cannot be a base model."""
    safetensors = [name for name in names if name.endswith(".safetensors")]
    pickles = [
        name for name in names if name.endswith(_PICKLE_SUFFIXES) and name != "training_args.bin"
    ]
    if "config.json" not in names and "adapter_config.json" in names:
        raise Refused(
            f"{source!r} is an adapter, not a model",
            f"{folder} holds adapter_config.json and no config.json: it changes a base model, and "
            "this version trains new adapters on base models only",
            "set `model:` to the folder of the base model, or merge the adapter into it first",
            where="model",
        )
    if "config.json" not in names:
        raise Refused(
            f"{source!r} is no model: it has no config.json",
            f"{folder} holds {_some(names) or 'nothing'}",
            _where_a_model_may_be(folder, names),
            where="model",
        )
    if safetensors or "model.safetensors.index.json" in names:
        return
    if pickles:
        raise Refused(
            f"{source!r} has its weights in {pickles[0]}, a format that can run code when it "
            "is opened",
            f"{_some(pickles)}: pickle files are programs, and surefit opens *.safetensors only",
            "download the safetensors version of the model, or convert it on a machine where you "
            "trust the file: load it there with transformers and call `save_pretrained`",
            where="model",
        )
    gguf = [name for name in names if name.endswith(".gguf")]
    if gguf:
        raise Refused(
            f"{source!r} has its weights in {gguf[0]}",
            "GGUF holds weights quantised for inference; they cannot be trained",
            "use the original model, with *.safetensors files",
            where="model",
        )
    raise Refused(
        f"{source!r} has no weights",
        f"{folder} holds {_some(names)}, and no *.safetensors file",
        "copy or download the weights into that folder: model.safetensors, or all of its parts and "
        "model.safetensors.index.json",
        where="model",
    )


def _some(names: list[str]) -> str:
    shown = ", ".join(names[:4])
    return f"{shown} and {len(names) - 4} more" if len(names) > 4 else shown


def _where_a_model_may_be(folder: Path, names: list[str]) -> str:
    inner = [name for name in names if (folder / name / "config.json").is_file()]
    if inner:
        return f"its folder {inner[0]} is a model: set `model: {folder / inner[0]}`"
    return "set `model:` to a folder with config.json, tokenizer.json and *.safetensors"
