"""transformers' Trainer with our rows, our order and the token mean as loss.

The Trainer keeps its loop, its optimizer, its schedule and its device handling. Overridden are the
places where it would decide something that the plan or the prepared rows decide.
"""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import Tensor
from torch.utils.data import DataLoader
from transformers.trainer_callback import PrinterCallback

from surefit.plan.plan import TrainingPlan
from surefit.train.batches import COLLATE, Batch
from surefit.train.failures import ConfigurationDiffers
from surefit.train.loss import kept_logits, summed_loss
from surefit.train.rows import EpochOrder, PreparedRows


class TokenTrainer(transformers.Trainer):  # type: ignore[misc]
    """A Trainer whose loss is the sum over the step's trained tokens, divided by their number.

    After the backward passes of a step: `step_loss` is that mean in nats, exactly, whatever the
    accumulation; `step_targets` and `step_tokens` count its trained and its real tokens;
    `step_numbers` are its rows; `gradient_norm` is the norm before clipping.
    """

    def __init__(
        self, model: Any, training: TrainingPlan, rows: PreparedRows, folder: Path
    ) -> None:
        self.order = EpochOrder(len(rows), training.seed)
        self.collate = COLLATE[training.layout]
        self.keeps_logits = kept_logits(model)
        self.step_loss, self.step_targets, self.step_tokens = 0.0, 0, 0
        self.step_numbers: list[int] = []
        self.gradient_norm = math.nan
        self._losses: list[Tensor] = []
        uses_cache = model.config.use_cache
        super().__init__(
            model=model,
            args=training_arguments(training, folder),
            train_dataset=rows,
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

    def get_train_dataloader(self) -> Any:
        """Micro-batches in the plan's order; the last of an epoch may be smaller."""
        loader = DataLoader(
            self.train_dataset,
            batch_size=self.args.train_batch_size,
            sampler=self.order,
            collate_fn=self.collate,
            drop_last=False,
        )
        return self.accelerator.prepare(loader)

    def get_batch_samples(
        self, epoch_iterator: Iterator[Batch], num_batches: int, _device: torch.device
    ) -> tuple[list[Batch], int]:
        """The micro-batches of one step, and its number of trained tokens."""
        batches = [batch for _, batch in zip(range(num_batches), epoch_iterator, strict=False)]
        self.step_targets = sum(len(batch["targets"]) for batch in batches)
        self.step_tokens = sum(int(batch["real_tokens"]) for batch in batches)
        self.step_numbers = [number for batch in batches for number in batch["numbers"].tolist()]
        self._losses, self.gradient_norm = [], math.nan
        return batches, self.step_targets

    def compute_loss(
        self,
        model: Any,
        inputs: Batch,
        *_: Any,
        num_items_in_batch: int | None = None,
    ) -> Tensor:
        """This micro-batch's share of the step's token mean."""
        if not num_items_in_batch:
            raise ConfigurationDiffers(
                "a step has no trained tokens",
                f"the rows {self.step_numbers} carry no loss, or transformers "
                f"{transformers.__version__} did not hand their number to the loss",
                "check the data with `surefit check`, then install the tested set of packages with "
                "`pip install 'surefit[train]'`",
            )
        loss = summed_loss(model, inputs, self.keeps_logits) / num_items_in_batch
        self._losses.append(loss.detach())
        return loss

    def finish_step(self) -> None:
        """Add up the micro-batches' losses: one wait for the device in a step."""
        self.step_loss = float(torch.stack(self._losses).double().sum())

    def floating_point_ops(self, _inputs: Batch) -> int:
        """Not counted: the Trainer would walk through all parameters in every micro-batch."""
        return 0

    def _clip_grad_norm(self, model: Any) -> Tensor:
        norm: Tensor = super()._clip_grad_norm(model)
        self.gradient_norm = float(norm)
        return norm


def training_arguments(training: TrainingPlan, folder: Path) -> Any:
    """The plan in the Trainer's words. Saving, logging and evaluating are the loop's."""
    constant = "constant_with_warmup" if training.warmup_steps else "constant"
    schedule = constant if training.schedule == "constant" else training.schedule
    return transformers.TrainingArguments(
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
