"""A disk that fills up, for real: a small tmpfs of the test's own."""

import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tiny_run import losses, notes, write_model, write_run

from surefit.plan.plan import Plan
from surefit.runs import Heartbeat
from surefit.runs.checkpoints import is_whole
from surefit.runs.folder import RunFolder

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("model"))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", str(place)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("no file system may be mounted here")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def go(run: RunFolder) -> None:
    from surefit.train.journal import Journal
    from surefit.train.run import train
    from surefit.train.stop import StopSignal

    plan = run.read(run.plan, Plan)
    assert plan
    journal = Journal(run, 0.1)
    journal.start()
    try:
        train(plan, journal, StopSignal())
    finally:
        journal.close()


def fill(folder: Path, leave: int) -> Path:
    """A file that leaves so many bytes free."""
    filler = folder / "filler"
    free = shutil.disk_usage(folder).free
    with filler.open("wb") as handle:
        handle.write(b"\0" * max(0, free - leave))
    return filler


def test_a_run_waits_for_room_says_so_and_goes_on_when_there_is_some(
    small_disk: Path, tmp_path: Path, model: Path
) -> None:
    run = write_run(small_disk / "run", model, epochs=4, checkpoint_every_steps=3)
    filler = fill(small_disk, 48 * 1024)  # less than a checkpoint, enough for events
    seen: list[str] = []

    def make_room() -> None:
        end = time.monotonic() + 60
        while not notes(run, "disk") and time.monotonic() < end:
            time.sleep(0.1)
        time.sleep(1.0)
        beat = run.read(run.heartbeat(0), Heartbeat)
        seen.append(beat.waiting or "" if beat else "")
        filler.unlink()

    helper = threading.Thread(target=make_room)
    helper.start()
    go(run)
    helper.join()
    told = [note.text for note in notes(run, "disk")]
    assert told[0].startswith("the disk is full: waiting for room on the disk of ")
    assert "there is room again" in told[-1]
    assert seen[0].startswith("room on the disk of")
    assert run.result.exists()
    roomy = write_run(tmp_path / "roomy", model, epochs=4, checkpoint_every_steps=3)
    go(roomy)
    assert losses(run) == losses(roomy)
    newest = max(run.checkpoints.glob("step-*"), key=lambda path: int(path.name[5:]))
    assert is_whole(newest)


def test_pruning_keeps_the_best_and_the_only_good_one(tmp_path: Path, model: Path) -> None:
    from surefit.train.checkpoint import prune_checkpoints

    run = write_run(tmp_path, model, epochs=4, checkpoint_every_steps=2, keep_checkpoints=9)
    go(run)
    folders = {int(one.name[5:]): one for one in run.checkpoints.glob("step-*")}
    for step in (12, 10):
        (folders[step] / "optimizer.pt").write_bytes(b"damage")
    prune_checkpoints(run.checkpoints, 2, best=4)
    kept = sorted(int(one.name[5:]) for one in run.checkpoints.glob("step-*"))
    assert kept == [4, 8, 10, 12], "the newest two, the newest that is whole, and the best"
