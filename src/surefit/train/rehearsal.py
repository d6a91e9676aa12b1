"""The rehearsal: the run's whole life in small, on the real device, before the first step.

Everything that fails late is done early: the largest step, saving, loading again, generating. The
weights, the optimizer and every random number generator are put back afterwards, bit for bit, so that
a rehearsed run learns exactly what an unrehearsed one learns.
"""

import math
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import save_file

from surefit.home import write_atomically
from surefit.plan.plan import Plan
from surefit.runs.result import Rehearsal, RehearsalCheck
from surefit.train.checkpoint import restore_rng, rng_states
from surefit.train.failures import ConfigurationDiffers, NumericFailure
from surefit.train.journal import Journal
from surefit.train.model import trainable
from surefit.train.rehearsal_checks import (
    Finding,
    check_generation,
    check_gradients,
    check_isolation,
    check_reload,
    check_start,
    worst_numbers,
)
from surefit.train.trainer import TokenTrainer
from surefit.units import bytes_text

FOLDER = "rehearsal"
_EXIT = {"gradients": NumericFailure, "start": NumericFailure, "worst_step": NumericFailure}


def rehearse(trainer: TokenTrainer, plan: Plan, journal: Journal, device: torch.device) -> None:
    """Make every check, write `rehearsal.json`, and put everything back.

    Raises:
        NumericFailure, ConfigurationDiffers: a check failed; its record is written first.
    """
    began, run = time.monotonic(), journal.run
    folder = run.path / FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    states = rng_states()
    keep_weights(trainer.model, folder / "start.safetensors")
    numbers = worst_numbers(trainer.train_dataset.lengths, plan.training)
    rows = [trainer.train_dataset[number] for number in numbers]
    batch = {name: value.to(device) for name, value in trainer.collate(rows).items()}
    checks: list[RehearsalCheck] = []
    planned = ("start", "worst_step", "gradients", "isolation", "reload", "generation")

    def check(name: str, measure: Callable[[], Finding]) -> None:
        journal.progress(planned.index(name), len(planned), "checks")
        started = time.monotonic()
        passed, measured, limit, text = measure()
        seconds = round(time.monotonic() - started, 3)
        checks.append(
            RehearsalCheck(
                name=name, passed=passed, measured=measured, limit=limit, text=text, seconds=seconds
            )
        )

    check("start", lambda: check_start(trainer, batch, plan))
    journal.memory.take_peak()
    step = WorstStep(trainer, plan)
    check("worst_step", lambda: step.make(batch))
    peak = journal.memory.take_peak()
    check("gradients", lambda: check_gradients(trainer.model, step))
    trainer.model.zero_grad(set_to_none=True)
    trainer.optimizer = None
    if plan.training.layout == "flat" and len(rows) > 1:
        check("isolation", lambda: check_isolation(trainer.model, rows[:3], device, plan.training))
    check("reload", lambda: check_reload(trainer, plan, folder / "model", rows[:2], device))
    check("generation", lambda: check_generation(trainer.model, rows[0], device, plan))

    restore_weights(trainer.model, folder / "start.safetensors")
    trainer.model.zero_grad(set_to_none=True)
    trainer.model.train()
    restore_rng(states)
    shutil.rmtree(folder)
    journal.progress(len(planned), len(planned), "checks")
    record = Rehearsal(
        checks=tuple(checks),
        peak_bytes=peak,
        planned_bytes=plan.peak_bytes,
        worst_tokens=batch["input_ids"].numel(),
        worst_step_seconds=round(step.seconds, 4),
        seconds=round(time.monotonic() - began, 3),
    )
    write_atomically(run.path / "rehearsal.json", record.model_dump_json(indent=1))
    tell(record, journal)


def tell(record: Rehearsal, journal: Journal) -> None:
    """Say how it went; fail on the first check that did.

    Raises:
        NumericFailure, ConfigurationDiffers: a check failed.
    """
    failed = [check for check in record.checks if not check.passed]
    measured, planned = bytes_text(record.peak_bytes), bytes_text(record.planned_bytes)
    journal.note(
        "rehearsal",
        f"{len(record.checks) - len(failed)} of {len(record.checks)} checks passed; the worst step "
        f"peaks at {measured}, the plan says {planned}",
        peak_bytes=record.peak_bytes,
        planned_bytes=record.planned_bytes,
    )
    if not failed:
        return
    kind = _EXIT.get(failed[0].name, ConfigurationDiffers)
    raise kind(
        f"the rehearsal failed: {failed[0].name}",
        failed[0].text,
        f"look at {journal.run.path / 'rehearsal.json'}; nothing was trained yet",
        details={"failed": [check.name for check in failed]},
    )


class WorstStep:
    """Forward and backward of the largest micro-batch, an optimizer step, and the same once more.

    The second pass is the one that counts for memory: from then on the optimizer's state lives too,
    and with accumulation the gradients of the pass before.
    """

    def __init__(self, trainer: TokenTrainer, plan: Plan) -> None:
        self.trainer, self.plan = trainer, plan
        self.seconds, self.loss = math.nan, math.nan
        self.first_gradients: dict[str, float] = {}

    def make(self, batch: dict[str, Any]) -> Finding:
        """Make the step on the live model with its own kind of optimizer."""
        trainer, training = self.trainer, self.plan.training
        trainer.model.train()
        self._pass(batch)
        self.first_gradients = gradient_norms(trainer.model)
        optimizer = trainer.create_optimizer()
        torch.nn.utils.clip_grad_norm_(trainer.model.parameters(), training.max_gradient_norm)
        optimizer.step()
        optimizer.zero_grad()
        if training.accumulation > 1:
            self._pass(batch)
        started = time.monotonic()
        self._pass(batch)
        self.seconds = time.monotonic() - started
        tokens = batch["input_ids"].numel()
        text = (
            f"the largest micro-batch ({len(batch['numbers'])} rows, {tokens:,} tokens) went forward "
            f"and backward before and after an optimizer step; its loss is then {self.loss:.4g}"
        )
        return math.isfinite(self.loss), self.loss, None, text

    def _pass(self, batch: dict[str, Any]) -> None:
        loss = self.trainer.compute_loss(
            self.trainer.model, batch, num_items_in_batch=len(batch["targets"])
        )
        loss.backward()  # type: ignore[no-untyped-call]
        self.loss = float(loss)


def gradient_norms(model: Any) -> dict[str, float]:
    """Norm of each trainable tensor's gradient; NaN where it has none."""
    return {
        name: math.nan if weight.grad is None else float(weight.grad.norm())
        for name, weight in trainable(model).items()
    }


def keep_weights(model: Any, file: Path) -> None:
    """Write the trainable weights to the disk: a copy in memory would raise the peak."""
    save_file({name: weight.detach() for name, weight in trainable(model).items()}, file)


@torch.no_grad()
def restore_weights(model: Any, file: Path) -> None:
    """Put the trainable weights back, bit for bit."""
    with safe_open(file, framework="pt") as handle:
        for name, weight in trainable(model).items():
            weight.copy_(handle.get_tensor(name))
