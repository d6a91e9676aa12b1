"""The rehearsal: the run's whole life in small, on the real device, before the first step.

Everything that fails late is done early: the largest step, saving, loading again, generating. The
weights, the optimizer and every random number generator are put back afterwards, bit for bit, so
that a rehearsed run learns exactly what an unrehearsed one learns.
"""

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
from surefit.train import ranks
from surefit.train.checkpoint import restore_rng, rng_states
from surefit.train.failures import ConfigurationDiffers, NumericFailure
from surefit.train.journal import Journal
from surefit.train.model import trainable
from surefit.train.rehearsal_checks import (
    Finding,
    check_generation,
    check_gradients,
    check_isolation,
    check_packing,
    check_reload,
    check_start,
    check_worst_step,
)
from surefit.train.sharding import local
from surefit.train.trainer import TokenTrainer
from surefit.train.worst_step import WorstStep, worst_numbers
from surefit.units import bytes_text

_FOLDER = "rehearsal"
_NUMERIC = frozenset({"start", "worst step", "gradients"})
_CHECKS = 6


def rehearse(trainer: TokenTrainer, plan: Plan, journal: Journal, device: torch.device) -> None:
    """Make every check, put everything back, write `rehearsal.json`.

    Raises:
        NumericFailure, ConfigurationDiffers: a check failed; the record says which.
    """
    began, model, folder = time.monotonic(), trainer.model, journal.run.path / _FOLDER
    if ranks.is_first():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    ranks.barrier()
    states, start = rng_states(), folder / f"start_{ranks.rank()}.safetensors"
    keep_weights(model, start)
    items = [trainer.train_dataset[one] for one in worst_numbers(trainer.order, plan.training)]
    batch = {name: value.to(device) for name, value in trainer.collate(items).items()}
    rows = [trainer.rows[number] for number in batch["numbers"].tolist()]
    step, checks = WorstStep(trainer, plan), Checks(journal)

    checks.make("start", lambda: check_start(trainer, batch, plan))
    journal.memory.take_peak()
    checks.make("worst step", lambda: check_worst_step(step, batch))
    peak = journal.memory.take_peak()
    checks.make("gradients", lambda: check_gradients(model, step))
    model.zero_grad(set_to_none=True)
    if plan.training.packing:
        checks.make("isolation", lambda: check_packing(trainer, device, plan.training))
    elif plan.training.layout == "flat" and len(rows) > 1:
        checks.make("isolation", lambda: check_isolation(model, rows[:3], device, plan.training))
    checks.make("reload", lambda: check_reload(trainer, plan, folder / "model", rows[:2], device))
    checks.make("generation", lambda: check_generation(model, rows[0], device, plan))

    restore_weights(model, start)
    model.train()
    restore_rng(states)
    ranks.barrier()
    record = Rehearsal(
        checks=tuple(checks.made),
        peak_bytes=max(ranks.gather(peak)),
        planned_bytes=plan.peak_bytes,
        worst_tokens=batch["input_ids"].numel(),
        worst_step_seconds=round(step.seconds, 4),
        seconds=round(time.monotonic() - began, 3),
    )
    if ranks.is_first():
        shutil.rmtree(folder)
        write_atomically(journal.run.path / "rehearsal.json", record.model_dump_json(indent=1))
    tell(record, journal)


def prove_packing(
    trainer: TokenTrainer, plan: Plan, journal: Journal, device: torch.device
) -> None:
    """The check of the isolation for packed runs that do not rehearse, or go on from a checkpoint.

    Raises:
        ConfigurationDiffers: rows of a line see each other.
    """
    states = rng_states()
    found = check_packing(trainer, device, plan.training)
    trainer.model.train()
    restore_rng(states)
    journal.note("packing", found.text, passed=found.passed)
    if not found.passed:
        raise ConfigurationDiffers(
            "rows of a packed sequence see each other",
            found.text,
            "leave out `how.packing`, then start the run again",
        )


class Checks:
    """Makes one check after the other and remembers what each found."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.made: list[RehearsalCheck] = []

    def make(self, name: str, check: Callable[[], Finding]) -> None:
        """Make a check; a failed one does not keep the others from being made."""
        started = time.monotonic()
        found = check()
        if found.warning:
            self.journal.note("rehearsal", found.warning)
        self.made.append(
            RehearsalCheck(
                name=name,
                passed=found.passed,
                measured=found.measured,
                limit=found.limit,
                text=found.text,
                seconds=round(time.monotonic() - started, 3),
            )
        )
        self.journal.progress(len(self.made), _CHECKS, "checks")


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
    kind = NumericFailure if failed[0].name in _NUMERIC else ConfigurationDiffers
    raise kind(
        f"the rehearsal failed: {failed[0].name}",
        failed[0].text,
        f"look at {journal.run.path / 'rehearsal.json'}, then change the recipe",
        details={"failed": [check.name for check in failed]},
    )


def keep_weights(model: Any, file: Path) -> None:
    """Write the trainable weights to the disk: a copy in memory would raise the peak."""
    save_file({name: local(weight.detach()) for name, weight in trainable(model).items()}, file)


@torch.no_grad()
def restore_weights(model: Any, file: Path) -> None:
    """Put the trainable weights back, bit for bit."""
    with safe_open(file, framework="pt") as handle:
        for name, weight in trainable(model).items():
            local(weight).copy_(handle.get_tensor(name))
