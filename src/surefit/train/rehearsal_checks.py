"""The single proofs of the rehearsal, each with its figure in words."""

import math
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import psutil
import torch

from surefit.plan.plan import Plan, TrainingPlan
from surefit.recipe.schema import AdapterMethod
from surefit.train import ranks
from surefit.train.batches import Batch, Collate, collate_flat
from surefit.train.checkpoint import verify_weights
from surefit.train.isolation import has_experts, measure_isolation
from surefit.train.loss import summed_loss, weight_of
from surefit.train.model import load_base, load_trained
from surefit.train.proof import (
    largest_difference,
    load_shared_out,
    loaders,
    probe_logits,
    save_model,
)
from surefit.train.rows import Row
from surefit.train.worst_step import WorstStep, gradient_norms

_START_TOLERANCE = {"float32": 1e-3, "bfloat16": 5e-2}
_LEAK_ROWS = 3
_NEW_TOKENS = 8
_COPY_ROOM = 1.3
_LIKE_GUESSING = 0.95


class Finding(NamedTuple):
    """What a check found: whether it passed, its figure, the figure's limit, and the words."""

    passed: bool
    measured: float | None
    limit: float | None
    text: str
    warning: str | None = None


@torch.no_grad()
def check_start(trainer: Any, batch: Batch, plan: Plan) -> Finding:
    """The loss before the first step is a number, and that of the base model."""
    model, count = trainer.model, weight_of(batch)
    model.eval()
    loss = float(summed_loss(model, batch, trainer.keeps_logits)) / count
    chance = math.log(plan.model.vocabulary)
    text = f"the loss before the first step is {loss:.4f}; guessing gives {chance:.2f}"
    if not math.isfinite(loss):
        return Finding(False, loss, None, text)
    if isinstance(plan.training.method, AdapterMethod):
        with model.disable_adapter():
            base = float(summed_loss(model, batch, trainer.keeps_logits)) / count
        limit = _START_TOLERANCE[plan.training.precision]
        if abs(base - loss) > limit:
            told = f"with fresh adapters the loss is {loss:.4f}, without them {base:.4f}"
            return Finding(False, abs(base - loss), limit, told)
    warning = f"{text}: such text is new to the model, or the model is untrained"
    return Finding(True, loss, None, text, warning if loss > _LIKE_GUESSING * chance else None)


def check_worst_step(step: WorstStep, batch: Batch) -> Finding:
    """The largest micro-batch of the run goes through, and its loss after a step is a number."""
    step.make(batch)
    rows, tokens = len(batch["numbers"]), batch["input_ids"].numel()
    text = (
        f"the largest micro-batch ({rows} rows, {tokens:,} tokens) went forward and backward "
        f"before and after an optimizer step; its loss is then {step.loss:.4g}"
    )
    return Finding(math.isfinite(step.loss), step.loss, None, text)


def check_gradients(model: Any, step: WorstStep) -> Finding:
    """Every trainable tensor is reached by the loss.

    A fresh LoRA adapter is B times A with B = 0: in the first pass only B has a gradient, A gets
    one after the first step. So each tensor must have one in either pass.
    """
    now = gradient_norms(model)
    broken = [name for name, norm in now.items() if not math.isfinite(norm)]
    dead = [name for name, norm in now.items() if norm == 0 and step.first_gradients[name] == 0]
    # Experts that no token of one micro-batch was sent to rightly have none.
    lost = broken + ([] if has_experts(model) else dead)
    reached = len(now) - len(broken) - len(dead)
    text = f"{reached:,} of {len(now):,} trainable tensors get a gradient"
    if lost:
        text += f"; none that is usable: {', '.join(lost[:5])}" + (", ..." if lost[5:] else "")
    return Finding(bool(now) and not lost, float(reached), None, text)


@torch.no_grad()
def check_isolation(
    model: Any,
    rows: Sequence[Row],
    device: torch.device,
    training: TrainingPlan,
    collate: Collate = collate_flat,
    **inputs: torch.Tensor,
) -> Finding:
    """Rows in one line do not see each other; `collate` and `inputs` as `measure_isolation` has them."""
    found = measure_isolation(model, rows, device, training, collate, **inputs)
    text = (
        f"{len(rows)} rows in one line: the others' tokens move a row's predictions by "
        f"{found.influence:.2g} ({found.influence_limit:g} is allowed); alone they differ by "
        f"{found.alone:.2g} ({found.alone_limit:g} is allowed)"
    )
    if not found.holds:
        way = "leave out `how.packing`" if training.packing else "set `how.layout: padded`"
        text += f": they see each other; {way}"
    return Finding(found.holds, found.influence, found.influence_limit, text)


def check_packing(trainer: Any, device: torch.device, training: TrainingPlan) -> Finding:
    """Rows of a packed line see only themselves, in the live model and with the live collator."""
    shortest = trainer.rows.lengths.argsort(kind="stable")[:_LEAK_ROWS].tolist()
    rows = [trainer.rows[number] for number in shortest]
    return check_isolation(
        trainer.model, rows, device, training, lambda rows: trainer.collate([rows])
    )


def check_reload(
    trainer: Any, plan: Plan, folder: Path, rows: Sequence[Row], device: torch.device
) -> Finding:
    """Save, load again as a user would, and compare logits."""
    training, limit, base = plan.training, plan.training.verify_tolerance, Path(plan.model.folder)
    save_model(trainer.model, base, folder)
    if not all(ranks.gather(_has_room_for_a_copy(plan, device))):
        verify_weights(trainer.model, folder)
        text = "saved and read back, bit for bit; a second copy of the model has no room here"
        difference = 0.0
    elif training.strategy != "fsdp" and not ranks.is_first():
        text, difference = "the first rank saves, loads again and compares", 0.0
    else:
        live = probe_logits(trainer.model, rows, device)
        if training.strategy == "fsdp":
            again = load_shared_out(plan, folder)
        else:
            again = load_trained(load_base(base, training, device), folder, training, device)
        difference = largest_difference(live, probe_logits(again, rows, device))
        text = (
            f"saved, loaded again with {loaders(training.method)}: the logits differ by "
            f"{difference:.2g}; {limit:g} is allowed"
        )
    ranks.barrier()
    if ranks.is_first():
        shutil.rmtree(folder)
    return Finding(difference <= limit, difference, limit, text)


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
    )[0, first:].tolist()
    fine = bool(made) and min(made) >= 0 and max(made) < plan.model.vocabulary
    return Finding(fine, float(len(made)), None, f"{len(made)} tokens follow a row's prompt")


def _has_room_for_a_copy(plan: Plan, device: torch.device) -> bool:
    width = 4 if plan.training.precision == "float32" else 2
    shares = plan.training.ranks if plan.training.strategy == "fsdp" else 1
    needed = _COPY_ROOM * plan.model.parameters.total * width / shares
    if device.type == "cuda":
        return bool(torch.cuda.mem_get_info()[0] > needed)
    used = psutil.Process().memory_info().rss
    return bool(min(psutil.virtual_memory().available, plan.budget_bytes - used) > needed)
