"""The loss: cross-entropy of the trained tokens, with logits only where they are needed.

For a model with a large vocabulary the head and its logits cost as much as the layers. In a
conversation only the answers are trained, so only their positions go through the head.
"""

import inspect
from collections.abc import Iterable, Mapping
from typing import Literal

import torch
from torch import Tensor

from surefit.train import ranks
from surefit.train.batches import Batch

_MODEL_INPUTS = ("input_ids", "position_ids", "attention_mask")


Keeping = Literal["all", "columns", "places"]


def kept_logits(model: torch.nn.Module) -> Keeping:
    """Which logits the model can be asked for: all, those of some columns, or of single places."""
    plain = model.get_base_model() if hasattr(model, "get_base_model") else model  # type: ignore[operator]
    forward = inspect.unwrap(type(plain).forward)
    if "logits_to_keep" not in inspect.signature(forward).parameters:
        return "all"
    # Where transformers has this function it takes a mask of places; before, columns only.
    return "places" if "slice_logits_to_keep" in forward.__globals__ else "columns"


def model_inputs(batch: Batch) -> dict[str, Tensor]:
    """What of a micro-batch goes into the model."""
    return {name: batch[name] for name in _MODEL_INPUTS if name in batch}


def target_logits(model: torch.nn.Module, batch: Batch, keep: Keeping) -> Tensor:
    """Logits [K, vocabulary] at the places that predict the batch's targets, in their order."""
    rows, columns, shape = batch["row_of"], batch["column_of"], batch["input_ids"].shape
    if keep == "all":
        return _logits(model, batch)[rows, columns]
    if shape[0] == 1:
        return _logits(model, batch, logits_to_keep=columns)[0]
    if keep == "columns":
        # The same columns of every line: those that any of them needs.
        needed, places = torch.unique(columns, return_inverse=True)
        return _logits(model, batch, logits_to_keep=needed)[rows, places]
    wanted = torch.zeros(shape, dtype=torch.bool, device=columns.device)
    wanted[rows, columns] = True
    return _logits(model, batch, logits_to_keep=wanted)


def _logits(model: torch.nn.Module, batch: Batch, **keep: Tensor) -> Tensor:
    outputs: Mapping[str, Tensor] = model(**model_inputs(batch), **keep, use_cache=False)
    return outputs["logits"]


def summed_loss(model: torch.nn.Module, batch: Batch, keep: Keeping) -> Tensor:
    """Cross-entropy of the targets in nats, summed, as a float32 scalar.

    Formula: -sum over targets of weight x log softmax(logits)[target]; softmax always in float32.
    """
    logits = target_logits(model, batch, keep).float()
    if "weights" not in batch:
        return torch.nn.functional.cross_entropy(logits, batch["targets"], reduction="sum")
    each = torch.nn.functional.cross_entropy(logits, batch["targets"], reduction="none")
    return (each * batch["weights"]).sum()


def weight_of(batch: Batch) -> float:
    """What the batch's targets weigh together: their number, or the sum of their weights."""
    return float(batch["weights"].sum()) if "weights" in batch else float(len(batch["targets"]))


@torch.no_grad()
def mean_loss(model: torch.nn.Module, batches: Iterable[Batch], keep: Keeping) -> float:
    """The (weighted) token mean of the loss over the micro-batches of all ranks, in eval mode, without learning."""
    model.eval()
    total, count = 0.0, 0.0
    for batch in batches:
        total += float(summed_loss(model, batch, keep))
        count += weight_of(batch)
    total, count = ranks.sums(total, count)
    return total / count
