"""Every reason of a plan that does not fit: one set of words in plan, train, rehearse and JSON."""

from typing import Any

import pytest
from plan_cases import facts, machine, plan, recipe

from surefit.cli.planview import plan_text
from surefit.errors import Refused
from surefit.plan import why_not_fitting
from surefit.supervise.readiness import refuse_plan
from surefit.units import GIB, MIB

REASONS: dict[str, tuple[dict[str, Any], str, str]] = {
    "memory": ({"machine": machine(free=100 * MIB)}, "needed (at least", "smaller model"),
    "memory with a way out": (
        {"machine": machine(free=12 * GIB), "facts": facts(24, 2048), "recipe": recipe(method={"type": "full"})},
        "needed (at least",
        "set `method: {type: lora}`",
    ),
    "disk": ({"machine": machine(disk=3 * MIB)}, "the disk is too full", "SUREFIT_HOME"),
    "hours": ({"recipe": recipe(limits={"hours": 1e-9})}, "`limits.hours` allows", "set `limits.hours: "),
    "dollars": (
        {"recipe": recipe(limits={"dollars": 1e-6, "dollars_per_hour": 3})},
        "`limits.dollars: 1e-06` pays for",
        "set `limits.dollars: ",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REASONS)
def test_a_reason_has_the_same_words_everywhere(name: str) -> None:
    case, what, next_step = REASONS[name]
    made = plan(**case)
    words = why_not_fitting(made)
    assert words is not None
    assert what in words.what
    assert made.verdict_reason in words.what
    assert next_step in words.next_step
    with pytest.raises(Refused) as caught:
        refuse_plan(made)
    assert (caught.value.what, caught.value.why, caught.value.next_step) == words
    assert caught.value.as_dict()["error"]["plan"]["verdict_reason"] == made.verdict_reason
    shown = " ".join(plan_text(made).split())
    for text in (made.verdict_reason, words.why, words.next_step):
        assert " ".join(text.split()) in shown


def test_what_falls_short_is_named_and_not_always_the_memory() -> None:
    for name in ("disk", "hours", "dollars"):
        words = why_not_fitting(plan(**REASONS[name][0]))
        assert words is not None
        assert "smaller model" not in " ".join(words)


def test_a_plan_that_fits_is_not_refused() -> None:
    made = plan()
    assert why_not_fitting(made) is None
    refuse_plan(made)


def test_a_method_that_is_only_planned_is_refused_before_a_run() -> None:
    made = plan(recipe=recipe(method={"type": "int8"}))
    with pytest.raises(Refused, match="not trained by this version"):
        refuse_plan(made)
