"""The largest step that the run will make, made once before it begins."""

import math
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from surefit.plan.plan import Plan, TrainingPlan
from surefit.train import ranks
from surefit.train.batches import Batch
from surefit.train.loss import weight_of
from surefit.train.model import trainable
from surefit.train.rank_batches import RankBatches
from surefit.train.rows import EpochOrder, Ids
from surefit.train.sharding import whole


def worst_numbers(order: EpochOrder, training: TrainingPlan) -> list[int]:
    """The items of the micro-batch with the most positions that the run will ever meet.

    Positions: the sum of the lengths in one line; rows times the longest where they are padded.
    """
    worst, chosen = -1, np.zeros(0, dtype=np.int64)
    for epoch in range(math.ceil(training.epochs)):
        for part in micro_batches(order.of(epoch), training):
            taken = order.lengths[part]
            cost = taken.sum(1) if training.layout == "flat" else taken.max(1) * part.shape[1]
            if cost.max() > worst:
                worst, chosen = int(cost.max()), part[int(cost.argmax())]
    return [int(number) for number in chosen]


def micro_batches(items: Ids, training: TrainingPlan) -> Iterator[Ids]:
    """The micro-batches of all ranks in an epoch, alike ones together: arrays [number, items]."""
    size, world = training.micro_batch, training.ranks
    full = len(items) // training.batch * training.batch
    steps = items[:full].reshape(-1, training.batch)
    for rank in range(world):
        if full:
            yield steps[:, rank::world].reshape(-1, size)
        last = RankBatches(EpochOrder(items, 0), training.batch, size, rank, world)
        for numbers in filter(None, last.of(items[full:].tolist())):
            yield np.asarray([numbers], dtype=np.int64)


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
            self.trainer.model, batch, num_items_in_batch=weight_of(batch)
        )
        loss.backward()
        self.loss = float(loss.detach()) / ranks.world_size()


def gradient_norms(model: Any) -> dict[str, float]:
    """Norm of each trainable tensor's gradient; NaN where it has none."""
    return {
        name: math.nan if weight.grad is None else float(whole(weight.grad.norm()))
        for name, weight in trainable(model).items()
    }
