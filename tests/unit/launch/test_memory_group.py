"""Where the worker's memory group is made, on trees of files that look like cgroups."""

from pathlib import Path

import pytest

from surefit.launch.local import memory_group
from surefit.launch.local.memory_group import make_group


def tree(root: Path, monkeypatch: pytest.MonkeyPatch, handing_down: str | None) -> Path:
    """A cgroup v2 tree: our group is user/app; new folders get memory files below one parent only."""
    current = root / "user" / "app"
    current.mkdir(parents=True)
    monkeypatch.setattr(memory_group, "current_group", lambda: current)
    usual = Path.mkdir

    def as_the_kernel(self: Path, *given: object, **named: object) -> None:
        usual(self)
        if handing_down is not None and self.parent == root / handing_down:
            (self / "memory.events").write_text("low 0\noom 0\noom_kill 0\n")

    monkeypatch.setattr(Path, "mkdir", as_the_kernel)
    return current


@pytest.mark.parametrize("parent", ["user/app", "user", "."])
def test_the_nearest_parent_that_hands_the_controller_down_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parent: str
) -> None:
    tree(tmp_path, monkeypatch, parent)
    made = make_group("run", tmp_path)
    assert made is not None
    assert made.own
    assert made.path.parent == tmp_path / parent
    assert made.kills() == 0
    assert len(list(tmp_path.rglob("surefit-run-*"))) == 1, "what did not do is removed"


def test_without_one_our_own_group_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    current = tree(tmp_path, monkeypatch, None)
    made = make_group("run", tmp_path)
    assert made is not None
    assert not made.own
    assert made.path == current
    assert not list(tmp_path.rglob("surefit-run-*"))
