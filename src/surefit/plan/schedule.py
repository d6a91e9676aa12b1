"""Steps, warm-up, checkpoints and evaluations: when things happen in a run."""

import math

from surefit.plan.disk import checkpoint_size
from surefit.plan.measured import measured
from surefit.plan.setup import Setup

_LONGEST_INTERVAL_SECONDS = 600.0
_CHECKPOINTS_A_RUN = 4
_EVALUATIONS_A_RUN = 4
_WRITING_SHARE = 0.05
_EVALUATING_SHARE = 0.10


def count_steps(rows: int, batch: int, epochs: float) -> int:
    """Optimizer steps: ceil(rows / batch) for each epoch.

    The last batch of an epoch may be smaller; epochs do not share a batch. A fractional
    epoch is rounded up to a whole step.
    """
    each = math.ceil(rows / batch)
    return max(1, math.ceil(round(each * epochs, 6)))


def count_warmup(steps: int, share: float) -> int:
    """Steps in which the learning rate rises; less than all of them."""
    return min(steps - 1, math.ceil(round(steps * share, 6)))


def checkpoint_interval(setup: Setup, steps: int, seconds: float | None) -> int:
    """Steps between two checkpoints.

    A quarter of the run, but at least every ten minutes, and never so often that writing takes more
    than a twentieth of the time.
    """
    quarter = max(1, math.ceil(steps / _CHECKPOINTS_A_RUN))
    if seconds is None:
        return quarter
    each = seconds / steps
    often = max(1, int(_LONGEST_INTERVAL_SECONDS / each)) if each > 0 else quarter
    writing = checkpoint_size(setup) / measured("disk")["write_bytes_per_second"]
    rarest = math.ceil(writing / _WRITING_SHARE / each) if each > 0 else 1
    return min(steps, max(min(quarter, often), rarest, 1))


def evaluation_interval(
    steps: int, train_tokens: float, eval_tokens: float, epochs: float
) -> int | None:
    """Steps between two evaluations; None: only at the end.

    A forward pass costs about half of a training step with frozen weights.
    """
    if eval_tokens <= 0:
        return None
    one = eval_tokens / 2
    all_training = max(1.0, train_tokens * epochs)
    if _EVALUATIONS_A_RUN * one > _EVALUATING_SHARE * all_training:
        return None
    return max(1, math.ceil(steps / _EVALUATIONS_A_RUN))
