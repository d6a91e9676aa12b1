"""The loss: cross-entropy of the trained tokens, with logits only where they are needed.

For a model with a large vocabulary the head and its logits cost as much as the layers. In a
conversation only the answers are trained, so only their positions go through the head.
"""

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import Tensor

from surefit.train.batches import Batch

_MODEL_INPUTS = ("input_ids", "position_ids", "attention_mask")


def takes_logits_to_keep(model: torch.nn.Module) -> bool:
    """Whether the model can compute logits at chosen positions only."""
    plain = model.get_base_model() if hasattr(model, "get_base_model") else model  # type: ignore[operator]
    return "logits_to_keep" in inspect.signature(plain.forward).parameters


def model_inputs(batch: Batch) -> dict[str, Tensor]:
    """What of a micro-batch goes into the model."""
    return {name: batch[name] for name in _MODEL_INPUTS if name in batch}


def target_logits(model: torch.nn.Module, batch: Batch, keep: bool) -> Tensor:
    """Logits [K, vocabulary] at the positions that predict the batch's targets."""
    extra: dict[str, Any] = {}
    columns = batch["column_of"]
    if keep and len(batch["input_ids"]) == 1:
        extra["logits_to_keep"], columns = (
            columns,
            torch.arange(len(columns), device=columns.device),
        )
    elif keep:
        # The same columns for every line of a padded batch: those that any of them needs.
        needed, columns = torch.unique(columns, return_inverse=True)
        extra["logits_to_keep"] = needed
    outputs: Mapping[str, Tensor] = model(**model_inputs(batch), use_cache=False, **extra)
    logits = outputs["logits"]
    # In one line the kept columns are already those of the targets, in their order.
    return logits[0] if keep and len(logits) == 1 else logits[batch["row_of"], columns]


def summed_loss(model: torch.nn.Module, batch: Batch, keep: bool) -> Tensor:
    """Cross-entropy of the targets in nats, summed, as a float32 scalar.

    Formula: -sum over targets of log softmax(logits)[target]; softmax always in float32.
    """
    logits = target_logits(model, batch, keep).float()
    return torch.nn.functional.cross_entropy(logits, batch["targets"], reduction="sum")


@torch.no_grad()
def mean_loss(model: torch.nn.Module, batches: Iterable[Batch], keep: bool) -> float:
    """The token mean of the loss over micro-batches, in eval mode, without learning."""
    model.eval()
    total, count = 0.0, 0
    for batch in batches:
        total += float(summed_loss(model, batch, keep))
        count += len(batch["targets"])
    return total / count
