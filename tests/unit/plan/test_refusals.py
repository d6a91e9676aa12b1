"""Combinations that nothing can train name their field and the way out."""

from typing import Any

import pytest
from plan_cases import facts, plan, recipe, report

from surefit.errors import RecipeError, Refused
from surefit.plan import make_plan


@pytest.mark.parametrize(
    ("changes", "where", "said"),
    [
        (
            {"goal": {"batch": 8}, "how": {"micro_batch": 3}},
            "how.micro_batch",
            ["8", "3", "how.micro_batch: 2"],
        ),
        (
            {"goal": {"batch": 4}, "how": {"micro_batch": 8}},
            "how.micro_batch",
            ["how.micro_batch: 4"],
        ),
        (
            {"method": {"type": "lora", "targets": ["q_prj"]}},
            "method.targets",
            ["q_prj", "down_proj", "[q_proj]"],
        ),
        (
            {"method": {"type": "lora", "targets": ["lm_head"]}},
            "method.targets",
            ["all-linear"],
        ),
        ({"method": {"type": "lora", "targets": []}}, "method.targets", ["empty"]),
        (
            {"method": {"type": "lora", "rank": 64}},
            "method.rank",
            ["k_proj", "32", "method.rank: 16"],
        ),
        ({"goal": {"max_length": 5000}}, "goal.max_length", ["5,000", "4,096", "2048"]),
        ({"data": {"train": "a", "eval": "1%"}}, "data.eval", ["1%", "none"]),
        ({"data": {"train": "a", "eval": "b.jsonl"}}, "data.eval", ["b.jsonl"]),
    ],
)
def test_the_field_the_values_and_a_next_step(
    changes: dict[str, Any], where: str, said: list[str]
) -> None:
    with pytest.raises(RecipeError) as caught:
        plan(recipe=recipe(**changes))
    assert caught.value.where == where
    for part in said:
        assert part in caught.value.as_text()


def test_eval_none_needs_no_rows() -> None:
    assert plan(recipe=recipe(data={"train": "a", "eval": "none"})).training.rows == 400


def test_no_usable_row_is_refused() -> None:
    with pytest.raises(Refused, match="no row to train"):
        plan(report=report(rows=0, usable=0, tokens=None))


def test_a_rank_of_the_smallest_side_is_still_possible() -> None:
    assert plan(recipe=recipe(method={"type": "lora", "rank": 32})).verdict == "fits"
    wide = recipe(method={"type": "lora", "rank": 64, "targets": ["q_proj"]})
    assert plan(recipe=wide).verdict == "fits"


def test_an_unknown_architecture_without_matrices_is_refused() -> None:
    with pytest.raises(RecipeError, match="matches nothing"):
        make_plan(recipe(), facts(block_linears=()), plan().hardware, report())
