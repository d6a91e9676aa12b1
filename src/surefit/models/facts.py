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


class ModelFacts(BaseModel):
    """Everything that planning needs to know about a model."""

    model_config = ConfigDict(frozen=True)

    source: str = Field(description="As the recipe names it.")
    folder: str = Field(description="Absolute path of the files.")
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
    ignored_code: tuple[str, ...] = Field(
        (), description="Python classes that the config asks for and that are never run."
    )
