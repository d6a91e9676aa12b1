"""A packed plan counts sequences, and its memory is that of the fullest one."""

import pytest
from plan_cases import facts, plan, reason, recipe, report

from surefit.data.report import PackedCounts
from surefit.errors import RecipeError
from surefit.plan.plan import Plan

PACKED = PackedCounts(
    sequences=21,
    longest=2048,
    shortest=700,
    mean=1904.8,
    percentiles={"p50": 2048, "p90": 2048, "p99": 2048},
    filled=0.93,
)


def packed_plan(**goal: object) -> Plan:
    return plan(
        recipe=recipe(how={"packing": True}, goal={"max_length": 2048, "batch": 4, **goal}),
        report=report(packed=PACKED, max_length=2048),
    )


def test_steps_are_counted_in_sequences() -> None:
    made = packed_plan(epochs=2)
    assert made.training.sequences == 21
    assert made.training.items == 21
    assert made.training.rows == 400
    assert made.training.steps == 2 * 6
    assert "21 packed sequences in batches of 4 make 6 steps" in reason(made, "steps")
    assert "93.0%" in reason(made, "sequences")


def test_a_packed_plan_is_flat_and_pays_for_the_longest_line() -> None:
    made = packed_plan()
    assert made.training.layout == "flat"
    plain = plan(
        recipe=recipe(goal={"max_length": 2048, "batch": 4}, how={"micro_batch": 1}),
        report=report(max_length=2048),
    )
    kept = {one.item: one.bytes for one in made.account}["activations"]
    alone = {one.item: one.bytes for one in plain.account}["activations"]
    # 2,048 positions with a mask against 400 without one.
    assert kept > 5 * alone


def test_an_unpacked_plan_says_what_packing_would_change() -> None:
    why = reason(plan(report=report(max_length=2048)), "packing")
    assert "about 20 sequences" in why
    assert "in place of 50" in why


def test_another_length_takes_every_sequence_as_full() -> None:
    made = plan(
        recipe=recipe(how={"packing": True}, goal={"max_length": 1024, "batch": 4}),
        report=report(packed=PACKED, max_length=2048),
    )
    assert made.training.sequences == 40  # 40,000 tokens
    assert "40 sequences" not in reason(made, "sequences")


@pytest.mark.parametrize(
    ("how", "model", "field"),
    [
        ({"packing": True, "layout": "padded"}, {}, "how.layout"),
        ({"packing": True}, {"isolates_flat_rows": False}, "how.packing"),
    ],
)
def test_packing_that_cannot_be_safe_is_refused(
    how: dict[str, object], model: dict[str, object], field: str
) -> None:
    with pytest.raises(RecipeError) as refused:
        plan(recipe=recipe(how=how), facts=facts(**model))
    assert refused.value.where is not None
    assert field in refused.value.where


def test_padded_steps_of_several_passes_pass_by_length() -> None:
    how = {"layout": "padded", "micro_batch": 2}
    made = plan(recipe=recipe(how=how, goal={"batch": 8}))
    assert made.training.by_length
    assert "fewer positions" in reason(made, "by_length")
    at_once = plan(recipe=recipe(how={"layout": "padded", "micro_batch": 8}, goal={"batch": 8}))
    assert not at_once.training.by_length
