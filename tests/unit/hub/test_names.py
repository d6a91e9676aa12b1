"""What is a name on the Hub, and what is a path: a misspelt path asks nobody."""

from pathlib import Path

import pytest

from surefit.errors import RecipeError
from surefit.hub.names import HubName, hub_name


def named(source: str, folder: Path, kind: str = "model") -> HubName | None:
    return hub_name(source, folder, kind, "model")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("source", "repo", "revision"),
    [
        ("Qwen/Qwen2.5-0.5B", "Qwen/Qwen2.5-0.5B", None),
        ("Qwen/Qwen2.5-0.5B@main", "Qwen/Qwen2.5-0.5B", "main"),
        ("a/b@refs/pr/12", "a/b", "refs/pr/12"),
        ("a/b@" + "0" * 40, "a/b", "0" * 40),
        ("hf://a/b@v1", "a/b", "v1"),
        ("hf://models/a/b", "a/b", None),
    ],
)
def test_a_model_by_its_hub_id(
    source: str, repo: str, revision: str | None, tmp_path: Path
) -> None:
    assert named(source, tmp_path) == HubName("model", repo, revision)


@pytest.mark.parametrize(
    ("source", "parts"),
    [
        ("a/b", (None, None, None)),
        ("a/b:train_sft", (None, None, "train_sft")),
        ("openai/gsm8k/main:test", (None, "main", "test")),
        ("a/b@v1/en:train", ("v1", "en", "train")),
        ("a/b@refs/convert/parquet/en:train", ("refs/convert/parquet", "en", "train")),
        ("hf://datasets/a/b:test", (None, None, "test")),
        ("hf:/datasets/a/b", (None, None, None)),  # what a path type makes of it
    ],
)
def test_a_data_set_with_revision_subset_and_split(
    source: str, parts: tuple[str | None, ...], tmp_path: Path
) -> None:
    found = named(source, tmp_path, "dataset")
    assert found is not None
    assert (found.revision, found.subset, found.split) == parts


@pytest.mark.parametrize(
    "source",
    [
        "starter",
        "chats.jsonl",
        "data/chats.jsonl",
        "data/chats.jsonl.gz",
        "data/*.jsonl",
        "data/chats.parquet",
        "./a/b",
        "../a/b",
        "~/a/b",
        "/a/b",
        "gpt2",
        "a/b/c/d",
        "a--b/c",
        "a/b.git",
        "a/" + "x" * 96,
        "a b/c",
    ],
)
def test_what_looks_like_a_path_or_could_be_no_name_is_none(source: str, tmp_path: Path) -> None:
    assert named(source, tmp_path) is None
    assert named(source, tmp_path, "dataset") is None


def test_what_exists_here_wins_and_so_does_a_first_folder_that_exists(tmp_path: Path) -> None:
    (tmp_path / "org" / "name").mkdir(parents=True)
    assert named("org/name", tmp_path) is None
    assert named("org/nmae", tmp_path) is None
    assert named("hf://org/name", tmp_path) == HubName("model", "org/name")


@pytest.mark.parametrize("source", ["hf://datasets/a/b", "hf://gpt2", "hf://", "hf://a/b:train"])
def test_an_explicit_name_that_is_no_model_says_how_to_write_one(
    source: str, tmp_path: Path
) -> None:
    with pytest.raises(RecipeError) as caught:
        named(source, tmp_path)
    assert source in caught.value.what
    assert "hf://org/name" in caught.value.next_step
