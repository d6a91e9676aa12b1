"""How much arithmetic a run is, and how long that may take.

Per token and parameter of a matrix: 2 operations forward, 2 for the gradient of the input, 2 for
the gradient of the weight. Frozen weights (lora) need 4, trained ones (full) 6; recomputing
activations adds 2. Source: Kaplan et al. 2020, arXiv:2001.08361, section 2.1, less the weight
gradients that frozen matrices do not need.
Attention: 4 x line length x query width forward for each position, twice that backward.
"""

import math

from surefit.hardware.machine import Device
from surefit.plan.measured import measured
from surefit.plan.plan import Range
from surefit.plan.setup import Setup
from surefit.units import seconds_text


def operations_per_step(setup: Setup) -> float:
    """Floating-point operations of one rank in an optimizer step of average rows."""
    return setup.passes * _operations_per_pass(setup, setup.usual_positions)


def _operations_per_pass(setup: Setup, positions: float) -> float:
    facts = setup.facts
    again = 2 if setup.checkpointing else 0
    times = (6 if setup.is_full else 4) + again
    head = facts.vocabulary * facts.hidden_size
    trained = (
        min(setup.micro_batch, setup.lengths.rows)
        * setup.lengths.mean
        * setup.lengths.trained_share
    )
    matrices = times * facts.parameters.linear * positions + (times - again) * head * trained
    if not setup.is_full:
        matrices += 6 * setup.trained_parameters * positions
    line = setup.line_length(positions)
    attention = (12 + 2 * again) * line * facts.heads * facts.head_dim * facts.layers * positions
    return matrices + attention


def step_seconds(
    setup: Setup, device: Device, threads: int, cores: int
) -> tuple[float, float] | None:
    """(at best, at worst) seconds of an optimizer step; None where no speed is known."""
    if not device.flops:
        return None
    figures = measured(device.kind)
    rate = device.flops * (threads / max(1, cores) if device.kind == "cpu" else 1.0)
    passes = math.ceil(setup.passes)
    arithmetic = operations_per_step(setup) / rate
    fixed = passes * pass_seconds(setup)
    slow = allocator_slowdown(setup)
    if setup.precision == "bfloat16" and not device.bf16_is_fast:
        slow *= SLOW_BF16_FACTOR
    return (
        slow * arithmetic / figures["efficiency_high"] + fixed / 2,
        slow * arithmetic / figures["efficiency_low"] + 2 * fixed,
    )


SLOW_BF16_FACTOR = (
    300.0  # bfloat16 against float32 products without bfloat16 instructions, measured
)


def allocator_slowdown(setup: Setup) -> float:
    """How much longer a step takes when freed blocks go back to the system at once."""
    return float(measured("allocator")["return_slowdown"]) if setup.allocator == "return" else 1.0


def pass_seconds(setup: Setup) -> float:
    """What a pass costs however short its rows are: dispatch, and reading all weights."""
    if setup.device == "cuda":
        return 0.0
    figures = measured("cpu")
    again = 1.33 if setup.checkpointing else 1.0
    dispatch = setup.facts.layers * figures["operations_per_layer"] * figures["operation_seconds"]
    reading = 2 * setup.facts.parameters.total * setup.number_bytes / figures["memory_bandwidth"]
    return float(again * (dispatch + reading))


def run_seconds(
    setup: Setup, device: Device, threads: int, cores: int, steps: int, eval_share: float
) -> Range | None:
    """Seconds of a whole run, start and check included; None where no speed is known."""
    each = step_seconds(setup, device, threads, cores)
    if each is None:
        return None
    start = measured("start")
    figures = measured(device.kind)
    low = each[0] * steps * (1 + eval_share) + start["low_seconds"]
    high = each[1] * steps * (1 + eval_share) + start["high_seconds"]
    times = (6 if setup.is_full else 4) + (2 if setup.checkpointing else 0)
    reason = (
        f"{operations_per_step(setup) / 1e9:,.0f}e9 operations a step ({times} a token and "
        "parameter, and the "
        f"attention) at {figures['efficiency_low']:.0%} to {figures['efficiency_high']:.0%} of "
        "the device's "
        f"rate with {threads} of {cores} cores; {device.flops_reason}; plus "
        f"{seconds_text(start['low_seconds'])} to {seconds_text(start['high_seconds'])} to "
        "start and to "
        "check the result"
    )
    return Range(low=low, high=high, reason=reason)
