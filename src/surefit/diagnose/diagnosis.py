"""Diagnosis: what happened, why, the lines that show it, and what to do next."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from surefit.runs.event import PhaseName


class EvidenceLine(BaseModel):
    """A line that shows it."""

    model_config = ConfigDict(frozen=True)

    file: str
    line: int | None
    text: str


class Repair(BaseModel):
    """A change of the recipe that would get past the failure."""

    model_config = ConfigDict(frozen=True)

    change: str = Field(description="What to set, such as `how.micro_batch: 1`.")
    same_result: bool = Field(description="True: fewer resources, same result. False: ask first.")


class Diagnosis(BaseModel):
    """The cause of a run's end, in the same words for terminal, JSON and page.

    Serialise with `by_alias=True`: the keys are class, next, ... as every reader of `--json`
    expects.
    """

    model_config = ConfigDict(frozen=True, populate_by_name=True)

    failure_class: str = Field(
        alias="class", description="A name such as KILLED; UNKNOWN when nothing matched."
    )
    code: str | None = Field(description="The signature's code, such as SF201.")
    what: str
    why: str
    next_step: str = Field(alias="next")
    phase: PhaseName | Literal["unknown"] = "unknown"
    step: int | None = None
    root_rank: int | None = None
    retryable: bool = False
    evidence: tuple[EvidenceLine, ...] = ()
    repair: tuple[Repair, ...] = ()
