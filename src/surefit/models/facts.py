"""ModelFacts: what a model is, from `config.json` and safetensors headers, never from its name."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class ParameterCounts(BaseModel):
    """Parameters by what happens to them in training. A tied weight counts once, as embedding."""

    model_config = ConfigDict(frozen=True)

    embedding: int
    head: int = Field(description="Output projection; 0 where it is tied to the embedding.")
    linear: int = Field(
        description="Matrices of the layers: what adapters attach to and 4-bit quantises."
    )
    norm: int = Field(description="Norms, biases and other vectors.")
    other: int = 0

    @property
    def total(self) -> int:
        """All parameters."""
        return self.embedding + self.head + self.linear + self.norm + self.other


class LinearShape(BaseModel):
    """A linear layer of one block: weight of shape [outputs, inputs]."""

    model_config = ConfigDict(frozen=True)

    name: str = Field(description="Its last name part, such as `q_proj`.")
    inputs: int
    outputs: int


class HubFile(BaseModel):
    """A file of a commit on the Hub."""

    model_config = ConfigDict(frozen=True)

    path: str = Field(description="Relative to the repository.")
    size_bytes: int
    etag: str = Field(
        description="SHA-256 of a large file, git's SHA-1 of a small one; may be empty."
    )


class HubOrigin(BaseModel):
    """Where on the Hub a model comes from, pinned to a commit."""

    model_config = ConfigDict(frozen=True)

    endpoint: str
    repo: str
    revision: str = Field(description="As asked: a branch, a tag or a commit.")
    commit: str = Field(description="What the revision named when the plan was made.")
    files: tuple[HubFile, ...] = Field(description="Everything that a worker reads of it.")
    access: Literal["public", "gated", "private"] = "public"
    download_bytes: int = Field(description="Of them, what was not in the cache yet.")
    same_disk: bool = Field(True, description="Whether the cache lies on the disk of the runs.")


class ModelFacts(BaseModel):
    """Everything that planning needs to know about a model."""

    model_config = ConfigDict(frozen=True)

    source: str = Field(description="As the recipe names it.")
    folder: str = Field(
        description="Absolute path of the files; for a model of the Hub, its place in the Hub's cache."
    )
    model_type: str
    architecture: str
    known_family: bool = Field(
        description="Whether its rules are known; unknown ones widen every estimate."
    )
    hidden_size: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    intermediate_size: int
    vocabulary: int
    max_positions: int | None
    tied_embeddings: bool
    stored_dtype: Literal["float32", "float16", "bfloat16"]
    parameters: ParameterCounts
    block_linears: tuple[LinearShape, ...] = Field(description="The linear layers of one block.")
    weight_files: tuple[str, ...]
    weight_bytes: int = Field(description="Size of the weight files on the disk.")
    attention: Literal["sdpa", "eager"] = Field(
        "sdpa", description="Kernel that computes it rightly."
    )
    isolates_flat_rows: bool = Field(
        False, description="Whether rows in one line see only themselves by their position ids."
    )
    norms_per_block: int = Field(2, description="Norms over the hidden size in one block.")
    norms_come_after: bool = Field(
        False, description="Whether a part's output is normed, not its input."
    )
    query_key_norm: bool = Field(False, description="Whether queries and keys are normed as well.")
    caps_logits: bool = Field(False, description="Whether the logits go through a cap.")
    fused_projections: bool = Field(False, description="Whether q, k and v come out of one linear.")
    hub: HubOrigin | None = Field(None, description="Null for a model in a folder.")
    ignored_code: tuple[str, ...] = Field(
        (), description="Python classes that the config asks for and that are never run."
    )
