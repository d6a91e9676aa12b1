"""What a layer keeps from its forward pass for its backward pass.

Read from the layers' code, operation by operation: an operation keeps a tensor when the gradient
of something that is trained, or that lies on the way to it, needs that tensor. The test
tests/process/test_kept_activations.py compares every family with what torch really keeps.

Symbols: h hidden size, f feed-forward size, q and k widths of all query and of all key heads.

    norm over h           its input in float32, one number; normed input only if it is trained
    q, k, v, gate, up     their input (h), once for all that share it
    attention             rotated q and k, v, and its output: q + k + k + q; k and v are repeated to
                          the width of q where a mask is in use and there are several key heads
    o                     its input is the attention's output, kept already
    gate, up              before and after the activation function, and up: 3 f
    down                  its input (f)
    fused q, k, v         v is a view that keeps all of q, k and v; the output is copied once
    adapter               rank numbers between its two matrices
    mask                  sdpa turns a boolean mask into numbers, one copy a layer

A frozen linear layer keeps no input; its adapter does. Beside bfloat16 weights the adapter keeps a
float32 copy of its own, with dropout the random factors and the product of its own.
"""

from surefit.models.facts import LinearShape
from surefit.plan.setup import Setup
from surefit.recipe.schema import AdapterMethod, DoraMethod

_AFTER_FIRST_NORM = frozenset({"q_proj", "k_proj", "v_proj", "qkv_proj"})
_AFTER_SECOND_NORM = frozenset({"gate_proj", "up_proj", "gate_up_proj"})
_OUT = frozenset({"o_proj"})
_FLOAT32 = 4
_EAGER_SCORE_BYTES = (
    8  # capped scores and probabilities, float32; bfloat16 keeps a cast one as well
)


def layer_bytes(setup: Setup, positions: float) -> float:
    """Bytes that one layer keeps for `positions` positions."""
    per_position = _known_layer(setup) if setup.facts.known_family else _unknown_layer(setup)
    return positions * per_position + _square_bytes(setup, positions)


def tail_bytes(setup: Setup, positions: float) -> float:
    """Bytes kept outside the layers: the last norm, the head's input, sines and cosines.

    Under an adapter the first layer's input carries no gradient and is not kept: that pays for the
    last norm's, unless norms come after. With dropout, its random factors are not kept either.
    """
    facts = setup.facts
    angles = 2 * facts.head_dim * setup.number_bytes
    if isinstance(setup.method, AdapterMethod):
        first = [one.inputs for one in setup.adapted if one.name in _AFTER_FIRST_NORM]
        spared = sum(first) * _FLOAT32 if setup.method.dropout else 0
        last_norm = facts.hidden_size * _FLOAT32 if facts.norms_come_after else 0
        return positions * (angles + last_norm - spared)
    trained = setup.lengths.trained_share
    norm = facts.hidden_size * (_FLOAT32 + setup.number_bytes)
    return positions * (angles + norm + trained * facts.hidden_size * setup.number_bytes)


def checkpoint_bytes(setup: Setup, positions: float) -> float:
    """Bytes that one layer keeps under gradient checkpointing: its input."""
    return positions * setup.facts.hidden_size * setup.number_bytes


def layer_hump_bytes(setup: Setup, positions: float) -> float:
    """What a layer's backward pass holds beyond what it kept: 2 f + h.

    Where gate and up get their gradients, three of f are alive and one kept tensor of f is free
    again; the gradient of the layer's output (h) waits beside them.
    """
    facts = setup.facts
    return positions * (2 * facts.intermediate_size + facts.hidden_size) * setup.number_bytes


def has_mask(setup: Setup) -> bool:
    """Whether a mask is in use: a single row needs none, its attention is causal as it stands."""
    return setup.is_masked


def _known_layer(setup: Setup) -> float:
    """Bytes a position of an architecture whose code is known."""
    facts, size = setup.facts, setup.number_bytes
    q, k = facts.heads * facts.head_dim, facts.kv_heads * facts.head_dim
    copied = facts.kv_heads > 1 or (facts.attention == "eager" and setup.layout == "padded")
    repeated = has_mask(setup) and facts.kv_heads < facts.heads and copied
    elements = 2 * q + 2 * (q if repeated else k) + 3 * facts.intermediate_size
    if facts.fused_projections:
        elements += q if repeated else 2 * q + k
    normed = facts.norms_per_block * facts.hidden_size + (q + k if facts.query_key_norm else 0)
    if setup.is_full:
        elements += normed
    statistics = (facts.norms_per_block + facts.heads) * _FLOAT32
    return elements * size + normed * _FLOAT32 + statistics + _input_bytes(setup)


def _input_bytes(setup: Setup) -> float:
    """Bytes a position for the inputs of what is trained among the linear layers."""
    method = setup.method
    if not isinstance(method, AdapterMethod):
        return sum(_shared_inputs(setup.facts.block_linears)) * setup.number_bytes
    between = len(setup.adapted) * method.rank * _FLOAT32
    if isinstance(
        method, DoraMethod
    ):  # the base's output and the adapter's, for the gradient of the length
        outputs = sum(one.outputs for one in setup.adapted)
        between += outputs * (setup.number_bytes + _FLOAT32)
    own = sum(one.inputs for one in setup.adapted)
    if method.dropout:
        return between + own * _FLOAT32 * 2
    if setup.precision == "bfloat16":
        return between + own * _FLOAT32
    return between + sum(_shared_inputs(setup.adapted)) * _FLOAT32


def _shared_inputs(linears: tuple[LinearShape, ...]) -> list[int]:
    """Widths of the inputs kept for these layers, each once where several share it."""
    groups: dict[str, int] = {}
    for one in linears:
        if one.name in _AFTER_FIRST_NORM:
            groups["first"] = one.inputs
        elif one.name in _AFTER_SECOND_NORM:
            groups["second"] = one.inputs
        elif one.name not in _OUT:
            groups[one.name] = one.inputs
    return list(groups.values())


def _unknown_layer(setup: Setup) -> float:
    """Bytes a position of an unknown architecture: in and out of every matrix, four times h."""
    around = sum(one.inputs + one.outputs for one in setup.facts.block_linears)
    adapters = _input_bytes(setup) if not setup.is_full else 0.0
    return (around + 4 * setup.facts.hidden_size) * setup.number_bytes + adapters


def _square_bytes(setup: Setup, positions: float) -> float:
    """Bytes that grow with the square of a line: sdpa's mask, or eager attention's scores."""
    rows = 1.0 if setup.layout == "flat" else float(min(setup.micro_batch, setup.lengths.rows))
    square = rows * setup.line_length(positions) ** 2
    if setup.facts.attention == "eager":
        return square * setup.facts.heads * _EAGER_SCORE_BYTES
    return square * setup.number_bytes if has_mask(setup) else 0.0
