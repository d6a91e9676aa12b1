"""Whole runs with the real worker: recipe to proven model, and its deaths."""

import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import tiny_run
from supervised import clean_home, nothing_left, record_of, wait_for, wait_for_state

from surefit.runs import RunFolder, RunState
from surefit.supervise import preflight, request_stop, start, wait_for_end

pytestmark = pytest.mark.process
SLOW = 180.0  # a busy machine loads torch in half a minute


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_run.write_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("SUREFIT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2] / "src"))
    with clean_home(tmp_path / "home") as folder:
        yield folder


def begin(folder: Path, model: Path, *, epochs: int = 2, only_rehearse: bool = False) -> RunFolder:
    from surefit.recipe import load_recipe

    rows = [json.dumps({"messages": one}) for one in tiny_run.conversations(40)]
    (folder / "rows.jsonl").write_text("\n".join(rows) + "\n")
    (folder / "recipe.yaml").write_text(
        f"model: {model}\ndata: {{train: rows.jsonl}}\nmethod: {{type: lora, rank: 4}}\n"
        f"goal: {{epochs: {epochs}, max_length: 128}}\nhow: {{threads: 1}}\n"
    )
    return start(preflight(load_recipe(folder / "recipe.yaml"), only_rehearse=only_rehearse))


def test_a_recipe_becomes_a_proven_model(tmp_path: Path, model: Path) -> None:
    run = begin(tmp_path, model)
    view = wait_for_end(run, SLOW)
    assert view.state is RunState.DONE, (view.cause, run.log.read_text()[-2000:])
    assert view.result is not None
    assert view.result.verification.change_from_base > 0
    assert view.exit is not None
    assert view.exit.code == 0
    assert run.supervisor_log.read_text() == ""


def test_a_rehearsal_is_done_by_its_own_evidence(tmp_path: Path, model: Path) -> None:
    run = begin(tmp_path, model, only_rehearse=True)
    view = wait_for_end(run, SLOW)
    assert view.state is RunState.DONE, (view.cause, run.log.read_text()[-2000:])
    assert not run.result.exists()


def test_a_killed_worker_is_diagnosed_within_3_seconds(tmp_path: Path, model: Path) -> None:
    run = begin(tmp_path, model, epochs=5000)
    wait_for_state(run, RunState.TRAINING, RunState.FAILED, seconds=SLOW)
    began = time.monotonic()
    os.kill(record_of(run).worker_pid or 0, signal.SIGKILL)
    view = wait_for_state(run, RunState.FAILED, seconds=3)
    assert time.monotonic() - began < 3
    assert view.diagnosis is not None
    assert view.diagnosis.failure_class == "KILLED"


def test_stop_keeps_a_checkpoint_and_leaves_no_process(
    tmp_path: Path, model: Path, home: Path
) -> None:
    run = begin(tmp_path, model, epochs=5000)
    wait_for_state(run, RunState.TRAINING, RunState.FAILED, seconds=SLOW)
    wait_for("a step", lambda: "metric" in run.events.read_text(), SLOW)
    began = time.monotonic()
    request_stop(run)
    view = wait_for_state(run, RunState.STOPPED, seconds=10)
    assert time.monotonic() - began < 10
    assert list(run.checkpoints.glob("step-*/manifest.json")), sys.version
    assert "is kept" in (view.cause or "")
    nothing_left(home)
