"""Numbers gone wrong: noticed at the first step that shows it, before the weights are changed by it.

Each check answers with a `Fault` or None and draws nothing and changes nothing; the loop keeps the
step's rows and ends the run. What is checked and why is in docs/concepts/worker.md.
"""

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

from surefit.plan.plan import Plan
from surefit.train.model import trainable
from surefit.train.proof import probe_logits
from surefit.train.rows import Row

_STILL_LOSSES = 20  # equal to seven digits in so many steps in a row: nothing is learned
_STILL_SHARE = 1e-7
_LEARNED_LOSS = 1e-3  # from here a loss may reach 0 by learning the rows by heart
_GUESSING_SHARE, _EVEN_SHARE = 0.03, 0.97
_FROZEN_STEPS = 3
_SAMPLED = 16  # numbers of each tensor that are compared


@dataclass(frozen=True)
class Fault:
    """A number gone wrong, in words; `name` is the failure's class."""

    what: str
    why: str
    next_step: str
    name: str = "NAN"


@dataclass(frozen=True)
class StepNumbers:
    """The figures of one optimizer step (from 1), before it is made."""

    step: int
    loss: float
    gradient_norm: float
    rate: float


@dataclass
class NumberWatch:
    """Looks at every step of one worker.

    Args:
        plan: the plan.
        model: what is trained.
        first_step: the first step that this worker makes.
        evenness: the entropy of the model's predictions as a share of ln(vocabulary), asked for only
            where the loss is near it.
    """

    plan: Plan
    model: Any
    first_step: int = 1
    evenness: Callable[[], float] = lambda: 1.0
    _losses: deque[float] = field(default_factory=lambda: deque(maxlen=_STILL_LOSSES))
    _before: dict[str, torch.Tensor] = field(default_factory=dict)

    def before_step(self, now: StepNumbers) -> Fault | None:
        """What is wrong with a step whose gradients are there and that was not made yet."""
        found = (
            self._not_finite(now)
            or self._no_loss(now)
            or self._guessing(now)
            or self._no_rate(now)
            or self._no_gradient(now)
            or self._still(now)
        )
        if found is None:
            self._losses.append(now.loss)
            if now.step == self._compared_from:
                self._before = sampled(self.model)
        return found

    def after_step(self, step: int) -> Fault | None:
        """What is wrong with the weights after some steps at a full learning rate."""
        if not self._before or step < self._compared_from + _FROZEN_STEPS - 1:
            return None
        before, self._before = self._before, {}
        now = sampled(self.model)
        if any(not torch.equal(before[name], now[name]) for name in before):
            return None
        training = self.plan.training
        return Fault(
            f"no weight has changed in {_FROZEN_STEPS} steps, up to step {step:,}",
            f"every step is smaller than the weights' number format ({training.precision}) can hold, or the "
            f"optimizer was given other weights; the learning rate is {training.learning_rate:g}",
            "set `how.precision: float32`, or a larger `goal.learning_rate`",
            "NOTHING_TRAINED",
        )

    @property
    def _compared_from(self) -> int:
        """The first step of this worker at the full learning rate."""
        return max(self.first_step, self.plan.training.warmup_steps + 1)

    def _not_finite(self, now: StepNumbers) -> Fault | None:
        rate = self.plan.training.learning_rate
        for part, value in (("loss", now.loss), ("gradient norm", now.gradient_norm)):
            if not math.isfinite(value):
                return Fault(
                    f"the {part} of step {now.step:,} is {value}",
                    "the weights were left as they were before the step",
                    f"set `goal.learning_rate: {rate / 10:g}` (now {rate:g}), or look at these rows",
                )
        return None

    def _no_loss(self, now: StepNumbers) -> Fault | None:
        """A loss of exactly 0 that was not reached by learning."""
        if now.loss != 0 or (self._losses and min(self._losses) < _LEARNED_LOSS):
            return None
        before = f" after {self._losses[-1]:.4f} in the step before" if self._losses else ""
        return Fault(
            f"the loss of step {now.step:,} is exactly 0{before}",
            "no token that is trained in it can be wrong: the logits overflowed, or nothing carries loss",
            f"look at these rows, then at `surefit check`; `how.precision: float32` rules an overflow "
            f"out (now {self.plan.training.precision})",
            "NAN",
        )

    def _guessing(self, now: StepNumbers) -> Fault | None:
        """A model whose norms were trained, and that still guesses evenly over its vocabulary."""
        chance = math.log(self.plan.model.vocabulary)
        near = abs(now.loss - chance) <= _GUESSING_SHARE * chance
        if now.step != 1 or not near or not norms_were_trained(self.model):
            return None
        if self.evenness() < _EVEN_SHARE:
            return None  # it is sure of itself, and wrong about these rows: that can be learned
        return Fault(
            f"the loss of the first step is {now.loss:.2f}: the model guesses",
            f"ln of its vocabulary of {self.plan.model.vocabulary:,} is {chance:.2f}, and its norm weights "
            "show that it was trained once: weights and config, or weights and tokenizer, do not belong together",
            f"fetch the model in {self.plan.model.folder} again, with the tokenizer files that came with it",
            "FILE_CORRUPT",
        )

    def _no_rate(self, now: StepNumbers) -> Fault | None:
        """A learning rate of 0 anywhere but in the first step of a warm-up."""
        warming_up = now.step == 1 and self.plan.training.warmup_steps > 0
        if now.rate > 0 or warming_up:
            return None
        planned = self.plan.training.learning_rate
        return Fault(
            f"the learning rate of step {now.step:,} is {now.rate:g}",
            f"the plan says {planned:g} with the schedule {self.plan.training.schedule}: the step "
            "would change nothing",
            "report this with the run's effective.json; it is no matter of the recipe",
            "NOTHING_TRAINED",
        )

    def _no_gradient(self, now: StepNumbers) -> Fault | None:
        """Trainable weights that the loss does not reach."""
        lost = unreached(self.model) if now.step == self.first_step else []
        if not lost and not (now.gradient_norm == 0 and now.loss > 0):
            return None
        named = ", ".join(lost[:3]) + (", ..." if lost[3:] else "")
        return Fault(
            f"{len(lost):,} trainable weights got no gradient in step {now.step:,}"
            if lost
            else f"the gradient of step {now.step:,} is exactly 0",
            f"the loss does not reach {named}" if lost else "the loss does not reach any weight",
            "report this with the run's effective.json; `how.gradient_checkpointing: false` rules one cause out",
            "NO_GRAD",
        )

    def _still(self, now: StepNumbers) -> Fault | None:
        """The same loss in many steps: rows differ, so it should too."""
        if len(self._losses) < _STILL_LOSSES or now.loss == 0:
            return None
        spread = max(*self._losses, now.loss) - min(*self._losses, now.loss)
        if spread > _STILL_SHARE * abs(now.loss):
            return None
        return Fault(
            f"the loss has not moved in {_STILL_LOSSES} steps: it is {now.loss:.6f} up to step {now.step:,}",
            "other rows give another loss, and training changes it: here neither does",
            "look at these rows: are they all the same? Then at `surefit check`",
            "NOTHING_TRAINED",
        )


