"""Model and data of a recipe, here or on the Hub. What lies here needs no code of the network."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from surefit.data.finding_files import Fetched
from surefit.data.row import Side
from surefit.hub.cache import missing_files
from surefit.hub.names import hub_name
from surefit.models import ModelFacts, read_model_facts
from surefit.recipe.data_spec import DataSpec

Say = Callable[[str], None]


def silent(_text: str) -> None:
    """Says nothing."""


@dataclass(frozen=True)
class FoundModel:
    """A model with the folder of its small files, and what a person should know about how it was found."""

    facts: ModelFacts
    folder: Path
    remark: str = ""


def find_model(source: str, base_folder: Path, *, say: Say = silent) -> FoundModel:
    """The facts of a recipe's model.

    A folder that exists is read; else a name such as `org/name@revision` is looked up on the Hub.

    Args:
        source: as in the recipe.
        base_folder: the folder of the recipe.
        say: told that the Hub is asked, and what is tried again.

    Raises:
        RecipeError: there is no such folder, and nothing of that name that can be seen on the Hub.
        Refused: it is no model that surefit trains.
        OutsideError: gated, no valid token, no network, too many requests.
    """
    name = hub_name(source, base_folder, "model", "model")
    if name is None:
        facts = read_model_facts(source, base_folder)
        return FoundModel(facts, Path(facts.folder))
    from surefit.hub.models import model_of_hub

    return model_of_hub(source, name, say)


def find_data(spec: DataSpec, base_folder: Path, *, say: Say = silent) -> Fetched:
    """The files of what `data.train` and `data.eval` name on the Hub; paths are left alone.

    Files come one by one into the cache, so that memory does not grow with the data.

    Args:
        spec: the recipe's data.
        base_folder: the folder of the recipe.
        say: told what is fetched, how far it is, and what is tried again.

    Raises:
        RecipeError: no such data set, subset or split.
        Refused: it holds no file that surefit reads.
        OutsideError: gated, no valid token, no network, no room.
    """
    found: Fetched = {}
    has_eval = spec.eval and spec.eval_share is None and spec.eval != "none"
    wanted: dict[Side, str | None] = {"train": spec.train, "eval": spec.eval if has_eval else None}
    for side, source in wanted.items():
        name = hub_name(source, base_folder, "dataset", f"data.{side}") if source else None
        if source and name is not None:
            from surefit.hub.datasets import files_of

            found[side, source] = files_of(name, side, source, say)
    return found


def refuse_unfetchable(facts: ModelFacts) -> None:
    """Refuse to start a run whose worker could not fetch the weights: offline, or no room for them.

    Raises:
        OutsideError: names what is missing, and what forbids to fetch it.
    """
    missing = missing_files(facts)
    if facts.hub is not None and missing:
        from surefit.hub.models import refuse_missing

        refuse_missing(facts, facts.hub, missing)
