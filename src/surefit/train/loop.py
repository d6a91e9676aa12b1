"""What happens around each optimizer step: proof, figures, evaluation, checkpoints, stopping."""

import contextlib
import json
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from transformers import TrainerCallback

from surefit.home import write_atomically
from surefit.plan.plan import Plan
from surefit.runs.event import Metric
from surefit.train import ranks
from surefit.train.batches import Batch, idle
from surefit.train.checkpoint import checkpoint_bytes, load_weights, write_checkpoint
from surefit.train.effective import compare, effective, refuse_differences
from surefit.train.failures import ConfigurationDiffers, NumericFailure
from surefit.train.journal import Journal
from surefit.train.lines import trained_items
from surefit.train.loss import mean_loss
from surefit.train.numbers import Fault, NumberWatch, StepNumbers, evenness_on
from surefit.train.room import when_there_is_room
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
    best_eval: float = math.inf
    best_step: int | None = None
    evaluations_since: int = 0  # without a lower loss


@dataclass
class Loop(TrainerCallback):  # type: ignore[misc]
    """Called by the Trainer before, in and after every step."""

    plan: Plan
    journal: Journal
    stop: StopSignal
    trainer: TokenTrainer
    eval_rows: PreparedRows | None
    origin: dict[str, dict[str, str]]
    tally: Tally = field(default_factory=Tally)
    _phase: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)
    _kept_step: int = 0
    _rate: float = 0.0
    _clock: float = 0.0
    _is_first: bool = True
    _stops: bool = False
    _numbers: NumberWatch = field(init=False)

    def train(self, resume_from: Path | None) -> None:
        """Make every step of the plan; the first is a phase of its own: much is set up late."""
        steps = self.plan.training.steps
        if resume_from and resume_from.name == f"step-{steps}":
            # All was learned; asked to go on, the Trainer would make one step more.
            load_weights(self.trainer.model, resume_from)
            self.trainer.state.global_step = steps
            return
        if resume_from and self._is_out_of_patience:
            self._take_best()
            return
        self._phase.enter_context(self.journal.phase("first_step"))
        self.trainer.train(resume_from_checkpoint=str(resume_from) if resume_from else None)
        self._phase.close()
        made = self.trainer.state.global_step
        if self._is_out_of_patience:
            self._take_best()
        elif made != steps:
            raise ConfigurationDiffers(
                f"the training ended after {made:,} steps of {steps:,}",
                "the Trainer left its loop without an error",
                "report this with the run's events.jsonl; the last checkpoint is whole",
            )

    def on_train_begin(self, _args: Any, state: Any, _control: Any, **_: Any) -> None:
        """Compare what was built with what was planned, before anything is learned."""
        record = compare(self.plan, effective(self.trainer, self.plan))
        if ranks.is_first():
            write_atomically(self.journal.run.effective, record.model_dump_json(indent=1))
        refuse_differences(record)
        trainer = self.trainer
        self._numbers = NumberWatch(
            self.plan,
            trainer.model,
            state.global_step + 1,
            lambda: evenness_on(trainer.model, trainer.rows[0], trainer.args.device),
        )
        self._kept_step = state.global_step
        # Of ranks that are silent in a step, the one that was silent first holds up the others.
        self.trainer.moved = self.journal.moved
        self._clock = time.monotonic()

    def on_epoch_begin(self, _args: Any, state: Any, _control: Any, **_: Any) -> None:
        """Tell the order which epoch it is; a resumed run begins inside one."""
        training = self.plan.training
        self.trainer.order.epoch = state.global_step // math.ceil(training.items / training.batch)

    def on_substep_end(self, _args: Any, _state: Any, _control: Any, **_: Any) -> None:
        """A pass of a long step was made: the work moves."""
        self.journal.moved()

    def on_pre_optimizer_step(self, _args: Any, state: Any, _control: Any, **_: Any) -> None:
        """Stop before a number that has gone wrong reaches the weights."""
        trainer = self.trainer
        self._stops = trainer.finish_step(bool(self.stop.requested))
        self._rate = trainer.optimizer.param_groups[0]["lr"]
        self._refuse(
            self._numbers.before_step(
                StepNumbers(
                    state.global_step + 1, trainer.step_loss, trainer.gradient_norm, self._rate
                )
            ),
            state.global_step + 1,
        )

    def on_step_end(self, _args: Any, state: Any, control: Any, **_: Any) -> None:
        """Count, report, evaluate, keep; leave when somebody asked to."""
        self._refuse(self._numbers.after_step(state.global_step), state.global_step)
        self._count(state)
        if self._is_first:
            self._is_first = False
            self._phase.close()
            self._phase.enter_context(self.journal.phase("train"))
        step, training = state.global_step, self.plan.training
        every = training.eval_every_steps
        if every and step % every == 0 and step < training.steps:
            self._judge(step, self.evaluate(state.epoch))
            control.should_training_stop = self._is_out_of_patience
        # Each rank hears of a stop at another moment; all leave after the same step.
        stopping = self.stop.requested
        if ranks.world_size() > 1:
            stopping = (stopping or "request") if self._stops else None
        if stopping or step % training.checkpoint_every_steps == 0 or step == training.steps:
            self._keep(step)
        if stopping:
            self._leave(step, stopping)
        self._clock = time.monotonic()

    @property
    def _is_out_of_patience(self) -> bool:
        patience = self.plan.training.no_improvement
        return patience is not None and self.tally.evaluations_since >= patience

    def _judge(self, step: int, loss: float | None) -> None:
        """Remember which evaluation was the best, and keep its weights where patience asks for them."""
        tally, patience = self.tally, self.plan.training.no_improvement
        if loss is None or not loss < tally.best_eval:
            tally.evaluations_since += loss is not None
            return
        tally.evaluations_since = 0
        if patience is not None or step % self.plan.training.checkpoint_every_steps == 0:
            tally.best_eval, tally.best_step = loss, step
        if patience is not None:
            self._keep(step)

    def _take_best(self) -> None:
        """End early with the weights of the best evaluation."""
        tally, best = self.tally, self.tally.best_step
        load_weights(self.trainer.model, self.journal.run.checkpoints / f"step-{best}")
        self.journal.note(
            "no_improvement",
            f"{tally.evaluations_since} evaluations in a row were no better than step {best:,} "
            f"(loss {tally.best_eval:.4f}): training ends early, with the weights of that step",
            step=best,
            eval_loss=tally.best_eval,
        )
        self.trainer.state.global_step = best

    def evaluate(self, epoch: float) -> float | None:
        """The token mean of the loss on the eval rows, as an event too; None without such rows."""
        if self.eval_rows is None:
            return None
        trainer, step = self.trainer, self.trainer.state.global_step
        with self.journal.phase("eval"):
            loss = mean_loss(
                trainer.model, self._eval_batches(self.eval_rows), trainer.keeps_logits
            )
        steps = self.plan.training.steps
        self.journal.add(Metric(split="eval", step=step, steps=steps, epoch=epoch, loss=loss))
        return loss

    def _eval_batches(self, rows: PreparedRows) -> Iterator[Batch]:
        """This rank's eval rows in their order, as micro-batches in the plan's layout, on the device."""
        items = trained_items(rows, self.plan.training)
        size, device = self.plan.training.micro_batch, self.trainer.args.device
        for first in range(0, len(items), size * ranks.world_size()):
            start = first + size * ranks.rank()
            end = min(start + size, len(items))
            chosen = [items[number] for number in range(start, end)]
            # Every rank makes the same number of passes, the last of them with nothing.
            batch = (
                self.trainer.collate(chosen) if chosen else idle(self.trainer.collate([items[0]]))
            )
            yield {name: value.to(device) for name, value in batch.items()}
            self.journal.progress(end, len(items), "rows" if items is rows else "sequences")

    def _count(self, state: Any) -> None:
        trainer, tally = self.trainer, self.tally
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
                tokens_per_second=trainer.step_tokens / max(time.monotonic() - self._clock, 1e-9),
                memory_bytes=self.journal.memory.now_bytes(),
            )
        )

    def _keep(self, step: int) -> None:
        if self._kept_step == step:
            return
        self.tally.seconds = time.time() - self.journal.started

        def write() -> Path:
            return write_checkpoint(
                self.trainer, self.journal, self.plan.training, self.tally, self.origin
            )

        if ranks.world_size() > 1:
            write()  # no rank may wait for room while the others wait for it
        else:
            needed = checkpoint_bytes(self.trainer)
            when_there_is_room(needed, self.journal.run.checkpoints, self.journal, self.stop, write)
        self._kept_step = step

    def _leave(self, step: int, reason: str) -> None:
        self.journal.note(
            "stopped",
            f"stopped on {reason} after step {step:,} of {self.plan.training.steps:,}; its "
            "checkpoint is whole, and starting the run again goes on from there",
            step=step,
        )
        raise StopRequested(reason)

    def _refuse(self, fault: Fault | None, step: int) -> None:
        """Keep the step's rows and end the run where a number has gone wrong."""
        if fault is None:
            return
        trainer = self.trainer
        name = "bad_batch.json" if ranks.is_first() else f"bad_batch_rank{ranks.rank()}.json"
        file = self.journal.run.path / name
        rows = [_row_as_data(trainer.rows, number) for number in trainer.step_numbers]
        write_atomically(file, json.dumps({"step": step, "fault": fault.what, "rows": rows}))
        numbers = ", ".join(str(number) for number in trainer.step_numbers[:16])
        more = ", ..." if trainer.step_numbers[16:] else ""
        raise NumericFailure(
            fault.what,
            f"{fault.why}; its rows (from 0) are {numbers}{more}, kept in {file}",
            fault.next_step,
            details={"step": step, "rows": trainer.step_numbers, "class": fault.name},
        )


def _row_as_data(rows: PreparedRows, number: int) -> dict[str, Any]:
    row = rows[number]
    return {"row": number, "ids": row.ids.tolist(), "mask": row.mask.astype(int).tolist()}
