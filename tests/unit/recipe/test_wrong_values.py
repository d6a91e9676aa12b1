"""Every field with values that it does not take: always in our words, always with something to do."""

import math
import re
from pathlib import Path
from typing import Any

import pytest

from surefit.errors import RecipeError, UsageError
from surefit.recipe import fields, load_recipe, recipe_from
from surefit.recipe.batches import divisors
from surefit.recipe.near_names import near_files

JARGON = re.compile(
    r"\[key\]|Input should|Value error|Assertion|another value|literal|_type\b|_parsing|pydantic|valid string|"
    r"Field required|Extra inputs|validation error|union_tag|None\b|True\b|False\b|Unable to|\binf\b.*\d{20}"
)
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 10**40, -(10**40), 10**4200, 1e300, math.inf, -math.inf, math.nan,
    "", " ", "x", "3", "010", "019", "1_0", "1e999", "9" * 5000, "\ud800", "ä" * 300,
    [], [1], ["x", 2], [[1]], [{}], [None], {}, {"x": 1}, {"x": {"y": [1]}}, {"user": 3, "bot": 1},
    {"prompt": 3}, {"prompt": None}, {"prompt": {"x": 1}}, {"type": "lora", "x": 1},
    {"user": "x"}, {"messages": 1}, {"user": math.nan}, {"user": [1]},
)  # fmt: skip
PARTS = ("data", "method", "goal", "limits", "how")


def _with(path: str, value: Any) -> dict[str, Any]:
    recipe: dict[str, Any] = {"model": "starter", "data": {"train": "a.jsonl"}}
    *steps, last = path.split(".")
    inner = recipe
    for step in steps:
        inner = inner.setdefault(step, {})
    if steps[:1] == ["method"]:
        inner["type"] = "qlora"
    inner[last] = value
    return recipe


@pytest.mark.parametrize("path", [*(field.path for field in fields()), *PARTS, "zzz", "goal.zzz"])
def test_what_a_field_does_not_take_is_refused_in_our_words(path: str, tmp_path: Path) -> None:
    refused = 0
    for value in VALUES:
        try:
            recipe_from(_with(path, value), tmp_path)
        except RecipeError as error:
            refused += 1
            for problem in error.details["problems"]:
                words = " ".join((problem["what"], problem["why"], problem["next"]))
                assert not JARGON.search(words), (value, words)
                assert len(words) < 1500, words
                assert problem["why"].strip()
                assert problem["next"].strip()
    assert refused >= 5


@pytest.mark.parametrize(
    "field",
    [one for one in fields() if re.search(r"\ba (whole )?number\b", one.type_words)],
    ids=lambda one: one.path,
)
def test_every_number_has_a_lower_and_an_upper_bound(field: Any, tmp_path: Path) -> None:
    assert re.search(r"at most|less than", field.type_words)
    assert re.search(r"at least|greater than", field.type_words)
    with pytest.raises(RecipeError, match=r"must be (at most|less than)") as caught:
        recipe_from(_with(field.path, 9223372036854775807), tmp_path)
    assert re.search(r"set `[a-z._]+(: \S+` or less|` to less than)", caught.value.next_step)


def test_the_message_of_a_bound_can_be_typed(tmp_path: Path) -> None:
    with pytest.raises(RecipeError) as caught:
        recipe_from(_with("goal.batch", 99999999999999999999999999), tmp_path)
    assert caught.value.as_text().splitlines() == [
        "error: goal.batch must be at most 1,000,000; it is 99999999999999999999999999",
        "  why: goal.batch is a whole number, at least 1 and at most 1,000,000. Sequences per optimizer step",
        " next: set `goal.batch: 1000000` or less, or leave goal.batch out (the default is 8)",
    ]


@pytest.mark.parametrize(
    ("written", "next_step"),
    [
        ("010", "write `goal.batch: 10` or `goal.batch: 8`"),
        ("019", "write `goal.batch: 19`"),
        ("00", "write `goal.batch: 0`"),
    ],
)
def test_a_number_of_two_readings_is_refused_with_both(
    written: str, next_step: str, tmp_path: Path
) -> None:
    file = tmp_path / "recipe.yaml"
    file.write_text(f"model: starter\ndata: {{train: a}}\ngoal: {{batch: {written}}}\n")
    with pytest.raises(RecipeError) as caught:
        load_recipe(file)
    assert caught.value.where == f"{file}:3: goal.batch"
    assert caught.value.next_step == next_step
    with pytest.raises(RecipeError, match="two ways"):
        recipe_from(
            {"model": "starter", "data": {"train": "a"}}, tmp_path, [f"goal.batch={written}"]
        )


