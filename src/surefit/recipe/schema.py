"""The recipe: what a person wants. Every variant is a type in a union, told apart by `type`.

A field lives here only when something observable changes with it (see tests/contract/test_recipe_effects.py).
"""

import math
import re
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from surefit.units import share_of

_SAFE_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"


_DIGITS_AFTER_ZERO = re.compile(r"\s*[-+]?0[0-9]+\s*")
_IN_THOUSANDS = re.compile(r"\s*[-+]?[1-9][0-9]{0,2}(_[0-9]{3})+(\.[0-9]*)?\s*")


def _number_from_text(value: Any) -> Any:
    """Read `3e-5` and `10_000` as numbers; YAML calls them text. `010` could be eight and is refused."""
    if not isinstance(value, str):
        return value
    if _DIGITS_AFTER_ZERO.fullmatch(value):
        raise PydanticCustomError("ambiguous_number", "two readings")
    if "_" in value and not _IN_THOUSANDS.fullmatch(value):
        raise PydanticCustomError("no_number", "an underscore that parts no thousands")
    try:
        return float(value.replace("_", ""))
    except ValueError:
        return value


def _refuse_bool(value: Any) -> Any:
    """Keep YAML's `yes` and `true` from becoming the number 1."""
    if isinstance(value, bool):
        raise ValueError("a number is needed here, not true or false")
    return value


# Far beyond any run: a number above is a slip of the hand, and would only show up in figures without sense.
MOST_EPOCHS = 100_000
MOST_ROWS = 1_000_000  # of a batch
MOST_TOKENS = 2**24  # of a row; the longest context of a published model is 10 million tokens
MOST_HOURS = 10_000

Number = Annotated[
    float,
    Field(allow_inf_nan=False),
    BeforeValidator(_number_from_text),
    BeforeValidator(_refuse_bool),
]
Whole = Annotated[int, BeforeValidator(_number_from_text), BeforeValidator(_refuse_bool)]


DataFormat = Literal[
    "messages",
    "sharegpt",
    "alpaca",
    "prompt_completion",
    "text",
    "preference",
    "unpaired_preference",
]
ColumnName = Literal[
    "messages",
    "conversations",
    "role",
    "content",
    "tools",
    "system",
    "instruction",
    "input",
    "output",
    "prompt",
    "completion",
    "text",
    "chosen",
    "rejected",
    "label",
]


Role = Literal["system", "user", "assistant", "tool"]
Weight = Annotated[Number, Field(ge=0, le=1)]
ROLES: tuple[str, ...] = get_args(Role)
GIVEN_TO_TEMPLATES = frozenset({"messages", "tools", "documents", "add_generation_prompt"})


def _contradiction(what: str, why: str, next_step: str) -> PydanticCustomError:
    """An error in words of its own: see `recipe.problems`."""
    return PydanticCustomError("in_words", "{what}", {"what": what, "why": why, "next": next_step})


class Part(BaseModel):
    """A part of a recipe: frozen, and an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class DataSpec(Part):
    """Which rows are trained and which are held back."""

    train: str = Field(
        description="Rows to train on: a file (JSONL, JSON, CSV, TSV, Parquet, Arrow; .gz and .zst too), "
        "a folder, a pattern such as `data/*.jsonl`, or a data set on the Hub: `org/name`, "
        "`org/name@revision/subset:split`.",
        min_length=1,
    )
    eval: str | None = Field(
        None,
        description="Rows to evaluate on: a share of the training rows such as `5%`, another file, a data set "
        "on the Hub, or `none`.",
    )
    format: DataFormat | None = Field(
        None, description="Format of the rows. Default: recognised from their columns."
    )
    columns: dict[ColumnName, str] | None = Field(
        None,
        description="Which column holds what, such as `{prompt: frage, completion: antwort}`; `role` and "
        "`content` name keys inside a turn.",
    )
    max_unusable: Whole = Field(
        0,
        ge=0,
        le=1_000_000_000,
        description="Rows that may be left out because they cannot be trained; with one more, the data "
        "is refused.",
    )
    loss: Literal["answers", "last_answer", "all"] = Field(
        "answers",
        description="Tokens that carry loss: every answer, the last answer of each row, or all tokens.",
    )
    role_weights: dict[Role, Weight] | None = Field(
        None,
        description="How much the turns of a role weigh in the loss, from 0 to 1, such as `{user: 0.1}`. "
        "Default: `assistant` 1, every other role 0. A `weight` in a turn multiplies it.",
    )
    long_rows: Literal["cut", "drop", "split"] = Field(
        "cut",
        description="Rows over `goal.max_length`: cut off there, left out, or split into several rows, a "
        "conversation between its turns.",
    )
    template_arguments: dict[str, Any] | None = Field(
        None,
        description="Values for the model's chat template, such as `{enable_thinking: false}`, in training "
        "and in chat.",
    )

    @field_validator("template_arguments")
    @classmethod
    def _no_given_names(cls, value: dict[str, Any] | None) -> dict[str, Any] | None:
        taken = sorted(GIVEN_TO_TEMPLATES & (value or {}).keys())
        if taken:
            raise _contradiction(
                f"data.template_arguments may not name {taken[0]}",
                f"surefit itself gives {', '.join(sorted(GIVEN_TO_TEMPLATES))} to the template",
                f"take {taken[0]} out of data.template_arguments",
            )
        return value

    @model_validator(mode="after")
    def _weights_of_turns_only(self) -> "DataSpec":
        if self.role_weights is not None and self.loss == "all":
            raise _contradiction(
                "data.loss: all and data.role_weights contradict each other",
                "the one trains every token alike, the other each role by its weight",
                "leave out one of the two",
            )
        if self.role_weights is not None and not any(self.weight_of(role) for role in ROLES):
            raise _contradiction(
                "data.role_weights leaves every role at 0",
                "nothing would be trained",
                "give a role a weight above 0, such as `data.role_weights: {assistant: 1}`",
            )
        return self

    def weight_of(self, role: str) -> float:
        """How much a turn of this role weighs in the loss."""
        given = {str(name): float(weight) for name, weight in (self.role_weights or {}).items()}
        return given.get(role, 1.0 if role == "assistant" else 0.0)

    @property
    def eval_share(self) -> float | None:
        """The share of the training rows held back, or None."""
        return share_of(self.eval) if self.eval else None


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


AnyMethod = FullMethod | LoraMethod | RsLoraMethod | DoraMethod | QloraMethod
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
    hardware: Literal["this"] = Field("this", description="Where to train: `this` machine.")
    limits: Limits = Field(default_factory=Limits)
    how: How = Field(default_factory=How)
