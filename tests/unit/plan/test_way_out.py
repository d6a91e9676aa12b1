"""Ways out are planned again for real, and what cannot be trained in time or on the disk is refused."""

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plan_cases import facts, machine, plan, recipe, report

from surefit.plan import Plan, WayOut, make_plan, view_plan
from surefit.recipe.schema import Recipe
from surefit.units import GIB, MIB

BIG = facts(layers=24, hidden=1024, vocabulary=32_000)
LONG = report(mean=1200, longest=2000)


def applied(base: Recipe, way: WayOut) -> Recipe:
    """The recipe with a way out set, read from its words as a person would."""
    data: dict[str, Any] = base.model_dump(mode="json", exclude_none=True)
    for change in way.change.split(" and "):
        if change.startswith("leave out "):
            part, field = change.removeprefix("leave out ").split(".")
            data[part].pop(field)
            continue
        path, value = change.split(": ", 1)
        if path == "method":
            data["method"] = {"type": "lora"}
            continue
        part, field = path.split(".")
        data.setdefault(part, {})[field] = {"true": True, "false": False}.get(value, value)
    return Recipe.model_validate(data)


def check_promises(made: Plan, base: Recipe, **rest: Any) -> None:
    for way in made.way_out:
        again = make_plan(applied(base, way), made.model, made.hardware, rest.get("report", LONG))
        assert (again.verdict, again.peak_bytes) == (way.verdict, way.peak_bytes), way.change


def test_what_fits_needs_no_way_out() -> None:
    assert plan().way_out == ()


def test_a_plan_that_does_not_fit_offers_the_same_result_first() -> None:
    base = recipe(how={"micro_batch": 8, "gradient_checkpointing": False})
    made = plan(recipe=base, facts=BIG, report=LONG, machine=machine(free=4 * GIB))
    assert made.verdict == "does_not_fit"
    assert "GiB needed" in made.verdict_reason
    assert made.way_out[0].same_result
    assert "how.micro_batch: 1" in made.way_out[0].change
    check_promises(made, base)


def test_full_training_that_cannot_fit_is_shown_the_adapters() -> None:
    base = recipe(method={"type": "full"})
    made = plan(recipe=base, facts=BIG, report=LONG, machine=machine(free=5 * GIB))
    assert made.verdict == "does_not_fit"
    changes = {way.change: way for way in made.way_out}
    assert not changes["method: {type: lora}"].same_result
    check_promises(made, base)


def test_nothing_is_offered_where_nothing_helps() -> None:
    made = plan(facts=BIG, report=LONG, machine=machine(free=200 * MIB))
    assert made.verdict == "does_not_fit"
    assert made.way_out == ()


@given(
    free=st.integers(600, 20_000),
    how=st.fixed_dictionaries(
        {},
        optional={
            "micro_batch": st.sampled_from([1, 2, 4, 8]),
            "layout": st.sampled_from(["flat", "padded"]),
            "gradient_checkpointing": st.booleans(),
            "keep_checkpoints": st.integers(1, 5),
            "threads": st.integers(1, 4),
        },
    ),
    full=st.booleans(),
    hours=st.none() | st.floats(0.01, 10),
    disk=st.sampled_from([50 * MIB, 2 * GIB, 500 * GIB]),
)
@settings(max_examples=60, deadline=None)
def test_every_promise_is_kept(
    free: int, how: dict[str, Any], full: bool, hours: float | None, disk: int
) -> None:
    base = recipe(
        how=how,
        method={"type": "full"} if full else {"type": "lora"},
        limits={"hours": hours} if hours else {},
    )
    made = plan(recipe=base, facts=BIG, report=LONG, machine=machine(free=free * MIB, disk=disk))
    check_promises(made, base)
    same = [way.same_result for way in made.way_out if way.verdict == "fits"]
    assert same == sorted(same, reverse=True)


def test_a_disk_too_small_for_the_checkpoints_is_refused_with_both_sizes() -> None:
    base = recipe(method={"type": "full"})
    made = plan(recipe=base, facts=BIG, report=LONG, machine=machine(free=64 * GIB, disk=10 * GIB))
    assert made.verdict == "does_not_fit"
    assert "disk" in made.verdict_reason
    assert "10.0 GiB are free" in made.verdict_reason
    assert "how.keep_checkpoints: 1" in {way.change for way in made.way_out}
    check_promises(made, base)


def test_the_disk_account_holds_a_checkpoint_more_than_is_kept() -> None:
    two, four = (
        next(
            one.bytes
            for one in plan(recipe=recipe(how={"keep_checkpoints": keep})).disk
            if one.item == "checkpoints"
        )
        for keep in (1, 3)
    )
    assert four == 2 * two


def test_a_limit_of_hours_that_cannot_be_met_is_refused_with_what_would_meet_it() -> None:
    base = recipe(limits={"hours": 0.02}, goal={"epochs": 3})
    made = plan(recipe=base, facts=BIG, report=LONG, machine=machine(free=64 * GIB))
    assert made.verdict == "does_not_fit"
    assert "limits.hours" in made.verdict_reason
    assert made.limit_seconds == 72
    assert any(way.change.startswith("limits.hours") for way in made.way_out)
    check_promises(made, base)


def test_a_generous_limit_changes_nothing() -> None:
    made = plan(recipe=recipe(limits={"hours": 10}))
    assert made.verdict == "fits"
    assert made.limit_seconds == 36_000


def test_unknown_lengths_give_unknown_where_they_matter_and_an_answer_where_not() -> None:
    no_lengths = report(tokens=None)
    assert plan(report=no_lengths).verdict == "fits"
    narrow = plan(
        recipe=recipe(how={"micro_batch": 8, "gradient_checkpointing": False}),
        facts=BIG,
        report=no_lengths,
        machine=machine(free=26 * GIB),
    )
    assert narrow.verdict == "unknown"
    assert "lengths are not known" in narrow.verdict_reason


@pytest.mark.parametrize("free", [300 * MIB, 4 * GIB, 64 * GIB])
def test_the_view_shows_verdict_bars_and_ways_out(free: int) -> None:
    made = plan(facts=BIG, report=LONG, machine=machine(free=free))
    view = view_plan(made)
    assert view.verdict == made.verdict.replace("_", " ")
    assert sum(bar.share for bar in view.bars) == pytest.approx(made.peak_bytes / free)
    assert re.fullmatch(r"[\d.]+ [GMK]iB", view.peak)
    assert view.time is not None
    assert all(bar.why for bar in (*view.bars, *view.disk))
