"""`data` of a recipe: which rows are trained, which are held back, and what counts in the loss."""

from typing import Annotated, Any, Literal, get_args

from pydantic import Field, field_validator, model_validator

from surefit.recipe.part import Number, Part, Whole, contradiction
from surefit.units import share_of

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
            raise contradiction(
                f"data.template_arguments may not name {taken[0]}",
                f"surefit itself gives {', '.join(sorted(GIVEN_TO_TEMPLATES))} to the template",
                f"take {taken[0]} out of data.template_arguments",
            )
        return value

    @model_validator(mode="after")
    def _weights_of_turns_only(self) -> "DataSpec":
        if self.role_weights is not None and self.loss == "all":
            raise contradiction(
                "data.loss: all and data.role_weights contradict each other",
                "the one trains every token alike, the other each role by its weight",
                "leave out one of the two",
            )
        if self.role_weights is not None and not any(self.weight_of(role) for role in ROLES):
            raise contradiction(
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