@pytest.mark.parametrize("written", ["1_0", "10_00", "_10", "10_", "1__000", "1_000_0"])
def test_an_underscore_counts_only_where_thousands_end(written: str, tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="whole number"):
        recipe_from(_with("goal.batch", written), tmp_path)


def test_json_with_a_number_of_thousands_of_digits_names_its_line(tmp_path: Path) -> None:
    file = tmp_path / "recipe.json"
    file.write_text(
        '{"model": "starter", "data": {"train": "a"},\n"goal": {"batch": ' + "9" * 6000 + "}}"
    )
    with pytest.raises(RecipeError, match="more digits than can be read") as caught:
        load_recipe(file)
    assert caught.value.where == f"{file}:2"


GOOD = "model: starter\ndata:\n  train: chats.jsonl\n"


def _set(tmp_path: Path, *changes: str) -> UsageError:
    file = tmp_path / "ok.yaml"
    file.write_text(GOOD)
    with pytest.raises(UsageError) as caught:
        load_recipe(file, changes)
    return caught.value


@pytest.mark.parametrize(
    ("change", "next_step"),
    [
        ("goal=", "write `--set goal.batch=VALUE`"),
        ("goal.epochs=", "write `--set goal.epochs=VALUE`, or `--set goal.epochs=null` for its default"),
        ("model= ", "write `--set model=VALUE`"),
        ("data.eval=", "write `--set data.eval=VALUE`, or `--set data.eval=null` for its default"),
        ("goal.epochs.x=3", "write `--set goal.epochs=3`"),
        ("model.x=3", "write `--set model=3`"),
        ("method.type.x=lora", "write `--set method.type=lora`"),
        ("data.columns.prompt.x=3", "write `--set data.columns=3`"),
        ("", "write it like `--set goal.epochs=3`"),
        ("  ", "write it like `--set goal.epochs=3`"),
    ],
)  # fmt: skip
def test_a_change_without_sense_is_refused_with_one_that_has_it(
    change: str, next_step: str, tmp_path: Path
) -> None:
    error = _set(tmp_path, change)
    assert error.next_step == next_step
    assert "  " not in error.what


@pytest.mark.parametrize("change", ["a.b.c=3", "goal.zzz=3", "method.rank=8", "data.columns.zzz=a"])
def test_what_was_typed_is_blamed_and_not_the_file(change: str, tmp_path: Path) -> None:
    error = _set(tmp_path, change)
    assert str(error.where).startswith(f"--set {change}")
    assert error.details["problems"][0]["line"] is None


def test_a_file_is_still_blamed_for_its_own_lines(tmp_path: Path) -> None:
    file = tmp_path / "ok.yaml"
    file.write_text(GOOD + "goal:\n  epochs: -1\n")
    with pytest.raises(RecipeError) as caught:
        load_recipe(file, ["goal.batch=4"])
    assert caught.value.where == f"{file}:5: goal.epochs"


def test_the_divisors_of_a_large_number_are_found_at_once() -> None:
    for batch in range(1, 200):
        assert divisors(batch) == [size for size in range(1, batch + 1) if batch % size == 0]
    assert divisors(10**12)[-1] == 10**12
    assert len(divisors(10**12)) == 13**2


@pytest.mark.parametrize(
    ("wanted", "names", "found"),
    [
        ("nothere.yaml", ["r_under.yaml", "zebra.yaml"], []),
        ("recpie.yaml", ["recipe.yaml", "chats.yaml"], ["recipe.yaml"]),
        ("recipe.yml", ["recipe.yaml"], ["recipe.yaml"]),
        ("Chats.jsonl.gz", ["chats.jsonl"], ["chats.jsonl"]),
        ("Qwen2.5-0.5B", ["Qwen2.5-1.5B", "Llama"], ["Qwen2.5-1.5B"]),
        ("a.yaml", ["b.yaml"], []),
        (".yaml", ["b.yaml"], []),
    ],
)
def test_a_name_is_proposed_only_where_it_is_alike(
    wanted: str, names: list[str], found: list[str]
) -> None:
    assert near_files(wanted, names) == found
