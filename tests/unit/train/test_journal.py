"""The journal: phases with lengths and peaks, progress that does not flood, a heart that beats."""

import time
from pathlib import Path

import pytest

from surefit.runs.event import Phase
from surefit.runs.folder import RunFolder
from surefit.runs.result import Heartbeat
from surefit.train.journal import Journal


def phases(journal: Journal) -> list[Phase]:
    return [event for _, event in journal.run.read_events() if isinstance(event, Phase)]


def test_a_phase_tells_its_length_and_its_peak(tmp_path: Path) -> None:
    journal = Journal(RunFolder(tmp_path), 1)
    with journal.phase("train"):
        before = journal.memory.now_bytes()
        with journal.phase("eval"):
            block = bytearray(2**26)
            block[:: 2**12] = b"x" * (2**26 // 2**12)
            del block
        time.sleep(0.01)
    told = phases(journal)
    assert [(phase.name, phase.status) for phase in told] == [
        ("train", "started"),
        ("eval", "started"),
        ("eval", "ended"),
        ("train", "ended"),
    ]
    assert told[3].seconds
    assert told[3].seconds >= 0.01
    # What the inner phase needed, the outer one needed too.
    assert told[2].peak_bytes
    assert told[3].peak_bytes
    assert told[3].peak_bytes >= told[2].peak_bytes > before + 2**25


def test_a_phase_that_fails_stays_the_last_one(tmp_path: Path) -> None:
    journal = Journal(RunFolder(tmp_path), 1)
    with pytest.raises(ValueError, match="x"), journal.phase("save"):
        raise ValueError("x")
    assert journal.phases[-1] == "save"
    assert [phase.status for phase in phases(journal)] == ["started"]


def test_progress_is_told_twice_a_second_and_at_the_end(tmp_path: Path) -> None:
    journal = Journal(RunFolder(tmp_path), 1)
    with journal.phase("eval"):
        for done in range(1, 1001):
            journal.progress(done, 1000, "rows")
    told = [phase for phase in phases(journal) if phase.status == "progress"]
    assert told[-1].done == 1000
    assert len(told) < 50


def test_the_heart_beats_by_itself_and_tells_when_the_work_stands_still(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    journal = Journal(run, 0.05)
    journal.start()
    journal.step = 7
    time.sleep(0.3)
    beat = run.read(tmp_path / "heartbeats" / "rank0.json", Heartbeat)
    journal.close()
    assert beat
    assert (beat.phase, beat.step) == ("import", 7)
    assert beat.moved
    assert beat.time - beat.moved > 0.1
    assert beat.memory_bytes
