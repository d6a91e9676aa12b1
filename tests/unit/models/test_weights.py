"""Damaged, missing and foreign weight files, each named."""

import json
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_folders import TINY, tiny_shapes, write_model, write_safetensors

from surefit.errors import Refused
from surefit.models import read_model_facts
from surefit.models.weights import INDEX, read_header


def refused(folder: Path) -> Refused:
    with pytest.raises(Refused) as caught:
        read_model_facts(str(folder), Path("/"))
    return caught.value


def write_parts(folder: Path) -> Path:
    """A model in two parts with an index."""
    write_model(folder)
    (folder / "model.safetensors").unlink()
    shapes = tiny_shapes()
    halves = list(shapes.items())[:9], list(shapes.items())[9:]
    names = [f"model-{number}-of-2.safetensors" for number in (1, 2)]
    for name, half in zip(names, halves, strict=True):
        write_safetensors(folder / name, dict(half))
    where = {key: name for name, half in zip(names, halves, strict=True) for key, _ in half}
    (folder / INDEX).write_text(json.dumps({"weight_map": where}))
    return folder


def test_parts_are_put_together(tmp_path: Path) -> None:
    whole = read_model_facts(str(write_model(tmp_path / "whole")), Path("/"))
    parts = read_model_facts(str(write_parts(tmp_path / "parts")), Path("/"))
    assert parts.parameters == whole.parameters
    assert len(parts.weight_files) == 2


def test_a_missing_part_is_named(tmp_path: Path) -> None:
    folder = write_parts(tmp_path / "parts")
    (folder / "model-2-of-2.safetensors").unlink()
    assert "model-2-of-2.safetensors" in refused(folder).what


def test_parts_without_an_index_are_refused(tmp_path: Path) -> None:
    folder = write_parts(tmp_path / "parts")
    (folder / INDEX).unlink()
    assert INDEX in refused(folder).what


def test_a_tensor_that_the_index_promises_and_no_file_holds(tmp_path: Path) -> None:
    folder = write_parts(tmp_path / "parts")
    index = json.loads((folder / INDEX).read_text())
    index["weight_map"]["model.extra"] = "model-1-of-2.safetensors"
    (folder / INDEX).write_text(json.dumps(index))
    assert "model.extra" in refused(folder).what


@pytest.mark.parametrize(
    "name", ["../model.safetensors", "/etc/passwd", "a/b.safetensors", "x.bin"]
)
def test_an_index_cannot_lead_out_of_the_folder(name: str, tmp_path: Path) -> None:
    folder = write_parts(tmp_path / "parts")
    (folder / INDEX).write_text(json.dumps({"weight_map": {"a": name}}))
    assert name in refused(folder).what


@pytest.mark.parametrize("text", ["", "{}", '{"weight_map": []}', '{"weight_map": {"a": 1}}'])
def test_a_broken_index_is_refused(text: str, tmp_path: Path) -> None:
    folder = write_parts(tmp_path / "parts")
    (folder / INDEX).write_text(text)
    assert INDEX in refused(folder).what


def test_a_file_cut_off_is_told_with_both_sizes(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "mine")
    path = folder / "model.safetensors"
    size = path.stat().st_size
    path.write_bytes(path.read_bytes()[:-100])
    error = refused(folder)
    assert "cut off" in error.what
    assert f"{size:,}" in error.why
    assert f"{size - 100:,}" in error.why


def test_a_git_lfs_pointer_is_recognised(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "mine")
    text = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 123\n"
    (folder / "model.safetensors").write_text(text)
    assert "Git LFS pointer" in refused(folder).why


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"1234",
        struct.pack("<Q", 2**60) + b"{}",
        struct.pack("<Q", 2) + b"[]",
        struct.pack("<Q", 5) + b"{nope",
        struct.pack("<Q", 0),
    ],
)
def test_what_is_no_safetensors_file_is_refused(content: bytes, tmp_path: Path) -> None:
    folder = write_model(tmp_path / "mine")
    (folder / "model.safetensors").write_bytes(content)
    assert "model.safetensors" in refused(folder).what


@pytest.mark.parametrize(
    "entry",
    [
        None,
        {},
        {"dtype": "F32", "shape": [2], "data_offsets": [0]},
        {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]},
        {"dtype": "F33", "shape": [2], "data_offsets": [0, 8]},
        {"dtype": "F32", "shape": [-2], "data_offsets": [0, 8]},
        {"dtype": "F32", "shape": ["2"], "data_offsets": [0, 8]},
        {"dtype": "F32", "shape": [2.0], "data_offsets": [0, 8]},
        {"dtype": ["F32"], "shape": [2], "data_offsets": [0, 8]},
    ],
)
def test_an_entry_that_cannot_be_is_refused(entry: Any, tmp_path: Path) -> None:
    text = json.dumps({"x": entry}).encode()
    path = tmp_path / "x.safetensors"
    path.write_bytes(struct.pack("<Q", len(text)) + text + bytes(8))
    with pytest.raises(Refused, match="broken header"):
        read_header(path)


@given(
    header=st.recursive(st.none() | st.integers() | st.text(max_size=3), st.lists), end=st.binary()
)
def test_whatever_a_header_holds_the_reader_answers_in_words(
    header: Any, end: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.safetensors"
    for entry in (header, {"dtype": header, "shape": header, "data_offsets": [0, len(end)]}):
        text = json.dumps({"x": entry}).encode()
        path.write_bytes(struct.pack("<Q", len(text)) + text + end)
        with pytest.raises(Refused):
            read_header(path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"vocab_size": 21}, "embed_tokens"),
        ({"intermediate_size": 16}, "gate_proj"),
        ({"num_hidden_layers": 3}, "lack"),
        ({"num_hidden_layers": 1}, "no place"),
        ({"tie_word_embeddings": False}, "lm_head"),
        ({"head_dim": 8}, "q_proj"),
    ],
)
def test_config_and_weights_that_do_not_belong_together(
    change: dict[str, Any], said: str, tmp_path: Path
) -> None:
    error = refused(write_model(tmp_path / "mine", TINY | change))
    assert said in error.as_text()


def test_a_head_of_its_own_is_counted_once(tmp_path: Path) -> None:
    shapes = tiny_shapes() | {"lm_head.weight": [20, 8]}
    folder = write_model(tmp_path / "mine", TINY | {"tie_word_embeddings": False}, shapes)
    facts = read_model_facts(str(folder), Path("/"))
    assert (facts.parameters.head, facts.tied_embeddings) == (160, False)
    assert facts.parameters.total == sum(
        length if len(shape) == 1 else length * shape[1]
        for shape in shapes.values()
        for length in shape[:1]
    )
