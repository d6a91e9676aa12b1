"""Every number is decided, with a reason in words, and the person's own wish is respected."""

import time
from typing import Any

import pytest
from plan_cases import facts, machine, plan, reason, recipe, report

from surefit.plan import Plan, TrainingPlan
from surefit.units import GIB


def test_every_field_of_the_training_plan_has_a_decision() -> None:
    made = plan()
    decided = {one.field for one in made.decisions}
    assert set(TrainingPlan.model_fields) <= decided | {"seed"}
    assert all(len(one.reason) > 3 for one in made.decisions)
    for one in made.decisions:
        if one.field in TrainingPlan.model_fields and one.field != "method":
            value = getattr(made.training, one.field)
            assert one.value == (list(value) if isinstance(value, tuple) else value)


def test_a_plan_round_trips_through_json() -> None:
    made = plan()
    assert Plan.model_validate_json(made.model_dump_json()) == made


@pytest.mark.parametrize(
    ("changes", "field", "value"),
    [
        ({"how": {"micro_batch": 2}}, "micro_batch", 2),
        ({"how": {"precision": "bfloat16"}}, "precision", "bfloat16"),
        ({"how": {"layout": "padded"}}, "layout", "padded"),
        ({"how": {"gradient_checkpointing": True}}, "gradient_checkpointing", True),
        ({"how": {"checkpoint_every_steps": 7}}, "checkpoint_every_steps", 7),
        ({"how": {"keep_checkpoints": 5}}, "keep_checkpoints", 5),
        ({"how": {"threads": 3}}, "threads", 3),
        ({"goal": {"learning_rate": "3e-5"}}, "learning_rate", 3e-5),
        ({"goal": {"batch": 16}}, "batch", 16),
        ({"goal": {"max_length": 256}}, "max_length", 256),
        ({"goal": {"epochs": 2.5}}, "epochs", 2.5),
        ({"goal": {"schedule": "linear"}}, "schedule", "linear"),
        ({"goal": {"weight_decay": 0.1}}, "weight_decay", 0.1),
        ({"goal": {"seed": 3}}, "seed", 3),
        (
            {"method": {"type": "lora", "targets": ["v_proj", "q_proj"]}},
            "targets",
            ("q_proj", "v_proj"),
        ),
    ],
)
def test_what_the_person_fixed_is_used_and_marked(
    changes: dict[str, Any], field: str, value: Any
) -> None:
    made = plan(recipe=recipe(**changes))
    assert getattr(made.training, field) == value
    assert next(one for one in made.decisions if one.field == field).fixed_by_user
    untouched = next(one for one in plan().decisions if one.field == field)
    assert not untouched.fixed_by_user


def test_learning_rates_follow_the_method() -> None:
    assert plan().training.learning_rate == 2e-4
    assert plan(recipe=recipe(method={"type": "full"})).training.learning_rate == 2e-5


def test_the_alpha_that_is_used_is_shown() -> None:
    made = plan(recipe=recipe(method={"type": "lora", "rank": 8}))
    assert next(one for one in made.decisions if one.field == "method").value["alpha"] == 16


@pytest.mark.parametrize(
    ("rows", "batch", "epochs", "steps"),
    [
        (400, 8, 1, 50),
        (401, 8, 1, 51),
        (10, 8, 3, 6),
        (3, 8, 1, 1),
        (400, 8, 0.5, 25),
        (10, 1, 1.1, 11),
        (100, 8, 0.001, 1),
        (7, 2, 1.3, 6),
    ],
)
def test_steps_are_counted_exactly(rows: int, batch: int, epochs: float, steps: int) -> None:
    made = plan(recipe=recipe(goal={"batch": batch, "epochs": epochs}), report=report(rows))
    assert made.training.steps == steps


@pytest.mark.parametrize(
    ("steps", "share", "expected"), [(50, 0.03, 2), (1, 0.5, 0), (100, 0.1, 10), (4, 0, 0)]
)
def test_the_warm_up_is_shorter_than_the_run(steps: int, share: float, expected: int) -> None:
    made = plan(
        recipe=recipe(goal={"batch": 1, "warmup": share}), report=report(steps, mean=20, longest=50)
    )
    assert made.training.warmup_steps == expected


@pytest.mark.parametrize(
    ("cores", "load", "threads"), [(4, 0.0, 4), (4, 1.2, 3), (2, 2.0, 1), (1, 0.0, 1), (8, 7.9, 1)]
)
def test_threads_are_the_cores_that_are_left(cores: int, load: float, threads: int) -> None:
    assert plan(machine=machine(cores=cores, load=load)).training.threads == threads


def test_float32_where_bfloat16_is_slow_and_bfloat16_where_it_is_fast() -> None:
    slow = plan()
    assert slow.training.precision == "float32"
    assert "no bfloat16 instructions" in reason(slow, "precision")
    fast = plan(machine=machine(bf16_is_fast=True, bf16_reason="amx_bf16"))
    assert fast.training.precision == "bfloat16"


def test_trained_weights_stay_in_float32_where_bfloat16_is_fast_too() -> None:
    fast = machine(bf16_is_fast=True, bf16_reason="amx_bf16")
    made = plan(recipe=recipe(method={"type": "full"}), machine=fast)
    assert made.training.precision == "float32"
    assert "round to nothing" in reason(made, "precision")


