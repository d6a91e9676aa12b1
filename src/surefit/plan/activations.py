"""What a layer keeps from its forward pass for its backward pass.

Read from the layers' code, operation by operation: an operation keeps a tensor when the gradient of
something that is trained, or lies on the way to it, needs that tensor. Symbols: T positions, h hidden size,
f feed-forward size, q and k widths of all query and all key heads, r adapter rank.

    norm over h           its input (h), one number; the normed input (h) only if the norm is trained
    q, k, v, gate, up     their shared input (h) only if one of them is adapted or trained
    rotated q, k; v; out  kept by the attention: q + k + k + q; k and v as wide as q when a mask
                          makes the library repeat the key heads
    o                     its input is `out`, which is kept anyway
    gate                  before and after the activation function (2 f); up (f)
    down                  its input (f) only if it is adapted or trained
    adapter               r numbers between its two matrices
    mask                  sdpa turns a boolean mask into numbers, one copy a layer
"""

from surefit.plan.setup import Setup
from surefit.recipe.schema import LoraMethod

_AFTER_FIRST_NORM = frozenset({"q_proj", "k_proj", "v_proj", "qkv_proj"})
_AFTER_SECOND_NORM = frozenset({"gate_proj", "up_proj", "gate_up_proj"})
_EAGER_COPIES = 3  # scores after capping, after softmax, and in the arithmetic's own format


def layer_bytes(setup: Setup, positions: float) -> float:
    """Bytes that one layer keeps for `positions` positions."""
    per_position = _unknown_layer(setup) if not setup.facts.known_family else _known_layer(setup)
    return positions * per_position + _score_bytes(setup, positions)


def checkpoint_bytes(setup: Setup, positions: float) -> float:
    """Bytes that one layer keeps under gradient checkpointing: its input."""
    return positions * setup.facts.hidden_size * setup.number_bytes


def layer_hump_bytes(setup: Setup, positions: float) -> float:
    """Gradients alive at once inside one layer's backward pass: four of f and two of h."""
    facts = setup.facts
    return positions * (4 * facts.intermediate_size + 2 * facts.hidden_size) * setup.number_bytes


def _has_mask(setup: Setup) -> bool:
    return setup.layout == "flat" or setup.micro_batch > 1


def _kept(setup: Setup, names: frozenset[str]) -> bool:
    return setup.is_full or any(name in names for name in setup.targets)


def _known_layer(setup: Setup) -> float:
    """Bytes a position of an architecture whose code is known."""
    facts, size = setup.facts, setup.number_bytes
    h, f = facts.hidden_size, facts.intermediate_size
    q, k = facts.heads * facts.head_dim, facts.kv_heads * facts.head_dim
    wide = q if _has_mask(setup) else k
    elements = h * (_kept(setup, _AFTER_FIRST_NORM) + _kept(setup, _AFTER_SECOND_NORM))
    elements += 2 * q + 2 * wide + 3 * f + facts.heads
    elements += f * _kept(setup, frozenset({"down_proj"}))
    elements += (q + k) if facts.fused_projections else 0
    normed = facts.norms_per_block * h + ((q + k) if facts.query_key_norm else 0)
    if setup.is_full:
        elements += normed
    # Norms compute in float32 whatever the arithmetic's format (transformers, RMSNorm.forward).
    return elements * size + normed * 4 + facts.norms_per_block * 4 + _adapter_bytes(setup)


def _adapter_bytes(setup: Setup) -> float:
    """Bytes a position for the adapters: rank, and float32 copies of inputs beside bfloat16 weights."""
    if not isinstance(setup.method, LoraMethod):
        return 0.0
    ranks = len(setup.adapted) * setup.method.rank * 4
    copies = sum(one.inputs for one in setup.adapted) * 4 if setup.precision == "bfloat16" else 0
    dropped = sum(one.inputs for one in setup.adapted) * 5 if setup.method.dropout else 0
    return ranks + copies + dropped


def _unknown_layer(setup: Setup) -> float:
    """Bytes a position of an unknown architecture: input and output of every matrix, four of h."""
    around = sum(one.inputs + one.outputs for one in setup.facts.block_linears)
    return (around + 4 * setup.facts.hidden_size) * setup.number_bytes + _adapter_bytes(setup)


def _score_bytes(setup: Setup, positions: float) -> float:
    """Bytes that grow with the square of a line: the mask of sdpa, or eager attention's scores."""
    rows = 1.0 if setup.layout == "flat" else float(min(setup.micro_batch, setup.lengths.rows))
    square = rows * setup.line_length(positions) ** 2
    if setup.facts.attention == "eager":
        return square * setup.facts.heads * 4 * _EAGER_COPIES
    return square * setup.number_bytes if _has_mask(setup) else 0.0
