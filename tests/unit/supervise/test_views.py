"""What a view says about a run, from events and files alone."""

import time
from pathlib import Path

import pytest

from surefit.launch.process import boot_id
from surefit.runs import Heartbeat, Metric, Phase, RunFolder, RunState, Status, create_run_folder
from surefit.supervise import RunView, list_runs, observe
from surefit.supervise.listing import register
from surefit.supervise.records import SupervisorRecord
from surefit.supervise.view import Story


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUREFIT_HOME", str(tmp_path))


def metric(step: int, loss: float | None, when: float = 0.0) -> Metric:
    return Metric(time=when, step=step, steps=100, epoch=0.1, loss=loss)


def test_figures_are_folded_from_events() -> None:
    story = Story()
    story.see(Status(time=1, state=RunState.TRAINING))
    story.see(Phase(name="train", status="started"))
    for step in range(1, 11):
        story.see(metric(step, 5.0 - 0.3 * step, when=2.0 * step))
    assert story.phase is not None
    assert (story.phase.name, story.trend, story.first_loss) == ("train", "falling", 4.7)
    assert story.seconds_left == pytest.approx(180)
    story.see(Status(time=99, state=RunState.FAILED, cause="because"))
    assert (story.phase, story.seconds_left, story.ended) == (None, None, 99)


@pytest.mark.parametrize(("slope", "trend"), [(0.0, "flat"), (0.5, "rising"), (-0.1, "falling")])
def test_the_trend_compares_the_newer_half_with_the_older(slope: float, trend: str) -> None:
    story = Story()
    for step in range(1, 9):
        story.see(metric(step, 3 + slope * step))
    assert story.trend == trend


def test_a_run_whose_processes_are_gone_is_lost_with_evidence() -> None:
    run = create_run_folder("gone")
    run.append(Status(state=RunState.QUEUED))
    run.append(Status(state=RunState.TRAINING))
    run.write(run.heartbeat(0), Heartbeat(rank=0, phase="train", step=40, time=time.time() - 180))
    dead = {"pid": 999_999_998, "start_time": 1, "worker_pid": 999_999_999, "worker_start_time": 1}
    run.write(run.supervisor, SupervisorRecord(**dead, boot="another start of the machine"))
    view = observe(run, recover=False)
    assert view.state is RunState.LOST
    assert view.cause == view.evidence[0]
    for words in ("999999998", "999999999", "started again since", "3 min", "phase train, step 40"):
        assert words in (view.cause or "")


def test_a_number_that_means_another_process_now_is_not_alive() -> None:
    import os

    run = create_run_folder("reused")
    run.append(Status(state=RunState.QUEUED))
    run.write(run.supervisor, SupervisorRecord(pid=os.getpid(), start_time=1, boot=boot_id()))
    assert observe(run, recover=False).state is RunState.LOST


def test_a_run_just_written_is_no_lost_run() -> None:
    run = create_run_folder("new")
    assert observe(run).state is RunState.CREATED


def ended(number: int) -> RunFolder:
    run = create_run_folder(f"run-{number:04d}")
    run.append(Status(time=1000.0 + number, state=RunState.QUEUED))
    run.append(metric(3, 2.5))
    run.append(Status(state=RunState.FAILED, cause="the disk is full"))
    return run


def test_a_list_is_the_same_with_and_without_index(tmp_path: Path) -> None:
    for number in range(5):
        register(ended(number))
    quick = list_runs()
    (tmp_path / "index.sqlite3").unlink()
    assert list_runs() == quick
    assert [view.id for view in quick] == [f"run-000{n}" for n in (4, 3, 2, 1, 0)]


def test_a_stale_row_does_not_count() -> None:
    run = ended(1)
    register(run)
    run.append(Status(state=RunState.DONE))
    assert [view.state for view in list_runs()] == [RunState.DONE]


def test_a_view_survives_json() -> None:
    view = observe(ended(1))
    assert RunView.model_validate_json(view.model_dump_json(by_alias=True)) == view


def test_1000_ended_runs_are_listed_in_less_than_300_ms() -> None:
    for number in range(1000):
        ended(number)
    assert len(list_runs()) == 1000  # fills the index
    times = []
    for _ in range(3):
        began = time.perf_counter()
        assert len(list_runs()) == 1000
        times.append(time.perf_counter() - began)
    assert min(times) < 0.3
