"""The largest step that the run will make, made once before it begins."""

import math
import time
from typing import Any

import numpy as np
import torch

from surefit.plan.plan import Plan, TrainingPlan
from surefit.train.batches import Batch
from surefit.train.model import trainable
from surefit.train.rows import Ids, epoch_order


def worst_numbers(lengths: Ids, training: TrainingPlan) -> list[int]:
    """The rows of the micro-batch with the most positions that the run will ever meet.

    Positions: the sum of the lengths in one line; rows times the longest where they are padded.
    """
    size, worst, chosen = training.micro_batch, -1, np.zeros(0, dtype=np.int64)
    for epoch in range(math.ceil(training.epochs)):
        order = epoch_order(len(lengths), training.seed, epoch)
        full = len(order) // size * size
        for part in (order[:full].reshape(-1, size), order[None, full:]):
            if not part.size:
                continue
            taken = lengths[part]
            cost = taken.sum(1) if training.layout == "flat" else taken.max(1) * part.shape[1]
            if cost.max() > worst:
                worst, chosen = int(cost.max()), part[int(cost.argmax())]
    return [int(number) for number in chosen]


class WorstStep:
    """Forward and backward of the largest micro-batch, an optimizer step, and the same once more.

    The second pass is the one that counts for memory: from then on the optimizer's state lives too,
    and with accumulation the gradients of the pass before.
    """

    def __init__(self, trainer: Any, plan: Plan) -> None:
        self.trainer, self.training = trainer, plan.training
        self.seconds, self.loss = math.nan, math.nan
        self.first_gradients: dict[str, float] = {}

    def make(self, batch: Batch) -> None:
        """Make the step on the live model with its own kind of optimizer, which is thrown away."""
        trainer, training = self.trainer, self.training
        trainer.model.train()
        self._pass(batch)
        self.first_gradients = gradient_norms(trainer.model)
        optimizer = trainer.create_optimizer()
        if training.max_gradient_norm > 0:
            torch.nn.utils.clip_grad_norm_(trainer.model.parameters(), training.max_gradient_norm)
        optimizer.step()
        optimizer.zero_grad()
        if training.accumulation > 1:
            self._pass(batch)
        started = time.monotonic()
        self._pass(batch)
        self.seconds = time.monotonic() - started
        trainer.optimizer = None

    def _pass(self, batch: Batch) -> None:
        loss = self.trainer.compute_loss(
            self.trainer.model, batch, num_items_in_batch=len(batch["targets"])
        )
        loss.backward()
        self.loss = float(loss.detach())


def gradient_norms(model: Any) -> dict[str, float]:
    """Norm of each trainable tensor's gradient; NaN where it has none."""
    return {
        name: math.nan if weight.grad is None else float(weight.grad.norm())
        for name, weight in trainable(model).items()
    }
