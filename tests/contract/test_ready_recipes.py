"""Every recipe that is shipped can be trained: it is read, its data checked, its plan made."""

from pathlib import Path

import pytest

from surefit.recipe import load_recipe
from surefit.supervise import preflight

RECIPES = Path(__file__).resolve().parents[2] / "recipes"


def test_there_are_recipes_and_nothing_else() -> None:
    assert [path.name for path in RECIPES.iterdir() if path.suffix != ".yaml"] == []
    assert list(RECIPES.glob("*.yaml"))


@pytest.mark.parametrize("path", sorted(RECIPES.glob("*.yaml")), ids=lambda path: path.stem)
def test_a_shipped_recipe_passes_everything_that_comes_before_a_run(path: Path) -> None:
    ready = preflight(load_recipe(path))
    assert ready.report.verdict != "refuse"
    assert ready.report.usable > 0
    assert ready.plan.verdict in {"fits", "tight"}
    assert ready.plan.training.steps > 0


@pytest.mark.parametrize("path", sorted(RECIPES.glob("*.yaml")), ids=lambda path: path.stem)
def test_a_shipped_recipe_says_what_it_is_for(path: Path) -> None:
    assert path.read_text(encoding="utf-8").startswith("# ")
