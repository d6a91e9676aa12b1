"""Pipes, sockets and devices where a file is read: refused at once, in words, wherever a path is taken."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from surefit.data.finding_files import find_files
from surefit.diagnose import gather_evidence
from surefit.errors import OutsideError, SurefitError
from surefit.home import IrregularFileError, refuse_irregular
from surefit.models.config import read_config
from surefit.models.weights import read_header
from surefit.recipe import load_recipe
from surefit.recipe.schema import DataSpec
from surefit.supervise.comparison import read_questions


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(path))


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


KINDS = {"a pipe": _pipe, "a socket": _socket, "a device": _device}
READERS: dict[str, Callable[[Path], object]] = {
    "recipe.yaml": load_recipe,
    "questions.jsonl": lambda path: read_questions(str(path)),
    "log.txt": gather_evidence,
    "config.json": lambda path: read_config(path.parent),
    "model.safetensors": read_header,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", READERS)
def test_what_is_no_file_is_refused_by_every_reader(
    name: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # a socket's path may be no longer than 108 bytes
    KINDS[kind](Path(name))
    with pytest.raises(SurefitError, match="not a regular file") as caught:
        READERS[name](tmp_path / name)
    assert kind in caught.value.why
    assert name in caught.value.what


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("side", ["train", "eval"])
def test_rows_are_not_read_from_what_is_no_file(
    kind: str, side: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    KINDS[kind](Path("rows.jsonl"))
    Path("good.jsonl").touch()
    names = {"train": "good.jsonl", side: "rows.jsonl"}
    found = [file for file in find_files(DataSpec(**names), tmp_path) if file.side == side]
    assert [file.problem for file in found] == ["irregular"]
    assert kind in found[0].detail


def test_a_pipe_that_the_shell_has_opened_may_pass(tmp_path: Path) -> None:
    read, write = os.pipe()
    try:
        path = Path(f"/dev/fd/{read}")
        refuse_irregular(path, open_pipes=True)
        with pytest.raises(IrregularFileError):
            refuse_irregular(path)
        os.write(write, b"model: starter\ndata: {train: a.jsonl}\n")
        os.close(write)
        write = -1
        assert load_recipe(path).recipe.model == "starter"
    finally:
        os.close(read)
        if write >= 0:
            os.close(write)


def test_the_next_step_is_not_about_permissions(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "recipe.yaml")
    with pytest.raises(OutsideError) as caught:
        load_recipe(tmp_path / "recipe.yaml")
    assert "name a regular file" in caught.value.next_step
