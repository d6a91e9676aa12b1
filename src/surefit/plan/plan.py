"""Plan: what was decided. `plan.json` holds every number the worker uses, and why."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from surefit.hardware.machine import Hardware
from surefit.models.facts import ModelFacts
from surefit.recipe.schema import AnyMethod

Verdict = Literal["fits", "tight", "does_not_fit", "unknown"]
Strategy = Literal["single", "ddp", "fsdp"]


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True)


class Decision(_Record):
    """A number that the plan fixed, and why."""

    field: str = Field(description="Name in `training`, or what was decided.")
    value: Any
    reason: str
    fixed_by_user: bool = False


class AccountItem(_Record):
    """A part of the peak memory."""

    item: str
    bytes: int
    why: str


class WayOut(_Record):
    """A change that would make the plan fit better."""

    change: str = Field(description="What to set, such as `how.micro_batch: 1`.")
    same_result: bool
    verdict: Verdict
    peak_bytes: int


class Range(_Record):
    """An estimate as an interval, with how it came about."""

    low: float
    high: float
    reason: str


class TrainingPlan(_Record):
    """Everything the worker does, resolved: it decides nothing by itself."""

    method: AnyMethod = Field(discriminator="type")
    targets: tuple[str, ...] = Field((), description="Names of the linear layers with an adapter.")
    device: Literal["cpu", "cuda"]
    precision: Literal["float32", "bfloat16"]
    attention: Literal["sdpa", "eager"]
    layout: Literal["flat", "padded"]
    gradient_checkpointing: bool
    threads: int
    strategy: Strategy = Field(
        "single",
        description="One process; a whole copy of the model in each (ddp); or a share in each (fsdp).",
    )
    ranks: int = Field(1, description="Processes that train together, one a device.")
    offload: bool = Field(
        False, description="Shares lie in the machine's memory while the device does not need them."
    )
    collective_seconds: float = Field(
        1800.0, description="How long a rank waits for the others before it gives up."
    )
    batch: int
    micro_batch: int
    accumulation: int
    max_length: int
    rows: int
    packing: bool = Field(
        False, description="Rows joined into sequences of `max_length`; the batch counts those."
    )
    sequences: int | None = Field(
        None, description="Packed sequences an epoch; null where rows are not packed."
    )
    by_length: bool = Field(
        False, description="The rows of a step pass sorted by length, for less padding."
    )
    template_arguments: dict[str, Any] = Field(
        default_factory=dict, description="Values for the chat template, in training and in chat."
    )
    steps: int
    epochs: float
    learning_rate: float
    schedule: Literal["linear", "cosine", "constant"]
    warmup_steps: int
    weight_decay: float
    optimizer: Literal["adamw"] = "adamw"
    betas: tuple[float, float] = (0.9, 0.999)
    epsilon: float = 1e-8
    max_gradient_norm: float = 1.0
    seed: int
    checkpoint_every_steps: int
    keep_checkpoints: int
    eval_every_steps: int | None = Field(
        None, description="Null: only at the end, and only with eval rows."
    )
    no_improvement: int | None = Field(
        None, description="Evaluations without a lower loss that end the training."
    )
    heartbeat_seconds: float = 1.0
    verify_rows: int = Field(4, description="Rows whose logits are compared after reloading.")
    verify_tolerance: float = Field(
        1e-4, description="Largest allowed difference of a logit after reloading."
    )
    rehearse: bool = Field(
        True, description="Prove worst batch, save and reload before the first step."
    )
    only_rehearse: bool = False
    allocator: dict[str, str] = Field(
        default_factory=dict, description="Environment of the worker's memory allocator."
    )

    @property
    def items(self) -> int:
        """What `batch` counts, in an epoch: packed sequences, or rows."""
        return self.rows if self.sequences is None else self.sequences


class Plan(_Record):
    """The verdict and everything behind it."""

    verdict: Verdict
    verdict_reason: str
    strategy: Strategy = "single"
    devices: tuple[str, ...]
    peak_bytes: int
    low_bytes: int
    high_bytes: int
    budget_bytes: int
    account: tuple[AccountItem, ...]
    peak_moment: str = Field(description="The phase in which the peak is reached.")
    decisions: tuple[Decision, ...]
    way_out: tuple[WayOut, ...] = ()
    disk: tuple[AccountItem, ...] = ()
    disk_free_bytes: int
    seconds: Range | None = None
    limit_seconds: float | None = Field(
        None, description="`limits.hours` in seconds; the supervisor enforces it."
    )
    limit_dollars: float | None = Field(None, description="`limits.dollars`, enforced likewise.")
    dollars_per_hour: float | None = Field(
        None, description="Price of the machine, all devices; null: not known."
    )
    silent_seconds: float | None = Field(
        None, description="Silence that counts as a hang; null: by phase."
    )
    training: TrainingPlan
    model: ModelFacts
    hardware: Hardware
    surefit_version: str
