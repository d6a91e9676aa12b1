"""transformers' Trainer with our rows, our order and the token mean as loss.

The Trainer keeps its loop, its optimizer, its schedule and its device handling. Overridden are the
places where it would decide something that the plan or the prepared rows decide.
"""

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import Tensor
from torch.utils.data import DataLoader
from transformers.trainer_callback import PrinterCallback

from surefit.plan.plan import TrainingPlan
from surefit.train import ranks
from surefit.train.batches import Batch, collate_for, idle
from surefit.train.checkpoint import load_weights, optimizer_file
from surefit.train.failures import ConfigurationDiffers
from surefit.train.lines import trained_items
from surefit.train.loss import kept_logits, summed_loss, weight_of
from surefit.train.rank_batches import RankBatches
from surefit.train.rows import EpochOrder, PreparedRows, Row
from surefit.train.sharding import copy_in_every_rank, load_optimizer_share, whole


class TokenTrainer(transformers.Trainer):  # type: ignore[misc]
    """A Trainer whose loss is the sum over the step's trained tokens, divided by their number.

    After the backward passes of a step: `step_loss` is that mean in nats, exactly, whatever the
    accumulation and however many ranks; `step_targets` and `step_tokens` count its trained and its
    real tokens, of all ranks; `step_numbers` are this rank's rows; `gradient_norm` is the norm
    before clipping.
    """

    def __init__(
        self, model: Any, training: TrainingPlan, rows: PreparedRows, folder: Path
    ) -> None:
        self.training = training
        items = trained_items(rows, training)
        self.rows = rows
        self.order = EpochOrder(
            items.lengths, training.seed, training.batch if training.by_length else 0
        )
        self.collate = collate_for(training)
        self.keeps_logits = kept_logits(model)
        self.step_loss, self.step_targets, self.step_tokens = 0.0, 0, 0
        self.step_numbers: list[int] = []
        self.gradient_norm = math.nan
        self.moved: Callable[[], None] = lambda: None  # told when a pass has its loss
        self._losses: list[Tensor] = []
        uses_cache = model.config.use_cache
        super().__init__(
            model=model,
            args=training_arguments(training, folder),
            train_dataset=items,
            data_collator=self.collate,
        )
        # Our loss is already divided by the whole step's tokens; both names say so to the Trainer
        # (older versions know only the first).
        self.model_accepts_loss_kwargs = True
        self.loss_is_scaled_for_ga = True
        self.remove_callback(PrinterCallback)
        # The Trainer switches the cache off in the config, which is saved with the model; our forward
        # passes say so themselves.
        model.config.use_cache = uses_cache
        # accelerate would wrap every model in DDP, a sharded one too.
        self.accelerator.prepare_model = self._prepare_model
        if not ranks.is_first():
            torch.manual_seed(training.seed + ranks.rank())  # each rank drops others in its dropout

    def _prepare_model(self, model: Any, **_: Any) -> Any:
        """What the plan's strategy puts around the model; a sharded one needs nothing."""
        return (
            copy_in_every_rank(model, self.training) if self.training.strategy == "ddp" else model
        )

    def get_train_dataloader(self) -> Any:
        """This rank's micro-batches in the plan's order; the last of an epoch may be smaller."""
        batches = RankBatches(
            self.order,
            self.training.batch,
            self.args.train_batch_size,
            ranks.rank(),
            ranks.world_size(),
        )
        return DataLoader(
            self.train_dataset,
            batch_sampler=batches,
            collate_fn=self._collate_any,
            pin_memory=self.args.dataloader_pin_memory,
        )

    def _collate_any(self, rows: list[Row]) -> Batch:
        """A micro-batch, also of no row."""
        if rows:
            return self.collate(rows)
        return idle(self.collate([self.train_dataset[int(self.train_dataset.lengths.argmin())]]))

    def get_batch_samples(
        self, epoch_iterator: Iterator[Batch], num_batches: int, _device: torch.device
    ) -> tuple[list[Batch], float]:
        """The micro-batches of one step, and what its trained tokens weigh: 1 each, if not less."""
        batches = [batch for _, batch in zip(range(num_batches), epoch_iterator, strict=False)]
        targets, tokens, weight = ranks.sums(
            sum(len(batch["targets"]) for batch in batches),
            sum(int(batch["real_tokens"]) for batch in batches),
            sum(weight_of(batch) for batch in batches),
        )
        self.step_targets, self.step_tokens = round(targets), round(tokens)
        self.step_numbers = [number for batch in batches for number in batch["numbers"].tolist()]
        self._losses, self.gradient_norm = [], math.nan
        return batches, weight

    def compute_loss(
        self,
        model: Any,
        inputs: Batch,
        *_: Any,
        num_items_in_batch: float | None = None,
    ) -> Tensor:
        """This micro-batch's share of the step's token mean."""
        if not num_items_in_batch:
            raise ConfigurationDiffers(
                "a step has no trained tokens",
                f"the rows {self.step_numbers} carry no loss, or transformers "
                f"{transformers.__version__} did not hand their number to the loss",
                "check the data with `surefit check`, then install the tested set of packages with "
                "`pip install 'surefit[train]'`",
                details={"class": "ALL_MASKED"},
            )
        loss = summed_loss(model, inputs, self.keeps_logits) / num_items_in_batch
        self._losses.append(loss.detach())
        self.moved()
        # Ranks average their gradients; ours are parts of a sum.
        return loss * ranks.world_size()

    def finish_step(self, stop_asked: bool = False) -> bool:
        """Add up the losses of micro-batches and ranks; whether any rank was asked to stop."""
        mine = float(torch.stack(self._losses).double().sum())
        self.step_loss, asked = ranks.sums(mine, float(stop_asked))
        return asked > 0

    def _load_from_checkpoint(self, resume_from_checkpoint: str, model: Any = None) -> None:
        """Weights of a checkpoint; a rank of a sharded model takes its share of them."""
        if self.training.strategy != "fsdp":
            super()._load_from_checkpoint(resume_from_checkpoint, model)
            return
        load_weights(self.model, Path(resume_from_checkpoint))

    def _load_optimizer_and_scheduler(self, checkpoint: str | None) -> None:
        """Optimizer and schedule of a checkpoint; each rank of a sharded model has its own part."""
        if checkpoint is None or self.training.strategy != "fsdp":
            super()._load_optimizer_and_scheduler(checkpoint)
            return
        share = torch.load(Path(checkpoint) / optimizer_file("fsdp"), weights_only=True)
        load_optimizer_share(getattr(self.optimizer, "optimizer", self.optimizer), share)
        schedule = torch.load(Path(checkpoint) / "scheduler.pt", weights_only=True)
        self.lr_scheduler.load_state_dict(schedule)

    def floating_point_ops(self, _inputs: Batch) -> int:
        """Not counted: the Trainer would walk through all parameters in every micro-batch."""
        return 0

    def _clip_grad_norm(self, model: Any) -> Tensor:
        norm: Tensor = whole(super()._clip_grad_norm(model))
        self.gradient_norm = float(norm)
        return norm


