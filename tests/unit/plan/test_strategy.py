"""Several ranks: what may be asked together, what is planned, and what each rank must hold."""

from typing import Any

import pytest
from plan_cases import facts, machine, plan, recipe, report

from surefit.errors import RecipeError
from surefit.hardware.machine import Hardware
from surefit.units import GIB


def gpus(count: int, free: int = 24 * GIB) -> Hardware:
    """A machine with alike GPUs."""
    one = machine(free, kind="cuda", name="GPU", bf16_is_fast=True)
    return one.model_copy(update={"devices": one.devices * count})


def test_one_process_unless_asked_otherwise() -> None:
    made = plan()
    assert (made.strategy, made.training.strategy, made.training.ranks) == ("single", "single", 1)


@pytest.mark.parametrize(
    ("how", "strategy", "ranks"),
    [
        ({"ranks": 2}, "ddp", 2),
        ({"ranks": 2, "strategy": "fsdp"}, "fsdp", 2),
        ({"ranks": 1}, "single", 1),
        ({"ranks": 1, "strategy": "single"}, "single", 1),
    ],
)
def test_ranks_on_a_cpu_are_as_asked(how: dict[str, Any], strategy: str, ranks: int) -> None:
    training = plan(recipe=recipe(how=how)).training
    assert (training.strategy, training.ranks) == (strategy, ranks)
    assert training.micro_batch * training.accumulation * ranks == training.batch


def test_a_strategy_takes_every_gpu() -> None:
    made = plan(recipe=recipe(how={"strategy": "fsdp"}), machine=gpus(4))
    assert (made.strategy, made.training.ranks) == ("fsdp", 4)


def test_threads_are_divided_among_the_ranks() -> None:
    assert plan(recipe=recipe(how={"ranks": 2}), machine=machine(cores=4)).training.threads == 2
    assert plan(recipe=recipe(how={"ranks": 8}), machine=machine(cores=4)).training.threads == 1


@pytest.mark.parametrize(
    ("changes", "hardware", "where", "named"),
    [
        ({"how": {"ranks": 2, "strategy": "single"}}, machine(), "how.strategy", "2"),
        ({"how": {"strategy": "ddp"}}, machine(), "how.strategy", "how.ranks: 2"),
        ({"how": {"strategy": "fsdp", "ranks": 1}}, machine(), "how.strategy", "two ranks"),
        ({"how": {"strategy": "fsdp"}}, gpus(1), "how.strategy", "one GPU"),
        ({"how": {"ranks": 3}}, gpus(2), "how.ranks", "set `how.ranks: 2`"),
        ({"how": {"ranks": 3}}, machine(), "goal.batch", "goal.batch: 9"),
        ({"how": {"ranks": 2, "micro_batch": 8}}, machine(), "how.micro_batch", "micro_batch: 4"),
        (
            {"goal": {"batch": 12}, "how": {"ranks": 2, "micro_batch": 4}},
            machine(),
            "how.micro_batch",
            "2 ranks",
        ),
        (
            {"how": {"ranks": 2, "strategy": "fsdp", "offload": True}},
            machine(),
            "how.offload",
            "memory already",
        ),
        (
            {"how": {"ranks": 2, "strategy": "fsdp"}, "method": {"type": "qlora"}},
            machine(),
            "how.strategy",
            "4-bit",
        ),
        ({"how": {"ranks": 2, "offload": True}}, gpus(2), "how.offload", "fsdp"),
    ],
)
def test_what_cannot_be_is_refused_with_the_field(
    changes: dict[str, Any], hardware: Hardware, where: str, named: str
) -> None:
    with pytest.raises(RecipeError) as refused:
        plan(recipe=recipe(**changes), machine=hardware)
    assert refused.value.where == where
    assert named in refused.value.as_text()


def test_more_ranks_than_rows_are_refused() -> None:
    with pytest.raises(RecipeError) as refused:
        plan(recipe=recipe(how={"ranks": 8}), report=report(rows=5))
    assert refused.value.where == "how.ranks"
    assert "8 ranks cannot share 5 rows" in refused.value.what
    assert "set `how.ranks: 5`" in refused.value.next_step


def test_ddp_never_helps_a_model_to_fit() -> None:
    """Per rank it needs what one process needs, and the buckets besides; the reason says so."""
    model = facts(layers=12, hidden=512)
    how = {"micro_batch": 1, "layout": "flat"}
    method = {"type": "full"}
    alone = plan(recipe=recipe(how=how, method=method), facts=model)
    both = plan(recipe=recipe(how={**how, "ranks": 2}, method=method), facts=model)
    assert both.peak_bytes >= alone.peak_bytes
    assert both.budget_bytes == alone.budget_bytes // 2
    reason = next(one for one in both.decisions if one.field == "strategy").reason
    assert "never smaller" in reason


def test_fsdp_holds_a_share_in_each_rank() -> None:
    model = facts(layers=12, hidden=512)
    made = {
        ranks: plan(
            recipe=recipe(
                how={"micro_batch": 1, "ranks": ranks, "strategy": "fsdp" if ranks > 1 else None},
                method={"type": "full"},
            ),
            facts=model,
        )
        for ranks in (1, 2, 4)
    }
    for ranks, one in made.items():
        account = {item.item: item.bytes for item in one.account}
        if "weights" in account:
            assert account["weights"] == model.parameters.total * 4 // ranks
    peaks = [one.peak_bytes for one in made.values()]
    assert peaks == sorted(peaks, reverse=True)