def test_bfloat16_weights_that_are_trained_are_a_choice_with_a_warning() -> None:
    fast = machine(bf16_is_fast=True, bf16_reason="amx_bf16")
    asked = recipe(method={"type": "full"}, how={"precision": "bfloat16"})
    made = plan(recipe=asked, machine=fast)
    assert made.training.precision == "bfloat16"
    assert reason(made, "precision").startswith("warning")


def test_bfloat16_asked_for_on_a_slow_machine_is_allowed_with_a_warning() -> None:
    made = plan(recipe=recipe(how={"precision": "bfloat16"}))
    assert made.training.precision == "bfloat16"
    assert reason(made, "precision").startswith("warning")
    assert "300 times" in reason(made, "precision")
    assert made.seconds is not None
    usual = plan().seconds
    assert usual is not None
    assert made.seconds.high > 20 * usual.high


def test_rows_of_an_architecture_that_may_mix_them_are_padded() -> None:
    made = plan(facts=facts(isolates_flat_rows=False))
    assert made.training.layout == "padded"
    assert "not known" in reason(made, "layout")


def test_rows_are_put_in_one_line_where_that_is_faster_and_keeps_them_apart() -> None:
    assert plan().training.layout == "flat"


def test_no_line_grows_beyond_the_token_limit() -> None:
    long = report(rows=64, mean=1500, longest=2000)
    made = plan(recipe=recipe(goal={"batch": 64}), report=long)
    if made.training.layout == "flat":
        assert made.training.micro_batch * 2000 <= 4096


def test_recomputing_is_a_last_resort() -> None:
    wide = facts(layers=32, hidden=512)
    rows = report(rows=100, mean=1800, longest=2048)
    assert not plan(facts=wide, report=rows).training.gradient_checkpointing
    small = plan(facts=wide, report=rows, machine=machine(free=int(2.6 * GIB)))
    assert small.training.gradient_checkpointing
    assert "do not fit" in reason(small, "gradient_checkpointing")


def test_the_micro_batch_divides_the_batch_and_larger_ones_are_answered() -> None:
    made = plan(recipe=recipe(goal={"batch": 12}))
    training = made.training
    assert training.micro_batch * training.accumulation == 12
    assert reason(made, "micro_batch")


def test_max_length_defaults_to_what_the_model_was_made_for() -> None:
    assert plan(facts=facts(max_positions=512)).training.max_length == 512
    assert plan(facts=facts(max_positions=None)).training.max_length == 2048
    assert plan().training.max_length == 2048


def test_attention_scores_that_are_capped_are_computed_without_the_fused_kernel() -> None:
    made = plan(facts=facts(attention="eager"))
    assert made.training.attention == "eager"
    assert "caps" in reason(made, "attention")


def test_freed_memory_is_kept_where_its_holes_fit_and_returned_where_not() -> None:
    roomy = plan()
    assert roomy.training.allocator["MALLOC_MMAP_THRESHOLD_"] == "8589934592"
    wide, rows = facts(layers=24, hidden=512), report(rows=100, mean=1800, longest=2048)
    alone = recipe(how={"micro_batch": 1})
    kept = plan(recipe=alone, facts=wide, report=rows)
    tight = machine(free=kept.high_bytes - 1)
    narrow = plan(recipe=alone, facts=wide, report=rows, machine=tight)
    assert narrow.verdict == "fits"
    assert narrow.training.allocator["MALLOC_MMAP_THRESHOLD_"] == "262144"
    assert "back to the system" in reason(narrow, "allocator")
    assert not narrow.training.gradient_checkpointing


def test_evaluation_is_spread_where_it_is_cheap_and_left_to_the_end_where_not() -> None:
    shared = recipe(data={"train": "rows.jsonl", "eval": "5%"})
    assert plan(recipe=shared, report=report(eval_rows=10)).training.eval_every_steps == 13
    costly = plan(recipe=shared, report=report(eval_rows=400))
    assert costly.training.eval_every_steps is None
    assert "at the end only" in reason(costly, "eval_every_steps")
    assert plan().training.eval_every_steps is None


def test_checkpoints_come_at_least_every_ten_minutes_and_a_handful_a_run() -> None:
    short = plan().training
    assert short.checkpoint_every_steps == 13
    slow = plan(facts=facts(layers=16, hidden=1024), report=report(rows=20_000))
    assert slow.seconds is not None
    each = (slow.seconds.low + slow.seconds.high) / 2 / slow.training.steps
    assert slow.training.checkpoint_every_steps * each <= 600 + each


def test_a_batch_larger_than_the_data_is_said() -> None:
    assert "only 3" in reason(plan(report=report(rows=3)), "batch")


def test_code_that_is_not_run_and_unknown_rules_are_said() -> None:
    made = plan(facts=facts(ignored_code=("modeling_x.X",), known_family=False))
    assert "never run" in reason(made, "model code")
    assert "widened" in reason(made, "architecture")


def test_a_plan_takes_milliseconds() -> None:
    plan()
    start = time.process_time()
    plan(recipe=recipe(goal={"batch": 64}), facts=facts(layers=80, hidden=8192))
    assert time.process_time() - start < 0.25