def training_arguments(training: TrainingPlan, folder: Path) -> Any:
    """The plan in the Trainer's words. Saving, logging and evaluating are the loop's."""
    constant = "constant_with_warmup" if training.warmup_steps else "constant"
    schedule = constant if training.schedule == "constant" else training.schedule
    arguments = transformers.TrainingArguments(
        output_dir=str(folder),
        per_device_train_batch_size=training.micro_batch,
        gradient_accumulation_steps=training.accumulation,
        # The Trainer would round 1.1 epochs of 10 steps up to 12; `effective` counts them again.
        max_steps=training.steps,
        learning_rate=training.learning_rate,
        lr_scheduler_type=schedule,
        warmup_steps=training.warmup_steps,
        weight_decay=training.weight_decay,
        optim="adamw_torch_fused",
        adam_beta1=training.betas[0],
        adam_beta2=training.betas[1],
        adam_epsilon=training.epsilon,
        max_grad_norm=training.max_gradient_norm,
        seed=training.seed,
        use_cpu=training.device == "cpu",
        ddp_backend="gloo" if training.device == "cpu" and training.ranks > 1 else None,
        save_strategy="no",
        eval_strategy="no",
        logging_strategy="no",
        logging_nan_inf_filter=False,
        report_to="none",
        disable_tqdm=True,
        remove_unused_columns=False,
        label_names=["targets"],
        dataloader_num_workers=0,
        dataloader_pin_memory=training.device == "cuda",
    )
    # One process drives one GPU: of several the Trainer would make a DataParallel, unasked.
    arguments._n_gpu = min(1, arguments.n_gpu)
    return arguments
