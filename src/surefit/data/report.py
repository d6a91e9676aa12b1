"""DatasetReport: what the data holds, what is wrong with it, and whether it can be trained."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Severity = Literal["refuse", "warn", "info"]
DataVerdict = Literal["ok", "warn", "refuse"]


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True)


class Finding(_Record):
    """What one check found, over all rows."""

    code: str = Field(description="The check's code, such as SD104.")
    severity: Severity
    message: str = Field(
        description="What was found, with the first place and the value shortened."
    )
    why: str
    next: str
    count: int = Field(description="Rows concerned.")
    rows: tuple[str, ...] = Field((), description="The first places, `file:line`.")


class LengthBin(_Record):
    """Rows whose length lies in a range, before the cut."""

    shortest: int = Field(description="Tokens from which the range goes.")
    longest: int = Field(description="Tokens up to which it goes, included.")
    rows: int


class TokenCounts(_Record):
    """Lengths in tokens, after the cut at `max_length`."""

    total: int
    trained: int = Field(description="Tokens that carry loss.")
    longest: int
    shortest: int
    mean: float
    percentiles: dict[str, int] = Field(
        description="Length at p50, p90, p99 of the rows, before the cut."
    )
    cut_rows: int = Field(0, description="Rows longer than `max_length`.")
    cut_trained: int = Field(0, description="Answer tokens lost by the cut.")
    cut_row_share: float = Field(0.0, description="Share of the rows that is cut.")
    cut_trained_share: float = Field(0.0, description="Share of the answer tokens that is lost.")
    fully_masked: int = Field(
        0, description="Rows left out because the cut leaves no token that carries loss."
    )
    keeps_99: int = Field(0, description="The length that keeps 99 % of the rows whole.")
    longest_batch: int = Field(
        0, description="Tokens of the `goal.batch` longest rows together: the most a step can hold."
    )
    histogram: tuple[LengthBin, ...] = Field((), description="Rows by length, before the cut.")


class PackedCounts(_Record):
    """Rows joined into sequences of at most `max_length` tokens, each row seeing only itself."""

    sequences: int = Field(description="Sequences an epoch; `goal.batch` counts them.")
    longest: int = Field(description="Tokens of the fullest sequence.")
    shortest: int
    mean: float
    percentiles: dict[str, int] = Field(description="Tokens at p50, p90, p99 of the sequences.")
    filled: float = Field(description="Share of the places that hold a token.")


class Sample(_Record):
    """A row as it will be trained: pieces of text, each trained or not."""

    place: str
    pieces: tuple[tuple[str, bool], ...]


class DataSource(_Record):
    """A file that was read."""

    path: str
    size_bytes: int
    sha256: str
    origin: str | None = Field(
        None,
        description="Where it was fetched from, with the commit; null for a file of this machine.",
    )


class DatasetReport(_Record):
    """The verdict on a data set. `dataset.json` of a run."""

    verdict: DataVerdict
    format: str
    format_reason: str
    sources: tuple[DataSource, ...]
    rows: int = Field(description="Rows read from the training data.")
    usable: int = Field(description="Rows that will be trained.")
    eval_rows: int = 0
    max_length: int | None = None
    findings: tuple[Finding, ...] = ()
    dropped: tuple[str, ...] = Field(
        (),
        description="Rows left out within `data.max_unusable` or by `data.long_rows: drop`, "
        "`file:line`; the first 10,000.",
    )
    tokens: TokenCounts | None = Field(None, description="Null where no model was given.")
    eval_tokens: TokenCounts | None = None
    packed: PackedCounts | None = Field(
        None, description="Packed sequences; null where `how.packing` is off or no model was given."
    )
    samples: tuple[Sample, ...] = ()
    prepared: str | None = Field(
        None, description="Folder of the prepared tokens, where they were written."
    )
