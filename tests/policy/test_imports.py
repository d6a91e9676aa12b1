"""What `import surefit` costs, and which names it gives."""

import ast
import importlib
import subprocess
import sys

import pytest
from policy.project import SOURCE, syntax_tree

import surefit

HEAVY = [
    "torch",
    "transformers",
    "peft",
    "trl",
    "accelerate",
    "numpy",
    "datasets",
    "safetensors",
]
PUBLIC_NAMES = [
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
MODULES = sorted(
    f"surefit.{path.stem}"
    for path in SOURCE.iterdir()
    if path.stem not in {"train", "__main__", "__init__"}
    and (path.suffix == ".py" or (path / "__init__.py").exists())
)


def loaded_after(statement: str) -> set[str]:
    """The modules that a fresh interpreter holds after a statement."""
    code = f"import sys; {statement}; print(*sys.modules)"
    listed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return set(listed.stdout.split())


def test_importing_surefit_loads_nothing_heavy() -> None:
    loaded = loaded_after("import surefit")
    assert not loaded & {*HEAVY, "pydantic", "rich", "click", "yaml", "tokenizers"}


def test_no_layer_loads_the_training_stack() -> None:
    loaded = loaded_after("import " + ", ".join(MODULES))
    assert not loaded & set(HEAVY)


def test_the_help_page_loads_neither_types_nor_tables() -> None:
    call = "from surefit.cli.entry import run; run(['--help'])"
    assert not loaded_after(call) & {*HEAVY, "pydantic", "rich", "yaml", "tokenizers"}


def test_the_public_names_are_exactly_the_intended_ones() -> None:
    assert sorted(surefit.__all__) == sorted(PUBLIC_NAMES)


@pytest.mark.parametrize("name", PUBLIC_NAMES)
def test_a_public_name_can_be_imported(name: str) -> None:
    assert getattr(surefit, name) is not None


def test_the_editor_sees_the_same_names_as_the_interpreter() -> None:
    typed = {
        alias.name
        for node in ast.walk(syntax_tree(SOURCE / "__init__.py"))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("surefit.")
        for alias in node.names
    }
    assert typed | {"__version__"} == set(surefit.__all__)


@pytest.mark.parametrize("module", MODULES)
def test_what_a_module_calls_public_exists(module: str) -> None:
    loaded = importlib.import_module(module)
    assert [name for name in getattr(loaded, "__all__", []) if not hasattr(loaded, name)] == []
