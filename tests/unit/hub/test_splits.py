"""Files of a subset and split: by the card, by numbered names, by words, by the Hub's own copy."""

import pytest

from surefit.hub.splits import UnknownPartError, choose_files

CARD = """---
license: mit
configs:
- config_name: en
  data_files:
  - split: train
    path: en/train-*.parquet
  - split: dev
    path: [en/dev.parquet]
- config_name: de
  default: true
  data_files:
    train: de/**/*.parquet
- config_name: all
  data_dir: all
---
# A data set
"""
CARDED = [
    "README.md",
    "en/train-0.parquet",
    "en/train-1.parquet",
    "en/dev.parquet",
    "de/x/a.parquet",
]


def chosen(
    paths: list[str],
    card: str = "",
    subset: str | None = None,
    split: str | None = None,
    side: str = "train",
) -> list[str]:
    return list(choose_files(paths, card, subset, split, side).files)  # type: ignore[arg-type]


def test_a_card_names_the_files_of_its_subsets() -> None:
    assert chosen(CARDED, CARD, "en") == ["en/train-0.parquet", "en/train-1.parquet"]
    assert chosen(CARDED, CARD, "en", side="eval") == ["en/dev.parquet"]
    assert chosen(CARDED, CARD, "en", "dev") == ["en/dev.parquet"]
    assert chosen(CARDED, CARD, "de") == ["de/x/a.parquet"]


def test_several_subsets_have_to_be_chosen_from() -> None:
    with pytest.raises(UnknownPartError) as caught:
        choose_files(CARDED, CARD, None, None, "train")
    assert caught.value.part == "subset"
    assert set(caught.value.known) == {"en", "de"}
    with pytest.raises(UnknownPartError) as caught:
        choose_files(CARDED, CARD, "fr", None, "train")
    assert caught.value.asked == "fr"


@pytest.mark.parametrize(
    ("paths", "side", "expected"),
    [
        (["data.jsonl"], "train", ["data.jsonl"]),
        (["train.jsonl", "test.jsonl"], "train", ["train.jsonl"]),
        (["train.jsonl", "test.jsonl"], "eval", ["test.jsonl"]),
        (["a/training/x.csv", "a/dev/x.csv"], "eval", ["a/dev/x.csv"]),
        (["train.jsonl.gz", "val.jsonl.zst"], "train", ["train.jsonl.gz"]),
        (["trainer_notes.jsonl"], "train", ["trainer_notes.jsonl"]),
        (["contest.jsonl", "latest.jsonl"], "train", ["contest.jsonl", "latest.jsonl"]),
        (["data/train-00000-of-00002.parquet", "data/train-00001-of-00002-ab12.parquet"], "train",
         ["data/train-00000-of-00002.parquet", "data/train-00001-of-00002-ab12.parquet"]),
        (["data/train_sft-00000-of-00001.parquet", "data/test_sft-00000-of-00001.parquet"], "train",
         ["data/train_sft-00000-of-00001.parquet"]),
        (["data/train_sft-00000-of-00001.parquet", "data/test_sft-00000-of-00001.parquet"], "eval",
         ["data/test_sft-00000-of-00001.parquet"]),
        (["default/train/0000.parquet", "default/test/0000.parquet"], "train", ["default/train/0000.parquet"]),
    ],
)  # fmt: skip
def test_without_a_card_the_names_tell(paths: list[str], side: str, expected: list[str]) -> None:
    assert chosen(paths, side=side) == expected


def test_hidden_files_and_descriptions_are_no_data() -> None:
    paths = [".hidden.jsonl", "dataset_infos.json", ".cache/x.jsonl", "__meta/a.json", "rows.jsonl"]
    assert chosen(paths) == ["rows.jsonl"]
    assert chosen(["README.md", "notes.md"]) == []


def test_a_split_that_is_not_there_names_those_that_are() -> None:
    with pytest.raises(UnknownPartError) as caught:
        choose_files(["train.jsonl", "test.jsonl"], "", None, "dev", "eval")
    assert caught.value.known == ("train", "test")
    with pytest.raises(UnknownPartError):
        choose_files(["train.jsonl"], "", None, None, "eval")


def test_files_of_another_kind_are_left_aside_and_said() -> None:
    choice = choose_files(["a.parquet", "b.parquet", "c.jsonl"], "", None, None, "train")
    assert choice.files == ("a.parquet", "b.parquet")
    assert "1 JSON" in choice.remark


def test_a_subset_may_be_a_folder() -> None:
    paths = ["en/train.jsonl", "de/train.jsonl"]
    assert chosen(paths, subset="de") == ["de/train.jsonl"]
    with pytest.raises(UnknownPartError) as caught:
        choose_files(paths, "", "fr", None, "train")
    assert caught.value.known == ("de", "en")


@pytest.mark.parametrize(
    "card", ["---\nconfigs: [1, 2\n---\n", "---\n!!python/object:os.x {}\n---\n", "no front matter"]
)
def test_a_card_that_cannot_be_read_decides_nothing(card: str) -> None:
    assert chosen(["train.jsonl"], card) == ["train.jsonl"]
