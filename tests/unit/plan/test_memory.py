"""The memory account: exact where it is arithmetic, growing where it must, summing to its peak."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plan_cases import facts, machine, plan, recipe, report

from surefit.plan.lengths import Lengths
from surefit.plan.memory import Estimate, estimate_memory
from surefit.plan.setup import Setup
from surefit.recipe.schema import FullMethod, LoraMethod
from surefit.units import GIB

ALL = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")


def setup(**changes: Any) -> Setup:
    rank, full = changes.pop("rank", 8), changes.pop("full", False)
    length, rows = changes.pop("length", 600), changes.pop("rows", 100)
    sizes = {key: changes.pop(key) for key in ("layers", "hidden", "vocabulary") if key in changes}
    values: dict[str, Any] = {
        "facts": facts(**sizes),
        "method": FullMethod(type="full") if full else LoraMethod(type="lora", rank=rank),
        "targets": () if full else ALL,
        "lengths": Lengths(rows, ((0.0, length), (1.0, length)), float(length), 0.5, True),
        "device": "cpu",
        "precision": "float32",
        "layout": "flat",
        "micro_batch": 4,
        "checkpointing": False,
        "batch": 64,
    }
    return Setup(**(values | changes))


def part(estimate: Estimate, item: str) -> int:
    return next(one.bytes for one in estimate.parts if one.item == item)


def test_what_is_arithmetic_is_exact() -> None:
    made = setup(layers=4, hidden=64, rank=8)
    estimate = estimate_memory(made)
    # 4 layers of (64+64) + 2 x (64+32) + (64+64) + 3 x (64+192), times the rank.
    adapters = 4 * 8 * (128 + 2 * 96 + 128 + 3 * 256)
    assert made.trained_parameters == adapters
    assert part(estimate, "adapters") == 4 * adapters
    assert part(estimate, "gradients") == 4 * adapters
    assert part(estimate, "optimizer") == 8 * adapters
    assert part(estimate, "weights") == 4 * made.facts.parameters.total


def test_full_training_has_four_numbers_a_parameter() -> None:
    made = setup(full=True, layers=8, hidden=512, length=10, micro_batch=1)
    estimate = estimate_memory(made)
    total = made.facts.parameters.total
    assert part(estimate, "weights") == 4 * total
    assert part(estimate, "optimizer") == 8 * total
    assert estimate.peak >= 16 * total


def test_bfloat16_halves_weights_and_keeps_adapters_in_float32() -> None:
    usual, half = (estimate_memory(setup(precision=one)) for one in ("float32", "bfloat16"))
    assert 2 * part(half, "weights") == part(usual, "weights")
    assert part(half, "adapters") == part(usual, "adapters")


def test_gradients_wait_only_where_passes_are_added_up() -> None:
    one_pass = estimate_memory(setup(full=True, batch=4, length=2000))
    assert "gradients" not in {one.item for one in one_pass.parts}
    several = estimate_memory(setup(full=True, length=2000))
    assert "gradients" in {one.item for one in several.parts}


def test_the_moment_of_the_peak_is_named() -> None:
    many_words = setup(hidden=64, vocabulary=200_000, length=300, micro_batch=1, batch=1)
    assert estimate_memory(many_words).moment == "the check of the saved files"
    assert estimate_memory(setup(vocabulary=50_000)).moment.startswith("the loss")


def test_a_mask_grows_with_the_square_of_the_line_and_one_row_has_none() -> None:
    def activations(micro_batch: int, length: int) -> int:
        return part(estimate_memory(setup(micro_batch=micro_batch, length=length)), "activations")

    assert activations(1, 4000) == 2 * activations(1, 2000)
    assert activations(2, 4000) > 2.1 * activations(2, 2000)


def test_an_unknown_family_has_a_wider_interval() -> None:
    known, unknown = (
        estimate_memory(setup(facts=facts(known_family=one), length=2000)) for one in (True, False)
    )
    assert (unknown.high - unknown.low) / unknown.peak > (known.high - known.low) / known.peak


setups = st.fixed_dictionaries(
    {
        "layers": st.integers(1, 40),
        "hidden": st.sampled_from([32, 64, 256, 1024]),
        "vocabulary": st.integers(100, 200_000),
        "rank": st.integers(1, 32),
        "full": st.booleans(),
        "length": st.integers(8, 4000),
        "micro_batch": st.sampled_from([1, 2, 4]),
        "layout": st.sampled_from(["flat", "padded"]),
        "checkpointing": st.booleans(),
        "precision": st.sampled_from(["float32", "bfloat16"]),
        "device": st.sampled_from(["cpu", "cuda"]),
        "allocator": st.sampled_from(["keep", "return"]),
    }
)


@given(values=setups)
def test_the_account_sums_to_the_peak_and_lies_in_its_interval(values: dict[str, Any]) -> None:
    estimate = estimate_memory(setup(**values))
    assert sum(one.bytes for one in estimate.parts) == estimate.peak
    assert 0 < estimate.low <= estimate.peak <= estimate.high
    assert all(0 <= one.low <= one.bytes <= one.high for one in estimate.parts)


@given(values=setups, factor=st.sampled_from([2, 3]))
@pytest.mark.parametrize("name", ["length", "micro_batch", "layers", "rank"])
def test_the_peak_grows(name: str, values: dict[str, Any], factor: int) -> None:
    less = estimate_memory(setup(**values))
    more = estimate_memory(setup(**(values | {name: values[name] * factor})))
    assert more.peak >= less.peak
    assert more.high >= less.high
    assert more.low >= less.low


@given(values=setups)
def test_recomputing_never_needs_more_for_what_is_kept(values: dict[str, Any]) -> None:
    kept = estimate_memory(setup(**(values | {"checkpointing": False, "layers": 40})))
    again = estimate_memory(setup(**(values | {"checkpointing": True, "layers": 40})))
    assert again.peak <= kept.peak


@given(free=st.integers(100_000_000, 40 * GIB))
@settings(max_examples=50)
def test_the_verdict_follows_the_interval(free: int) -> None:
    made = plan(
        recipe=recipe(how={"micro_batch": 4, "gradient_checkpointing": False}),
        facts=facts(layers=24, hidden=1024, vocabulary=32_000),
        machine=machine(free=free),
        report=report(mean=900, longest=2000),
    )
    assert made.verdict == (
        "does_not_fit" if made.low_bytes > free else "fits" if made.high_bytes <= free else "tight"
    )
    assert made.budget_bytes == free


def test_a_gpu_is_planned_with_its_own_budget_and_a_wider_interval() -> None:
    gpu = machine(kind="cuda", name="RTX 4090", free=23 * GIB, bf16_is_fast=True, flops=None)
    made = plan(machine=gpu, facts=facts(layers=24, hidden=2048, vocabulary=128_000))
    assert made.devices == ("RTX 4090",)
    assert made.training.device == "cuda"
    assert "CUDA context" in {one.item for one in made.account}
    assert made.seconds is None
    assert made.training.precision == "bfloat16"
