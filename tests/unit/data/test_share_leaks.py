"""Where a share is held back, no copy leaks across: equal letters stay together, near copies are told."""

import json
import random
from pathlib import Path

import pytest
from token_folders import tokenizer_named

from surefit.data import DatasetReport, check_data
from surefit.data.near_copies import Sketches
from surefit.recipe.data_spec import DataSpec

WORDS = [
    *("river", "hill", "stone", "cloud", "harbour", "lantern", "market", "winter", "orchard"),
    *("bridge", "candle", "engine", "feather", "garden", "hammer", "island", "jungle", "kettle"),
    *("ladder", "mirror", "needle", "ocean", "pepper", "quarry", "ribbon", "saddle"),
]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUREFIT_HOME", str(tmp_path / "home"))


def sentence(seed: int, words: int = 30) -> str:
    chance = random.Random(seed)
    return " ".join(chance.choice(WORDS) for _ in range(words))


def checked(folder: Path, texts: list[str], share: str = "50%") -> DatasetReport:
    rows = [
        {
            "messages": [
                {"role": "user", "content": text},
                {"role": "assistant", "content": text[::-1]},
            ]
        }
        for text in texts
    ]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    spec = DataSpec(train="rows.jsonl", eval=share)
    tokenizer = tokenizer_named("chatml", folder)
    return check_data(spec, folder, tokenizer, max_length=4096, batch=1, seed=3)


def leak(report: DatasetReport) -> tuple[str, ...]:
    return next((one.rows for one in report.findings if one.code == "SD512"), ())


@pytest.mark.parametrize("change", [str.upper, lambda text: f"{text}!", lambda text: f"  {text} ."])
def test_copies_by_letters_are_never_on_both_sides(tmp_path: Path, change: object) -> None:
    texts = [sentence(seed) for seed in range(20)]
    both = [one for text in texts for one in (text, change(text))]  # type: ignore[operator]
    report = checked(tmp_path, both)
    assert report.eval_rows % 2 == 0
    assert not leak(report)


@pytest.mark.parametrize("order", ["pairs", "reversed"])
def test_near_copies_on_both_sides_are_told_whichever_comes_first(
    tmp_path: Path, order: str
) -> None:
    texts = [sentence(seed, words=60) for seed in range(30)]
    changed = [f"{text} indeed" for text in texts]
    rows = [one for pair in zip(texts, changed, strict=True) for one in pair]
    found = leak(checked(tmp_path, rows if order == "pairs" else rows[::-1]))
    # Half of the rows are held back, mostly one of each pair.
    assert len(found) > 5


def test_rows_made_by_one_pattern_are_no_copies(tmp_path: Path) -> None:
    texts = [
        f"Which {WORDS[n % 26]} stands beside the {WORDS[n * 7 % 26]} number {n} in the old town?"
        for n in range(200)
    ]
    assert not leak(checked(tmp_path, texts, share="10%"))


def test_a_sketch_needs_most_of_the_words() -> None:
    sketches = Sketches()
    sketches.add("rows.jsonl:1", sentence(1, words=90), held_back=True)
    sketches.add(
        "rows.jsonl:2", sentence(1, words=90)[: len(sentence(1, words=90)) // 2], held_back=False
    )
    sketches.add("rows.jsonl:3", sentence(2), held_back=False)
    assert sketches.found() == []
    sketches.add("rows.jsonl:4", f"{sentence(1, words=90)} indeed", held_back=False)
    assert sketches.found() == ["rows.jsonl:1"]
