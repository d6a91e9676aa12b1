"""Values at the edges of their bounds: planned in a moment, with figures that mean something."""

import time

import pytest
from plan_cases import plan, reason, recipe, report

from surefit.plan.lengths import lengths_of
from surefit.plan.plan import Plan
from surefit.units import seconds_text


def _timed(**goal: float) -> tuple[Plan, float]:
    began = time.process_time()
    made = plan(recipe=recipe(goal=goal), report=report(rows=2_000_000, longest=2048))
    return made, time.process_time() - began


@pytest.mark.parametrize("batch", [1_000_000, 720_720, 999_983, 524_288])
def test_a_huge_batch_is_planned_in_a_moment(batch: int) -> None:
    made, seconds = _timed(batch=batch)
    assert made.training.batch == batch
    assert seconds < 2


def test_a_batch_that_is_never_filled_costs_what_its_rows_cost() -> None:
    rows = report(rows=200)
    usual = plan(recipe=recipe(goal={"batch": 200}), report=rows)
    never = plan(recipe=recipe(goal={"batch": 720_720}), report=rows)
    assert usual.seconds is not None
    assert never.seconds is not None
    assert never.seconds.high < 2 * usual.seconds.high


def test_a_sample_of_the_passes_gives_the_width_of_all() -> None:
    lengths = lengths_of(report(rows=100_000).tokens, 100_000, 400)
    all_of_them = [lengths.at(1 - (place + 0.5) / 60_000) for place in range(0, 60_000, 8)]
    exact = sum(all_of_them) / len(all_of_them)
    assert lengths.sorted_width(8, 60_000) == pytest.approx(exact, rel=0.005)


def test_a_run_of_weeks_without_a_limit_is_told() -> None:
    many = {"epochs": 100_000}
    rows = report(rows=10_000)
    long = plan(recipe=recipe(goal=many), report=rows)
    assert reason(long, "steps").startswith("warning: this takes ")
    limited = plan(recipe=recipe(goal=many, limits={"hours": 10_000}), report=rows)
    assert not reason(limited, "steps").startswith("warning")
    assert not reason(plan(), "steps").startswith("warning")


def test_more_threads_than_cores_are_told() -> None:
    assert reason(plan(recipe=recipe(how={"threads": 1024})), "threads").startswith("warning")
    assert not reason(plan(recipe=recipe(how={"threads": 4})), "threads").startswith("warning")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0.0 s"),
        (3.6e-6, "less than 0.1 s"),
        (0.4, "0.4 s"),
        (5200 * 86_400.0, "5,200 d"),
        (float("inf"), "more than can be counted"),
    ],
)
def test_every_duration_has_words(seconds: float, words: str) -> None:
    assert seconds_text(seconds) == words
