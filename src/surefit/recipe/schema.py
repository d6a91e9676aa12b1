"""The recipe: what a person wants. Every variant is a type in a union, told apart by `type`.

A field lives here only when something observable changes with it (see tests/contract/test_recipe_effects.py).
"""

import math
from typing import Annotated, Literal

from pydantic import (
    Field,
)

from surefit.recipe.data_spec import DataSpec
from surefit.recipe.part import (
    MOST_EPOCHS,
    MOST_HOURS,
    MOST_ROWS,
    MOST_TOKENS,
    Number,
    Part,
    Whole,
)

HARDWARE_FORM = r"^[A-Za-z0-9][A-Za-z0-9._-]*(:[0-9]{1,4})?( ?x ?[0-9]{1,4})?$"
_SAFE_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"


class FullMethod(Part):
    """Train every parameter of the model."""

    type: Literal["full"]


class AdapterMethod(Part):
    """What all methods with low-rank adapters share."""

    rank: Whole = Field(16, ge=1, le=1024, description="Rank of the adapter matrices.")
    alpha: Number | None = Field(
        None,
        gt=0,
        le=1_000_000,
        description="Scale: the adapter is multiplied by alpha / rank (rslora: alpha / sqrt(rank)). "
        "Default: 2 x rank; for rslora 16.",
    )
    dropout: Number = Field(
        0.0, ge=0, lt=1, description="Share of adapter inputs dropped in training."
    )
    targets: Literal["all-linear"] | tuple[str, ...] = Field(
        "all-linear",
        description="Linear layers that get an adapter: `all-linear`, or names such as `[q_proj, v_proj]`.",
    )

    @property
    def scale_alpha(self) -> float:
        """The alpha that is used: as given, else twice the rank."""
        return float(self.alpha) if self.alpha is not None else 2.0 * self.rank

    @property
    def scale(self) -> float:
        """What the product of an adapter's matrices is multiplied by."""
        return self.scale_alpha / self.rank


class LoraMethod(AdapterMethod):
    """Train low-rank adapters beside frozen weights (Hu et al. 2021, arXiv:2106.09685)."""

    type: Literal["lora"]


class RsLoraMethod(AdapterMethod):
    """LoRA whose scale is alpha / sqrt(rank), so that large ranks learn too (Kalajdzievski 2023, arXiv:2312.03732)."""

    type: Literal["rslora"]

    @property
    def scale_alpha(self) -> float:
        """The alpha that is used: as given, else 16, as in the paper: 4 x at rank 16, 2 x at rank 64."""
        return float(self.alpha) if self.alpha is not None else 16.0

    @property
    def scale(self) -> float:
        """What the product of an adapter's matrices is multiplied by."""
        return self.scale_alpha / math.sqrt(self.rank)


class DoraMethod(AdapterMethod):
    """LoRA for the direction of each weight's columns, and a trained length (Liu et al. 2024, arXiv:2402.09353)."""

    type: Literal["dora"]


class QloraMethod(AdapterMethod):
    """LoRA beside a base of 4-bit numbers (nf4, Dettmers et al. 2023, arXiv:2305.14314)."""

    type: Literal["qlora"]
    double_quantization: bool = Field(
        True,
        description="Quantise the scales of the 4-bit numbers too: 0.37 bits a parameter less.",
    )


class Int8Method(AdapterMethod):
    """LoRA beside a base of 8-bit numbers (LLM.int8, Dettmers et al. 2022, arXiv:2208.07339). Planned only."""

    type: Literal["int8"]


AnyMethod = FullMethod | LoraMethod | RsLoraMethod | DoraMethod | QloraMethod | Int8Method
Method = Annotated[AnyMethod, Field(discriminator="type")]


class Goal(Part):
    """What is to be learned, and how thoroughly."""

    epochs: Number = Field(1, gt=0, le=MOST_EPOCHS, description="Passes over the training rows.")
    learning_rate: Number | None = Field(
        None,
        gt=0,
        le=1,
        description="Peak learning rate. Default: 2e-4 for adapters, 2e-5 for full.",
    )
    batch: Whole = Field(8, ge=1, le=MOST_ROWS, description="Sequences per optimizer step.")
    max_length: Whole | None = Field(
        None,
        ge=8,
        le=MOST_TOKENS,
        description="Longest row in tokens; longer rows are cut and counted. Default: the smaller of 2,048 "
        "and what the model was made for.",
    )
    schedule: Literal["linear", "cosine", "constant"] = Field(
        "cosine", description="How the learning rate falls after the warm-up."
    )
    warmup: Number = Field(
        0.03, ge=0, lt=1, description="Share of the steps in which the rate rises."
    )
    weight_decay: Number = Field(0.0, ge=0, le=100, description="AdamW's decoupled weight decay.")
    seed: Whole = Field(17, ge=0, lt=2**32, description="Seed of row order, adapters and dropout.")


