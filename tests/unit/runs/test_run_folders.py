"""A run's folder appears whole, under a name that nobody has."""

import os
from pathlib import Path

import pytest

from surefit.errors import UsageError
from surefit.runs import create_run_folder, find_run_folder, list_run_folders
from surefit.runs.folder import publish_run_folder, stage_run_folder


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUREFIT_HOME", str(tmp_path))


def test_a_staged_run_is_seen_by_nobody() -> None:
    staged = stage_run_folder("new")
    assert list_run_folders() == []
    with pytest.raises(UsageError, match="no run"):
        find_run_folder("new")
    with pytest.raises(UsageError, match="no run"):
        find_run_folder(staged.id)
    publish_run_folder(staged, "new")
    assert find_run_folder("ne").id == "new"


def test_of_two_starts_with_one_name_the_second_is_told() -> None:
    first = stage_run_folder("same")
    second_path = first.path.with_name(".staging-1-same")
    (second_path / "log").mkdir(parents=True)
    publish_run_folder(first, "same")
    with pytest.raises(UsageError, match="exists already"):
        publish_run_folder(type(first)(second_path), "same")
    assert second_path.exists()
    with pytest.raises(UsageError, match="exists already"):
        create_run_folder("same")


def test_what_a_killed_start_left_is_swept_by_the_next(tmp_path: Path) -> None:
    root = tmp_path / "runs"
    dead = root / ".staging-999999999-old"
    mine = root / f".staging-{os.getpid()}-now"
    for folder in (dead, mine):
        folder.mkdir(parents=True)
    stage_run_folder("next")
    assert not dead.exists()
    assert mine.exists()


@pytest.mark.parametrize("name", ["", ".hidden", "../up", "a/b", "a b", "x" * 65, "a\n"])
def test_a_name_that_cannot_be_a_folder_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="not a name"):
        create_run_folder(name)
