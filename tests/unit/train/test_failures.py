"""Whatever ends a worker becomes words, an event and the right exit code."""

import errno
import signal
from pathlib import Path

import pytest

from surefit.errors import OutsideError, SurefitError, WorkerExit
from surefit.runs.event import Note, Problem
from surefit.runs.folder import RunFolder
from surefit.train.failures import NumericFailure, WorkerEnd, in_words
from surefit.train.journal import Journal
from surefit.train.stop import StopRequested, StopSignal


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (MemoryError(), WorkerExit.HOST_MEMORY, "machine ran out of memory in the phase train"),
        (
            RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory"),
            WorkerExit.HOST_MEMORY,
            "DefaultCPUAllocator",
        ),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), WorkerExit.HOST_MEMORY, "memory"),
        (OSError(errno.ENOSPC, "No space left on device"), WorkerExit.DISK, "disk is full"),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), WorkerExit.DISK, "quota"),
        (RuntimeError("I/O error: No space left on device (os error 28)"), WorkerExit.DISK, "28"),
        (KeyError("splits"), WorkerExit.BUG, "KeyError"),
        (ValueError(), WorkerExit.BUG, "ValueError"),
    ],
)
def test_an_exception_becomes_words_and_an_exit_code(
    tmp_path: Path, error: BaseException, code: WorkerExit, told: str
) -> None:
    known = in_words(error, "train", tmp_path)
    assert known.worker_exit == code
    assert told in known.as_text()


def test_an_error_that_has_words_keeps_them(tmp_path: Path) -> None:
    error = OutsideError("what", "why", "next")
    assert in_words(error, "train", tmp_path) is error


def end_with(
    folder: Path, error: BaseException, phases: tuple[str, ...] = ()
) -> tuple[int, list[object]]:
    journal = Journal(RunFolder(folder), 1)
    journal.phases.extend(phases)  # type: ignore[arg-type]
    with WorkerEnd(journal) as end:
        raise error
    return end.code, [event for _, event in journal.run.read_events()]


def test_a_failure_is_told_as_event_and_on_the_screen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, events = end_with(tmp_path, NumericFailure("it broke", "so", "do this"))
    assert code == WorkerExit.NUMERIC
    assert isinstance(events[0], Problem)
    assert (events[0].what, events[0].exit_code) == ("it broke", 76)
    assert capsys.readouterr().err == "error: it broke\n  why: so\n next: do this\n"


def test_our_own_bug_shows_where_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _ = end_with(tmp_path, ZeroDivisionError("division by zero"), ("save",))
    shown = capsys.readouterr().err
    assert code == WorkerExit.BUG
    assert "Traceback" in shown
    assert "surefit failed in the phase save: ZeroDivisionError" in shown


def test_a_stop_says_what_is_kept(tmp_path: Path) -> None:
    code, events = end_with(tmp_path, StopRequested("SIGTERM"), ("load_model",))
    assert code == WorkerExit.TEMPORARY
    assert isinstance(events[0], Note)
    assert events[0].text == "stopped on SIGTERM in the phase load_model; no step was made yet"


def test_a_full_disk_still_gives_the_right_code(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").symlink_to("/dev/full")
    full = SurefitError("what", "why", "next", worker_exit=WorkerExit.DISK)
    with WorkerEnd(Journal(RunFolder(tmp_path), 1)) as end:
        raise full
    assert end.code == WorkerExit.DISK


def test_a_stop_waits_for_the_step_only_while_steps_are_made() -> None:
    stop = StopSignal()
    stop.waits_for_step = True
    stop._receive(signal.SIGTERM, None)
    assert stop.requested == "SIGTERM"
    early = StopSignal()
    with pytest.raises(StopRequested, match="SIGINT"):
        early._receive(signal.SIGINT, None)
