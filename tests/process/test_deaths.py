"""Every kind of death, with one rank and with two: the right diagnosis, in time, and nothing lost."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import tiny_run
from deaths import DEATHS, Death, allowed, die
from supervised import clean_home

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_run.write_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("SUREFIT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2] / "src"))
    with clean_home(tmp_path / "home") as folder:
        yield folder


@pytest.mark.parametrize("death", DEATHS, ids=lambda one: one.fault)
def test_a_death_is_diagnosed_in_time_and_nothing_is_lost(
    tmp_path: Path, model: Path, death: Death
) -> None:
    if death.needs_root and (why := allowed()):
        pytest.skip(why)
    outcome = die(death, tmp_path, model)
    assert outcome.found == death.expected, outcome.view.cause
    assert death.words in outcome.view.model_dump_json()
    assert outcome.lost == ()
    assert outcome.seconds < death.seconds