def norms_were_trained(model: Any) -> bool:
    """Whether any norm weight differs from its start (all 0 or all 1). Pretrained models' always do."""
    for name, weight in model.named_parameters():
        if weight.dim() == 1 and "norm" in name and name.endswith("weight"):
            values = _local(weight)
            if values.numel() and not bool((values == values[0]).all()):
                return True
    return False


def evenness_on(model: Any, row: Row, device: torch.device) -> float:
    """Mean entropy of the predictions on a row, as a share of ln(vocabulary): 1 is blind guessing."""
    logits = probe_logits(model, [row], device)[0]
    model.train()
    logs = logits.log_softmax(-1)
    entropy = -(logs.exp() * logs).sum(-1).mean()
    return float(entropy) / math.log(logits.shape[-1])


def unreached(model: Any) -> list[str]:
    """Trainable weights without any gradient. Experts that no token was sent to rightly have none."""
    config = model.config
    if any(getattr(config, name, None) for name in ("num_experts", "num_local_experts")):
        return []
    return [name for name, weight in trainable(model).items() if weight.grad is None]


def sampled(model: Any) -> dict[str, torch.Tensor]:
    """A few numbers of every trainable tensor, spread evenly over it."""
    found = {}
    for name, weight in trainable(model).items():
        flat = _local(weight).reshape(-1)
        found[name] = flat[:: max(1, flat.numel() // _SAMPLED)].clone()
    return found


def _local(weight: torch.Tensor) -> torch.Tensor:
    """This rank's part of a weight that is shared out, else the weight."""
    part = weight.detach()
    return part.to_local() if hasattr(part, "to_local") else part
