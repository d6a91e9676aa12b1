"""What happens around each optimizer step: proof, figures, evaluation, checkpoints, stopping."""

import contextlib
import json
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from transformers import TrainerCallback

from surefit.home import write_atomically
from surefit.plan.plan import Plan
from surefit.runs.event import Metric
from surefit.train.checkpoint import write_checkpoint
from surefit.train.effective import compare, effective, refuse_differences
from surefit.train.failures import ConfigurationDiffers, NumericFailure
from surefit.train.journal import Journal
from surefit.train.rows import PreparedRows
from surefit.train.stop import StopRequested, StopSignal
from surefit.train.trainer import TokenTrainer


@dataclass
class Tally:
    """What has been learned so far; kept in every checkpoint."""

    tokens: int = 0
    trained_tokens: int = 0
    first_loss: float = math.nan
    last_loss: float = math.nan
    seconds: float = 0.0


@dataclass
class Loop(TrainerCallback):  # type: ignore[misc]
    """Drives the Trainer: it is called before, in and after every step."""

    plan: Plan
    journal: Journal
    stop: StopSignal
    trainer: TokenTrainer
    evaluate: Callable[[int, float], object]
    tally: Tally = field(default_factory=Tally)
    last_checkpoint: int = 0
    _phase: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)
    _clock: float = 0.0
    _rate: float = 0.0
    _first: bool = True

    def begin(self) -> None:
        """Enter the phase of the first step: what is set up late is set up in it."""
        self._phase.enter_context(self.journal.phase("first_step"))

    def end(self) -> None:
        """Leave the training phase."""
        self._phase.close()

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Compare what was built with what was planned, before anything is learned."""
        record = compare(self.plan, effective(self.trainer, self.plan))
        write_atomically(self.journal.run.effective, record.model_dump_json(indent=1))
        refuse_differences(record)
        self.last_checkpoint = state.global_step
        self._clock = time.monotonic()

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Tell the order which epoch it is; a resumed run begins inside one."""
        rows, batch = self.plan.training.rows, self.plan.training.batch
        self.trainer.order.epoch = state.global_step // math.ceil(rows / batch)

    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Stop before a number that is none reaches the weights."""
        self.trainer.finish_step()
        norm = self.trainer.gradient_norm
        if norm is None:
            raise ConfigurationDiffers(
                "the gradient norm is not known",
                "this version of transformers does not clip where surefit looks for it",
                "install the tested set of packages with `pip install 'surefit[train]'`",
            )
        if not math.isfinite(self.trainer.step_loss) or not math.isfinite(norm):
            self._keep_and_fail(state.global_step + 1, norm)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Count, report, evaluate, keep; leave when somebody asked to."""
        self._count(state)
        if self._first:
            self._first = False
            self._phase.close()
            self._phase.enter_context(self.journal.phase("train"))
        step, training = state.global_step, self.plan.training
        every = training.eval_every_steps
        if every and step % every == 0 and step < training.steps:
            self.evaluate(step, state.epoch)
        stopping = self.stop.requested is not None
        if stopping or step % training.checkpoint_every_steps == 0 or step == training.steps:
            self.keep(state)
        if stopping:
            self.journal.note(
                "stopped",
                f"stopped on {self.stop.requested} after step {step:,} of {training.steps:,}; "
                f"its checkpoint is whole, and starting the run again goes on from there",
                step=step,
            )
            raise StopRequested(self.stop.requested)
        self._clock = time.monotonic()

    def keep(self, state: Any) -> None:
        """Write a checkpoint of the state after this step."""
        if self.last_checkpoint == state.global_step:
            return
        self.tally.seconds = time.time() - self.journal.started
        write_checkpoint(self.trainer, self.journal, self.plan.training, self.tally)
        self.last_checkpoint = state.global_step

    def _count(self, state: Any) -> None:
        now, trainer, tally = time.monotonic(), self.trainer, self.tally
        tally.tokens += trainer.step_tokens
        tally.trained_tokens += trainer.step_targets
        tally.last_loss = trainer.step_loss
        if math.isnan(tally.first_loss):
            tally.first_loss = trainer.step_loss
        self.journal.step = state.global_step
        self.journal.add(
            Metric(
                step=state.global_step,
                steps=self.plan.training.steps,
                epoch=round(state.epoch, 6),
                loss=trainer.step_loss,
                learning_rate=self._rate,
                gradient_norm=trainer.gradient_norm,
                tokens=tally.tokens,
                trained_tokens=tally.trained_tokens,
                tokens_per_second=trainer.step_tokens / max(now - self._clock, 1e-9),
                memory_bytes=self.journal.memory.now_bytes(),
            )
        )

    def on_optimizer_step(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Remember the rate before the schedule moves."""
        self._rate = self.trainer.optimizer.param_groups[0]["lr"]

    def _keep_and_fail(self, step: int, norm: float) -> None:
        trainer = self.trainer
        rows = trainer.train_dataset
        file = self.journal.run.path / "bad_batch.json"
        kept = {
            "step": step,
            "loss": str(trainer.step_loss),
            "gradient_norm": str(norm),
            "rows": [_row_as_data(rows, number) for number in trainer.step_numbers],
        }
        write_atomically(file, json.dumps(kept))
        part = "loss" if not math.isfinite(trainer.step_loss) else "gradient norm"
        value = trainer.step_loss if part == "loss" else norm
        raise NumericFailure(
            f"the {part} of step {step:,} is {value}",
            f"the weights were left as they were; the step's rows are "
            f"{', '.join(str(number) for number in trainer.step_numbers)} (from 0, as prepared), kept in {file}",
            f"lower `goal.learning_rate` (now {self.plan.training.learning_rate:g}), for example to "
            f"{self.plan.training.learning_rate / 10:g}, or look at these rows",
            details={"step": step, "rows": trainer.step_numbers},
        )


def _row_as_data(rows: PreparedRows, number: int) -> dict[str, Any]:
    row = rows[number]
    return {"row": number, "ids": row.ids.tolist(), "mask": row.mask.astype(int).tolist()}
