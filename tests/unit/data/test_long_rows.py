"""Rows over the longest length are cut, left out or split, as asked: each counted and listed."""

import json
from pathlib import Path
from typing import Any

import pytest
from prepared_rows import answers_in, prepared_rows
from token_folders import tokenizer_named

from surefit.data import DatasetReport, check_data
from surefit.recipe.data_spec import DataSpec

LIMIT = 48


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUREFIT_HOME", str(tmp_path / "home"))


def exchange(number: int, words: int = 3) -> list[dict[str, str]]:
    answer = " ".join(f"w{number}" for _ in range(words))
    return [
        {"role": "user", "content": f"Say {number}."},
        {"role": "assistant", "content": answer},
    ]


SYSTEM = {"role": "system", "content": "Be short."}
SHORT = {"messages": exchange(0)}
LONG = {"messages": [SYSTEM, *(turn for number in range(1, 7) for turn in exchange(number))]}
ROWS = [*[SHORT | {"id": n} for n in range(3)], LONG]


def checked(folder: Path, long_rows: str, rows: list[dict[str, Any]] = ROWS) -> DatasetReport:
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    spec = DataSpec(train="rows.jsonl", long_rows=long_rows)
    return check_data(
        spec,
        folder,
        tokenizer_named("chatml", folder),
        max_length=LIMIT,
        batch=1,
        seed=17,
        into=folder / "prepared",
    )


def finding(report: DatasetReport, code: str) -> Any:
    return next((one for one in report.findings if one.code == code), None)


def test_cut_is_the_default_and_says_what_is_lost(tmp_path: Path) -> None:
    report = checked(tmp_path, "cut")
    assert DataSpec(train="x").long_rows == "cut"
    assert report.tokens
    assert report.tokens.cut_rows == 1
    assert report.tokens.cut_trained > 0
    assert finding(report, "SD403").rows == ("rows.jsonl:4",)
    assert finding(report, "SD418") is None


def test_dropped_rows_are_counted_listed_and_not_written(tmp_path: Path) -> None:
    report = checked(tmp_path, "drop")
    assert report.verdict != "refuse"
    assert (report.rows, report.usable) == (4, 3)
    assert report.dropped == ("rows.jsonl:4",)
    assert finding(report, "SD418").rows == ("rows.jsonl:4",)
    assert "left out" in finding(report, "SD418").message
    assert finding(report, "SD403") is None
    assert report.tokens
    assert report.tokens.cut_rows == 0
    assert len(prepared_rows(tmp_path / "prepared", "train")) == 3


def test_a_split_conversation_keeps_every_answer_and_its_system_turn(tmp_path: Path) -> None:
    report = checked(tmp_path, "split")
    assert report.tokens
    assert (report.tokens.cut_rows, report.tokens.cut_trained) == (0, 0)
    parts = prepared_rows(tmp_path / "prepared", "train")[3:]
    assert len(parts) > 1
    assert report.usable == 3 + len(parts)
    assert f"split into {len(parts)}" in finding(report, "SD418").message
    tokenizer = tokenizer_named("chatml", tmp_path)
    texts = [tokenizer.decode(ids) for ids, _ in parts]
    assert all(text.startswith("<|im_start|>system\nBe short.") for text in texts)
    assert all(len(ids) <= LIMIT for ids, _ in parts)
    said = "".join(answers_in(tokenizer, part) for part in parts)
    assert said == "".join(f"w{n} w{n} w{n}<|im_end|>" for n in range(1, 7))


def test_an_exchange_that_is_too_long_by_itself_is_cut_and_told(tmp_path: Path) -> None:
    rows = [SHORT, {"messages": [*exchange(1), *exchange(2, words=60), *exchange(3)]}]
    report = checked(tmp_path, "split", rows)
    assert finding(report, "SD403").count == 1
    assert report.tokens
    assert report.tokens.cut_rows == 1
    tokenizer = tokenizer_named("chatml", tmp_path)
    said = [answers_in(tokenizer, row) for row in prepared_rows(tmp_path / "prepared", "train")]
    assert said[1] == "w1 w1 w1<|im_end|>"
    assert said[3] == "w3 w3 w3<|im_end|>"


@pytest.mark.parametrize("text", ["wort " * 90, "naïve — 好的，走吧！" * 20, "x" * 300])
def test_a_split_text_loses_no_letter(tmp_path: Path, text: str) -> None:
    rows = [{"text": text}, {"text": "A short one.<|im_end|>"}]
    report = checked(tmp_path, "split", rows)
    tokenizer = tokenizer_named("chatml", tmp_path)
    parts = prepared_rows(tmp_path / "prepared", "train")[:-1]
    assert len(parts) > 1
    assert all(len(ids) <= LIMIT for ids, _ in parts)
    assert "".join(tokenizer.decode(ids) for ids, _ in parts) == text
    assert report.usable == len(parts) + 1


def test_all_parts_of_a_row_are_on_one_side(tmp_path: Path) -> None:
    many = [
        {"messages": [turn for n in range(6) for turn in exchange(10 * row + n)]}
        for row in range(20)
    ]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in many))
    tokenizer = tokenizer_named("chatml", tmp_path)
    spec = DataSpec(train="rows.jsonl", eval="20%", long_rows="split")
    check_data(
        spec, tmp_path, tokenizer, max_length=LIMIT, batch=1, seed=1, into=tmp_path / "prepared"
    )
    sides = [
        {
            int(word[1:]) // 10
            for row in prepared_rows(tmp_path / "prepared", side)
            for word in answers_in(tokenizer, row).replace("<|im_end|>", " ").split()
        }
        for side in ("train", "eval")
    ]
    assert not sides[0] & sides[1]
    assert sides[0] | sides[1] == set(range(20))
