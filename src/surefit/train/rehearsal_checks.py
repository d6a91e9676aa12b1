"""The single proofs of the rehearsal. Each returns: passed, the figure, its limit, the check in words."""

import math
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import psutil
import torch

from surefit.plan.plan import Plan, TrainingPlan
from surefit.recipe.schema import LoraMethod
from surefit.train.batches import Batch, collate_flat
from surefit.train.checkpoint import verify_weights
from surefit.train.loss import model_inputs, summed_loss
from surefit.train.model import load_base, load_trained, trainable
from surefit.train.proof import largest_difference, loaders, probe_logits, save_model
from surefit.train.rows import Ids, Row, epoch_order

Finding = tuple[bool, float | None, float | None, str]

# Rows that see each other differ by 1 and more; rounding alone by 5e-5 in float32.
ISOLATION_TOLERANCE = {"float32": 1e-3, "bfloat16": 0.5}
_NEW_TOKENS = 8
_COPY_ROOM = 1.3


class Gradients(Protocol):
    """What the worst step remembers of its first pass."""

    first_gradients: dict[str, float]


def worst_numbers(lengths: Ids, training: TrainingPlan) -> list[int]:
    """The rows of the micro-batch with the most positions that the run will ever meet.

    Positions: the sum of the lengths in one line; rows times the longest where they are padded.
    """
    size, worst, chosen = training.micro_batch, -1, np.zeros(0, dtype=np.int64)
    for epoch in range(math.ceil(training.epochs)):
        order = epoch_order(len(lengths), training.seed, epoch)
        full = len(order) // size * size
        for part in filter(len, (order[:full].reshape(-1, size), order[None, full:])):
            if not part.size:
                continue
            taken = lengths[part]
            cost = taken.sum(1) if training.layout == "flat" else taken.max(1) * part.shape[1]
            if cost.max() > worst:
                worst, chosen = int(cost.max()), part[int(cost.argmax())]
    return [int(number) for number in chosen]


@torch.no_grad()
def check_start(trainer: Any, batch: Batch, plan: Plan) -> Finding:
    """The loss before the first step is a number, and that of the base model."""
    model, count = trainer.model, len(batch["targets"])
    model.eval()
    loss = float(summed_loss(model, batch, trainer.keeps_logits)) / count
    chance = math.log(plan.model.vocabulary)
    if isinstance(plan.training.method, LoraMethod):
        with model.disable_adapter():
            base = float(summed_loss(model, batch, trainer.keeps_logits)) / count
        if abs(base - loss) > 1e-3:
            return (
                False,
                loss,
                base,
                f"with fresh adapters the loss is {loss:.4f}, without {base:.4f}",
            )
    text = f"the loss before the first step is {loss:.4f}; guessing gives {chance:.2f}"
    if loss > 0.95 * chance:
        text += ": this model does not know such text yet, as if it were untrained"
    return math.isfinite(loss), loss, None, text


def check_gradients(model: Any, step: Gradients) -> Finding:
    """Every trainable tensor is reached by the loss.

    A fresh LoRA adapter is A x B with B = 0: in the first pass only B has a gradient, A gets one after
    the first step. So each tensor must have one in either pass.
    """
    now = {
        name: math.nan if weight.grad is None else float(weight.grad.norm())
        for name, weight in trainable(model).items()
    }
    broken = [name for name, norm in now.items() if not math.isfinite(norm)]
    dead = [name for name, norm in now.items() if norm == 0 and step.first_gradients[name] == 0]
    # Experts that no token of one micro-batch was sent to rightly have none.
    experts = any(
        getattr(model.config, name, None) for name in ("num_experts", "num_local_experts")
    )
    lost = broken + ([] if experts else dead)
    reached = len(now) - len(broken) - len(dead)
    text = f"{reached:,} of {len(now):,} trainable tensors get a gradient"
    if lost:
        text += f"; none that is usable at {', '.join(lost[:5])}" + (
            " ..." if len(lost) > 5 else ""
        )
    return not lost and bool(now), float(reached), None, text


@torch.no_grad()
def check_isolation(
    model: Any, rows: Sequence[Row], device: torch.device, training: TrainingPlan
) -> Finding:
    """Each row alone against the same row among others: largest difference of a log-probability."""
    limit = ISOLATION_TOLERANCE[training.precision]
    alone = [logits.log_softmax(-1) for logits in probe_logits(model, rows, device)]
    batch = {name: value.to(device) for name, value in collate_flat(rows).items()}
    together = model(**model_inputs(batch), use_cache=False)["logits"][0].float().cpu()
    parts = together.log_softmax(-1).split([len(row.ids) for row in rows])
    difference = largest_difference(alone, parts)
    text = (
        f"{len(rows)} rows in one line differ from each row alone by {difference:.2g}; {limit:g} is "
        f"allowed" + ("" if difference <= limit else ": they see each other")
    )
    return difference <= limit, difference, limit, text


def check_reload(
    trainer: Any, plan: Plan, folder: Path, rows: Sequence[Row], device: torch.device
) -> Finding:
    """Save, load again as a user would, and compare logits."""
    training, limit = plan.training, plan.training.verify_tolerance
    save_model(trainer.model, Path(plan.model.folder), folder)
    if not _has_room_for_a_copy(plan, device):
        verify_weights(trainer.model, folder)
        shutil.rmtree(folder)
        text = "saved and read back, bit for bit; a second copy of the model has no room here"
        return True, 0.0, limit, text
    live = probe_logits(trainer.model, rows, device)
    again = load_trained(
        load_base(Path(plan.model.folder), training, device), folder, training, device
    )
    difference = largest_difference(live, probe_logits(again, rows, device))
    shutil.rmtree(folder)
    text = f"saved, loaded with {loaders(training.method)}: logits differ by {difference:.2g}"
    return difference <= limit, difference, limit, f"{text}; {limit:g} is allowed"


@torch.no_grad()
def check_generation(model: Any, row: Row, device: torch.device, plan: Plan) -> Finding:
    """The model can answer: a few tokens after a row's prompt."""
    model.eval()
    first = max(int(row.mask.argmax()), 1)
    prompt = torch.from_numpy(row.ids[:first])[None].to(device)
    made = model.generate(
        input_ids=prompt,
        attention_mask=torch.ones_like(prompt),
        max_new_tokens=_NEW_TOKENS,
        do_sample=False,
        use_cache=True,
        pad_token_id=0,
    )[0, first:]
    count = len(made)
    fine = count > 0 and 0 <= int(made.min()) and int(made.max()) < plan.model.vocabulary
    return fine, float(count), None, f"{count} tokens were generated after a row's prompt"


def _has_room_for_a_copy(plan: Plan, device: torch.device) -> bool:
    width = 4 if plan.training.precision == "float32" else 2
    needed = _COPY_ROOM * plan.model.parameters.total * width
    if device.type == "cuda":
        return torch.cuda.mem_get_info()[0] > needed
    used = psutil.Process().memory_info().rss
    return min(psutil.virtual_memory().available, plan.budget_bytes - used) > needed
