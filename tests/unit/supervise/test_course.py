"""The states that phases mean, and only legal moves on record."""

from itertools import pairwise
from pathlib import Path

import pytest

from surefit.runs import MOVES, Phase, PhaseName, RunFolder, RunState, Status
from surefit.supervise.course import Course


def states(run: RunFolder) -> list[RunState]:
    return [event.state for _, event in run.read_events() if isinstance(event, Status)]


def see(course: Course, *steps: str) -> None:
    """`+name` begins a phase, `-name` ends it."""
    for step in steps:
        name: PhaseName = step[1:]  # type: ignore[assignment]
        course.see(Phase(name=name, status="started" if step[0] == "+" else "ended"))


WHOLE = "+import -import +rehearsal +save -save +verify -verify -rehearsal +first_step -first_step +train"


def test_a_rehearsal_rehearses_saving_and_a_checkpoint_is_training(tmp_path: Path) -> None:
    course = Course(RunFolder(tmp_path), RunState.QUEUED)
    see(course, *WHOLE.split(), "+save", "-save", "+eval", "-eval")
    assert course.state is RunState.TRAINING
    see(course, "-train", "+save", "-save", "+verify", "-verify")
    assert states(RunFolder(tmp_path)) == ["rehearsing", "training", "verifying"]


def test_a_phase_never_leads_back(tmp_path: Path) -> None:
    course = Course(RunFolder(tmp_path), RunState.VERIFYING)
    see(course, "+rehearsal", "-rehearsal", "+train")
    assert states(RunFolder(tmp_path)) == []


@pytest.mark.parametrize("start", list(RunState))
@pytest.mark.parametrize("end", [RunState.DONE, RunState.FAILED, RunState.STOPPED, RunState.LOST])
def test_an_end_is_reached_by_legal_moves_alone(
    tmp_path: Path, start: RunState, end: RunState
) -> None:
    if start.is_final and start is not RunState.LOST:
        return
    Course(RunFolder(tmp_path), start).move(end)
    way = [start, *states(RunFolder(tmp_path))]
    assert way[-1] is end
    assert all(after in MOVES[before] for before, after in pairwise(way))


def test_a_rehearsal_that_did_not_happen_is_not_claimed(tmp_path: Path) -> None:
    Course(RunFolder(tmp_path), RunState.QUEUED).move(RunState.DONE)
    assert states(RunFolder(tmp_path)) == ["training", "verifying", "done"]


def test_a_lost_run_that_is_found_goes_on(tmp_path: Path) -> None:
    course = Course(RunFolder(tmp_path), RunState.LOST)
    see(course, "+train")
    assert course.state is RunState.TRAINING
