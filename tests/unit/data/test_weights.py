"""Weights of roles and turns, from the recipe and the rows to the prepared set."""

import json
from pathlib import Path
from typing import Any

import pytest
from prepared_rows import prepared_rows, weights_of
from pydantic import ValidationError
from token_folders import FAMILIES, tokenizer_named

from surefit.data import DatasetReport, check_data
from surefit.recipe.data_spec import DataSpec
from surefit.tokens import ChatTokenizer


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUREFIT_HOME", str(tmp_path / "home"))


def talk(*weights: Any) -> dict[str, Any]:
    """Two exchanges; a weight for each answer, None: no key."""
    turns: list[dict[str, Any]] = []
    for number, weight in enumerate(weights):
        turns.append({"role": "user", "content": f"Ask {number}"})
        answer: dict[str, Any] = {"role": "assistant", "content": f"Reply {number}"}
        turns.append(answer if weight is None else answer | {"weight": weight})
    return {"messages": turns}


def prepare(
    folder: Path, rows: list[dict[str, Any]], family: str = "chatml", **spec: Any
) -> tuple[ChatTokenizer, DatasetReport]:
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    tokenizer = tokenizer_named(family, folder)
    report = check_data(
        DataSpec(train="rows.jsonl", **spec),
        folder,
        tokenizer,
        max_length=512,
        batch=1,
        seed=17,
        into=folder / "prepared",
    )
    return tokenizer, report


def weighed(folder: Path, tokenizer: ChatTokenizer) -> list[dict[float, str]]:
    """The text of each row by the weight of its tokens."""
    found = []
    rows = prepared_rows(folder / "prepared", "train")
    for (ids, mask), weights in zip(rows, weights_of(folder / "prepared", "train"), strict=True):
        assert [weight > 0 for weight in weights] == [bool(mark) for mark in mask]
        by_weight: dict[float, list[int]] = {}
        for one, weight in zip(ids, weights, strict=True):
            by_weight.setdefault(round(weight, 4), []).append(one)
        found.append({weight: tokenizer.decode(each) for weight, each in by_weight.items()})
    return found


def test_a_weight_in_a_turn_reaches_its_tokens(tmp_path: Path) -> None:
    rows = [talk(None, None), talk(0.25, 1), talk(0, 0.5)]
    tokenizer, report = prepare(tmp_path, rows)
    assert report.verdict != "refuse"
    plain, first, second = weighed(tmp_path, tokenizer)
    assert plain[1.0] == "Reply 0<|im_end|>Reply 1<|im_end|>"
    assert first[0.25] == "Reply 0<|im_end|>"
    assert first[1.0] == "Reply 1<|im_end|>"
    assert second[0.5] == "Reply 1<|im_end|>"
    assert "Reply 0" in second[0.0]


def test_rows_without_weights_need_no_file_of_them(tmp_path: Path) -> None:
    prepare(tmp_path, [talk(None, None), talk(1, 0)])
    assert not (tmp_path / "prepared" / "train.weights.f32").exists()


@pytest.mark.parametrize("family", FAMILIES)
def test_other_roles_are_trained_by_their_weight(family: str, tmp_path: Path) -> None:
    tokenizer, report = prepare(
        tmp_path, [talk(None, None)], family, role_weights={"user": 0.25, "assistant": 0.5}
    )
    assert report.usable == 1
    (row,) = weighed(tmp_path, tokenizer)
    assert "Ask 0" in row[0.25]
    assert "Ask 1" in row[0.25]
    assert "Reply 0" in row[0.5]
    assert "Reply 1" in row[0.5]
    assert "Ask" not in row[0.5]
    assert "Reply" not in row[0.25]


def test_a_role_of_weight_zero_is_left_out(tmp_path: Path) -> None:
    row = {"messages": [{"role": "system", "content": "Be kind."}, *talk(None)["messages"]]}
    tokenizer, _ = prepare(tmp_path, [row], role_weights={"assistant": 0, "system": 1})
    (ids, mask) = prepared_rows(tmp_path / "prepared", "train")[0]
    said = tokenizer.decode([one for one, mark in zip(ids, mask, strict=True) if mark])
    assert said == "Be kind.<|im_end|>"


def test_weights_of_role_and_turn_multiply(tmp_path: Path) -> None:
    tokenizer, _ = prepare(tmp_path, [talk(0.5, None)], role_weights={"assistant": 0.5})
    (row,) = weighed(tmp_path, tokenizer)
    assert row[0.25] == "Reply 0<|im_end|>"
    assert row[0.5] == "Reply 1<|im_end|>"


def test_the_last_answer_alone_keeps_its_weight(tmp_path: Path) -> None:
    tokenizer, _ = prepare(tmp_path, [talk(1, 0.5)], loss="last_answer")
    (row,) = weighed(tmp_path, tokenizer)
    assert row.keys() == {0.0, 0.5}


@pytest.mark.parametrize(
    "spec",
    [
        {"role_weights": {"user": 1.5}},
        {"role_weights": {"user": -0.1}},
        {"role_weights": {"narrator": 1}},
        {"role_weights": {"assistant": 0}},
        {"role_weights": {"user": 1}, "loss": "all"},
        {"template_arguments": {"messages": []}},
    ],
)
def test_contradictions_are_refused(spec: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        DataSpec(train="rows.jsonl", **spec)
