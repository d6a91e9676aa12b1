"""Going on with an interrupted run: same losses, same model, or a refusal in words."""

import json
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
import tiny_run
from supervised import clean_home, kill, record_of, wait_for, wait_for_state

from surefit.errors import Refused, UsageError
from surefit.recipe import load_recipe
from surefit.runs import Metric, Note, RunFolder, RunState, Status
from surefit.supervise import (
    newest_interrupted,
    preflight,
    request_stop,
    resume,
    start,
    wait_for_end,
)

pytestmark = pytest.mark.process
SLOW = 240.0
WEIGHTS = "adapter_model.safetensors"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_run.write_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("resuming")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("SUREFIT_HOME", str(folder / "home"))
        environment.setenv("PYTHONPATH", str(Path(__file__).parents[2] / "src"))
        with clean_home(folder / "home"):
            yield folder


def begin(folder: Path, model: Path, name: str) -> RunFolder:
    """A run of 75 steps over 40 rows; a checkpoint every 5."""
    place = folder / name
    place.mkdir(parents=True)
    rows = [json.dumps({"messages": one}) for one in tiny_run.conversations(40)]
    (place / "rows.jsonl").write_text("\n".join(rows) + "\n")
    shutil.copytree(model, place / "base")
    (place / "recipe.yaml").write_text(
        "model: base\ndata: {train: rows.jsonl}\nmethod: {type: lora, rank: 4, dropout: 0.1}\n"
        "goal: {epochs: 15, max_length: 128, learning_rate: 1e-3}\n"
        "how: {threads: 1, checkpoint_every_steps: 5, keep_checkpoints: 3}\n"
    )
    return start(preflight(load_recipe(place / "recipe.yaml")), name)


def losses(run: RunFolder) -> dict[int, float | None]:
    """Loss by step; of a step that was made twice the later one."""
    found = (event for _, event in run.read_events())
    return {one.step: one.loss for one in found if isinstance(one, Metric)}


def step_of(run: RunFolder) -> int:
    return max(losses(run), default=0)


def states(run: RunFolder) -> list[str]:
    return [str(event.state) for _, event in run.read_events() if isinstance(event, Status)]


@pytest.fixture(scope="module")
def unstopped(home: Path, model: Path) -> RunFolder:
    run = begin(home, model, "unstopped")
    assert wait_for_end(run, SLOW).state is RunState.DONE
    return run


@pytest.fixture(scope="module")
def killed(home: Path, model: Path) -> RunFolder:
    """A run whose worker was killed, and whose newest checkpoint is damaged."""
    run = begin(home, model, "killed")
    wait_for("16 steps", lambda: step_of(run) >= 16, SLOW)
    kill(record_of(run).worker_pid or 0)
    wait_for_state(run, RunState.FAILED)
    newest = max(run.checkpoints.glob("step-*"), key=lambda path: int(path.name[5:]))
    with (newest / "optimizer.pt").open("r+b") as handle:
        handle.write(b"damage")
    return run


def test_a_changed_data_set_or_base_is_refused_in_words(killed: RunFolder, home: Path) -> None:
    rows, weights = home / "killed" / "rows.jsonl", home / "killed" / "base" / "model.safetensors"
    kept = rows.read_bytes(), weights.read_bytes()
    rows.write_bytes(kept[0] + b'{"messages": []}\n')
    with pytest.raises(Refused, match="data changed") as refused:
        resume(killed)
    assert str(rows) in refused.value.what
    assert "--old-data" in refused.value.next_step
    weights.write_bytes(kept[1][:-4] + b"\1\2\3\4")
    with pytest.raises(Refused, match="base model") as refused:
        resume(killed, old_data=True)
    assert "model.safetensors" in refused.value.why
    rows.write_bytes(kept[0])
    weights.write_bytes(kept[1])
    assert killed.state()[0] is RunState.FAILED


def test_only_limits_may_change(killed: RunFolder) -> None:
    with pytest.raises(UsageError, match=r"goal\.epochs=3"):
        resume(killed, ("goal.epochs=3",))


def test_sigkill_then_resume_gives_the_same_losses_and_the_same_model(
    killed: RunFolder, unstopped: RunFolder
) -> None:
    newest = max(killed.checkpoints.glob("step-*"), key=lambda path: int(path.name[5:])).name
    assert newest_interrupted().id == killed.id
    found = resume(killed, ("limits.hours=5",))
    assert [one.name for one in found.broken] == [newest]
    assert "optimizer.pt" in found.broken[0].why
    view = wait_for_end(killed, SLOW)
    assert view.state is RunState.DONE, view.cause
    assert losses(killed) == losses(unstopped)
    assert (killed.model / WEIGHTS).read_bytes() == (unstopped.model / WEIGHTS).read_bytes()
    assert states(killed)[-4:] == ["queued", "training", "verifying", "done"]
    assert (killed.attempts / "1" / "diagnosis.json").exists()
    assert any(isinstance(note, Note) and newest in note.text for note in view.notes)
    assert "hours" in killed.recipe.read_text()
    with pytest.raises(UsageError, match="is done"):
        resume(killed)


def test_a_stopped_run_goes_on_as_if_never_stopped_also_when_everything_is_killed_at_once(
    home: Path, model: Path, unstopped: RunFolder
) -> None:
    run = begin(home, model, "stopped")
    wait_for("6 steps", lambda: step_of(run) >= 6, SLOW)
    with pytest.raises(UsageError, match="has not ended"):
        resume(run)
    request_stop(run)
    wait_for_state(run, RunState.STOPPED)
    resume(run)
    wait_for("21 steps", lambda: step_of(run) >= 21, SLOW)
    record = record_of(run)
    os.kill(record.pid, signal.SIGKILL)
    kill(record.worker_pid or 0)
    wait_for_state(run, RunState.LOST)
    resume(run)
    assert wait_for_end(run, SLOW).state is RunState.DONE
    assert losses(run) == losses(unstopped)
    assert (run.model / WEIGHTS).read_bytes() == (unstopped.model / WEIGHTS).read_bytes()


def test_sigterm_from_a_scheduler_is_an_interruption_with_a_checkpoint(
    home: Path, model: Path
) -> None:
    run = begin(home, model, "scheduler")
    wait_for("6 steps", lambda: step_of(run) >= 6, SLOW)
    os.kill(record_of(run).worker_pid or 0, signal.SIGTERM)
    view = wait_for_state(run, RunState.STOPPED)
    assert view.exit is not None
    assert view.exit.code == 75
    assert "interrupted" in (view.cause or "")
    assert "surefit resume scheduler" in (view.cause or "")
