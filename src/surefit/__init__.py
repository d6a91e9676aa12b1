"""surefit: fine-tune language models with a verdict first and evidence last.

    from pathlib import Path
    import surefit

    loaded = surefit.load_recipe(Path("recipe.yaml"))
    ready = surefit.preflight(loaded)        # facts, data, plan; raises Refused with the reason
    run = surefit.start(ready)               # goes on when this process ends
    print(surefit.observe(run).state)

Names are imported when they are first used, so `import surefit` costs next to nothing.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from surefit.errors import OutsideError, RecipeError, Refused, SurefitError, UsageError
    from surefit.plan.plan import Plan
    from surefit.recipe import LoadedRecipe, Recipe, load_recipe, recipe_from
    from surefit.runs import Result, RunFolder, RunState, find_run_folder, list_run_folders
    from surefit.supervise import Preflight, RunView, observe, preflight, request_stop, start

__version__ = "0.1.0"

_HOMES = {
    "surefit.errors": ("OutsideError", "RecipeError", "Refused", "SurefitError", "UsageError"),
    "surefit.plan.plan": ("Plan",),
    "surefit.recipe": ("LoadedRecipe", "Recipe", "load_recipe", "recipe_from"),
    "surefit.runs": ("Result", "RunFolder", "RunState", "find_run_folder", "list_run_folders"),
    "surefit.supervise": ("Preflight", "RunView", "observe", "preflight", "request_stop", "start"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "LoadedRecipe",
    "OutsideError",
    "Plan",
    "Preflight",
    "Recipe",
    "RecipeError",
    "Refused",
    "Result",
    "RunFolder",
    "RunState",
    "RunView",
    "SurefitError",
    "UsageError",
    "__version__",
    "find_run_folder",
    "list_run_folders",
    "load_recipe",
    "observe",
    "preflight",
    "recipe_from",
    "request_stop",
    "start",
]


def __getattr__(name: str) -> Any:
    """Import a public name from the module it lives in."""
    if name not in _HOME_OF:
        raise AttributeError(f"module 'surefit' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
