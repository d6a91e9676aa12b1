"""Values that JSON can write and no program can keep: told by row, never a traceback."""

import json
from pathlib import Path

import pytest

from surefit.data import check_data
from surefit.recipe.schema import DataSpec

GOOD = '{"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yo"}]}'
ODD = {
    "half in a text": (GOOD.replace("Hi", "a \\ud800 b"), "SD113", "\\ud800 is half of a character"),
    "second half": (GOOD.replace("Hi", "\\uDE00"), "SD113", "\\ude00 is half of a character"),
    "half in a key": ('{"\\udfff": 1, ' + GOOD[1:], "SD113", "\\udfff is half of a character"),
    "half in an unused column": ('{"x": "\\ud83d", ' + GOOD[1:], "SD113", "\\ud83d"),
    "whole number": ('{"id": ' + "9" * 6000 + ", " + GOOD[1:], "SD110", "a number of 6,000 digits"),
    "negative": ('{"id": -' + "1" * 5000 + ", " + GOOD[1:], "SD110", "a number of 5,000 digits"),
}  # fmt: skip


def _finding(folder: Path, name: str, text: str, code: str) -> str:
    (folder / name).write_text(text)
    report = check_data(DataSpec(train=name), folder, None, max_length=None, batch=1, seed=1)
    assert report.verdict == "refuse"
    return next(one.message for one in report.findings if one.code == code)


@pytest.mark.parametrize("name", ODD)
def test_a_line_with_an_odd_value_is_refused_by_its_number(name: str, tmp_path: Path) -> None:
    odd, code, words = ODD[name]
    message = _finding(tmp_path, "rows.jsonl", f"{GOOD}\n{odd}\n{GOOD}\n", code)
    assert words in message
    assert "rows.jsonl:2" in message
    assert message.startswith("1 row ")


@pytest.mark.parametrize("name", ODD)
def test_an_element_with_an_odd_value_is_refused_by_its_number(name: str, tmp_path: Path) -> None:
    odd, code, words = ODD[name]
    message = _finding(tmp_path, "rows.json", f"[{GOOD},\n{odd},\n{GOOD}]", code)
    assert words in message
    assert "rows.json:2" in message


def test_whole_characters_written_as_two_halves_pass(tmp_path: Path) -> None:
    smile = json.loads('"\\ud83d\\ude00"')
    (tmp_path / "rows.jsonl").write_text(GOOD.replace("Hi", "\\ud83d\\ude00 \\\\ud800") + "\n")
    (tmp_path / "rows.json").write_text("[" + GOOD.replace("Hi", "\\ud83d\\ude00") + "]")
    for name in ("rows.jsonl", "rows.json"):
        report = check_data(DataSpec(train=name), tmp_path, None, max_length=None, batch=1, seed=1)
        assert report.usable == 1
    assert len(smile) == 1


def test_a_file_that_fails_in_the_middle_is_named(tmp_path: Path) -> None:
    spec = DataSpec(train="/proc/self/mem")
    report = check_data(spec, tmp_path, None, max_length=None, batch=1, seed=1)
    assert report.verdict == "refuse"
    assert any("/proc/self/mem" in one.message for one in report.findings)