class Limits(Part):
    """Where a run is stopped, whatever it has reached."""

    hours: Number | None = Field(
        None,
        gt=0,
        le=MOST_HOURS,
        description="Wall-clock hours after which the run stops with a checkpoint.",
    )
    dollars: Number | None = Field(
        None,
        gt=0,
        le=1_000_000_000,
        description="Dollars after which the run stops with a checkpoint; needs `limits.dollars_per_hour`.",
    )
    dollars_per_hour: Number | None = Field(
        None,
        ge=0.0001,
        le=1_000_000,
        description="What the machine costs in an hour, all its devices together.",
    )
    silent_minutes: Number | None = Field(
        None,
        gt=0,
        le=MOST_HOURS * 60,
        description="Minutes without any progress after which the run counts as hung and is ended. "
        "Default: by phase, 15 for a training step.",
    )
    no_improvement: Whole | None = Field(
        None,
        ge=1,
        le=1_000_000,
        description="Evaluations in a row without a lower loss after which training ends; the weights "
        "of the best one are the result. Needs `data.eval`.",
    )


class How(Part):
    """Decisions of the plan that a person fixes by hand. Everything left out is decided by the plan."""

    micro_batch: Whole | None = Field(
        None,
        ge=1,
        le=MOST_ROWS,
        description="Sequences per device and pass; `goal.batch` must be a multiple of it.",
    )
    precision: Literal["float32", "bfloat16"] | None = Field(
        None, description="Number format of weights and arithmetic."
    )
    layout: Literal["flat", "padded"] | None = Field(
        None,
        description="`flat` puts the rows of a micro-batch in one line without padding, each seeing only itself; "
        "`padded` fills them up to the longest.",
    )
    packing: bool = Field(
        False,
        description="Join rows into sequences of at most `goal.max_length` tokens, each row seeing only "
        "itself, and count `goal.batch` in them: fewer, fuller steps.",
    )
    gradient_checkpointing: bool | None = Field(
        None,
        description="Recompute activations in the backward pass: less memory, a third more work.",
    )
    checkpoint_every_steps: Whole | None = Field(
        None, ge=1, le=1_000_000_000, description="Optimizer steps between two checkpoints."
    )
    keep_checkpoints: Whole | None = Field(
        None, ge=1, le=100_000, description="Newest checkpoints kept."
    )
    threads: Whole | None = Field(
        None, ge=1, le=1024, description="CPU threads of each worker process."
    )
    strategy: Literal["single", "ddp", "fsdp"] | None = Field(
        None,
        description="`single` trains in one process; `ddp` keeps a whole copy of the model in each rank "
        "(faster, never smaller); `fsdp` a share of it.",
    )
    ranks: Whole | None = Field(
        None,
        ge=1,
        le=1024,
        description="Processes that train together, one for each device; on a CPU as many as asked.",
    )
    offload: bool = Field(
        False,
        description="With `fsdp` on GPUs: shares wait in the machine's memory. Far slower, for models that fit "
        "no other way.",
    )


class Recipe(Part):
    """A fine-tuning run as a person asks for it."""

    model: str = Field(
        description="Folder of the model, its name on the Hub (`org/name`, `org/name@revision`), or `starter`.",
        min_length=1,
    )
    data: DataSpec
    method: Method = Field(default_factory=lambda: LoraMethod(type="lora"))
    goal: Goal = Field(default_factory=Goal)
    hardware: str = Field(
        "this",
        pattern=HARDWARE_FORM,
        description="Where to train: `this` machine. Or what to plan for: `l40s:1`, `h200:8`, "
        "`a100-80gb:8 x 2` (GPU:count x nodes), or a rented flavour such as `l4x4`; `surefit hardware --all` "
        "lists them.",
    )
    limits: Limits = Field(default_factory=Limits)
    how: How = Field(default_factory=How)
