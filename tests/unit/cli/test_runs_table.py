"""The list of runs: columns that stay columns, and a run that nobody watches is said so."""

import re
import time
from pathlib import Path

import pytest

from surefit.cli.ending import view_record
from surefit.cli.runs import _progress, _table
from surefit.runs import RunState
from surefit.supervise import RunView


def _view(name: str, seconds: float, **changes: object) -> RunView:
    values: dict[str, object] = {
        "id": name,
        "folder": f"/runs/{name}",
        "state": RunState.TRAINING,
        "created": time.time() - seconds,
        "watched": True,
    }
    return RunView.model_validate(values | changes)


@pytest.mark.parametrize("seconds", [0.01, 5, 16 * 60 + 30, 23 * 3600 + 59 * 60, 400 * 86_400])
def test_columns_begin_at_the_same_place(seconds: float) -> None:
    views = [_view("a", seconds, cause="cause"), _view("longer-name", 1, cause="cause")]
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in _table(views)]
    assert len({line.rindex("  ") for line in lines}) == 1


def test_a_run_that_nobody_watches_is_said_so() -> None:
    words = (
        "the supervisor is gone, the worker lives and trains on",
        "a new supervisor was started",
    )
    view = _view("a", 1, watched=False, alive=True, evidence=words)
    assert view.unwatched == "; ".join(words)
    assert _progress(view) == view.unwatched
    assert view_record(view)["evidence"] == list(words)
    assert view_record(view)["watched"] is False


def test_a_watched_run_has_nothing_to_say_about_it(tmp_path: Path) -> None:
    assert _view("a", 1, folder=str(tmp_path)).unwatched is None
