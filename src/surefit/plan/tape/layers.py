"""A decoder's layer over sizes, written as transformers, peft and LitGPT write it over tensors."""

from collections.abc import Sequence
from dataclasses import replace

from surefit.plan.tape.attention import Scores, eager, fused
from surefit.plan.tape.operations import (
    add,
    cast,
    copied,
    elementwise,
    joined,
    multiply,
    part_of,
    plain_linear,
    rms_norm,
    rotated,
)
from surefit.plan.tape.shape import LayerShape, Software, Weights
from surefit.plan.tape.tensors import Tape, Tensor, alike, made, needs, recorded


def project(
    tape: Tape, x: Tensor, name: str, weights: Weights, shape: LayerShape, how: Software
) -> Tensor:
    """A linear layer with its adapter, if it has one."""
    inputs, outputs = shape.linears[name]
    out = _base(tape, x, name, weights, inputs, outputs, how)
    if name not in weights.adapters:
        return out
    if how.fused_adapters:
        return _fused_adapter(tape, x, out, weights, name)
    if how.quantised and how.clones_output:
        out = copied(tape, out)
    first, second = weights.adapters[name]
    narrow = cast(tape, x, how.adapter)
    if how.dropout:
        narrow = _dropped(tape, narrow)
    if how.autocast:
        narrow = cast(tape, narrow, how.compute)
    between = plain_linear(tape, narrow, first, first.count // inputs)
    del narrow
    wide = elementwise(tape, plain_linear(tape, between, second, outputs))
    if how.quantised and how.clones_output:
        return add(tape, out, cast(tape, wide, out.width))
    width = out.width
    return cast(tape, add(tape, out, wide), width)


def _base(
    tape: Tape, x: Tensor, name: str, weights: Weights, inputs: int, outputs: int, how: Software
) -> Tensor:
    if how.quantised:
        low = cast(tape, x, how.compute)
        out = _unpacked_linear(tape, low, inputs, outputs, how)
        return cast(tape, out, x.width)
    if how.autocast:
        low = cast(tape, x, how.compute)
        return _cast_linear(tape, low, weights, name, outputs)
    return plain_linear(tape, x, weights.matrices[name], outputs)


def _unpacked_linear(tape: Tape, x: Tensor, inputs: int, outputs: int, how: Software) -> Tensor:
    """bitsandbytes' MatMul4Bit: unpacks the matrix for the product, forward and backward."""
    rows, width, scales = x.count // inputs, x.width, inputs * outputs // 64 * 4

    def backward(t: Tape, _grads: list[Tensor]) -> Sequence[Tensor | None]:
        inside = [t.take(scales)] if how.double_quantised else []
        matrix = t.take(inputs * outputs * width)
        inside.clear()
        result = alike(t, rows * inputs, width)
        del matrix
        return [result]

    inside = [tape.take(scales)] if how.double_quantised else []
    matrix = tape.take(inputs * outputs * width)
    inside.clear()
    out = made(tape, [x], rows * outputs, width, backward)
    del matrix
    return out


def _cast_linear(tape: Tape, x: Tensor, weights: Weights, name: str, outputs: int) -> Tensor:
    """autocast: a float32 weight is cast for the product, and the cast one kept for the backward pass."""
    weight = weights.matrices[name]
    low = alike(tape, weight.count, x.width)
    inputs, width, wants = weight.count // outputs, x.width, needs(x)
    rows, trained = x.count // inputs, weight.trained

    def backward(t: Tape, _grads: list[Tensor]) -> Sequence[Tensor | None]:
        into = alike(t, rows * inputs, width) if wants else None
        onto = alike(t, inputs * outputs, width) if trained else None
        return [into, alike(t, inputs * outputs, 4) if onto is not None else None]

    saved = [low, *([x] if trained else [])]
    return made(tape, [x], rows * outputs, width, backward, saved, [weight])


def _dropped(tape: Tape, x: Tensor) -> Tensor:
    count, width = x.count, x.width
    mask = alike(tape, count, 1)
    return made(tape, [x], count, width, lambda t, _: [alike(t, count, width)], [mask])


def _fused_adapter(tape: Tape, x: Tensor, out: Tensor, weights: Weights, name: str) -> Tensor:
    """An autograd function of its own: keeps x, adds in place, makes no float32 copies."""
    count, width = x.count, x.width
    sizes = [int(one.count * one.width) for one in weights.adapters[name]]

    def backward(t: Tape, grads: list[Tensor]) -> Sequence[Tensor | None]:
        parts = [Tensor(size // 4, 4, t.take(size)) for size in sizes]
        return [grads[0], None if not wants else alike(t, count, width), *parts]

    wants = needs(x)
    done = Tensor(out.count, out.width, out.storage)
    return recorded(tape, [out, x], done, backward, [x], weights.adapters[name])


def norm(tape: Tape, x: Tensor, weights: Weights, shape: LayerShape) -> Tensor:
    """The norm of a layer's input, in the format that the software gives it."""
    if shape.layer_norm:
        count, width = x.count, x.width
        return made(tape, [x], count, width, lambda t, _: [alike(t, count, width)], [x])
    return rms_norm(tape, x, weights.norm, shape.hidden, casts_after=shape.casts_after_norm)


def _normed_heads(tape: Tape, x: Tensor, weights: Weights, size: int) -> Tensor:
    return rms_norm(tape, x, weights.norm, size)


def attention(
    tape: Tape, x: Tensor, weights: Weights, shape: LayerShape, scores: Scores, how: Software
) -> tuple[Tensor, Tensor | None]:
    """Queries, keys, values, rotation, scores, output; and the probabilities where they are kept."""
    q, k, v = _query_key_value(tape, x, weights, shape, how)
    q, k = rotated(tape, q), rotated(tape, k)
    if how.litgpt:  # cat(rotated part, rest) copies even where the rest is empty
        q, k = joined(tape, [q]), joined(tape, [k])
    groups = shape.query // shape.key
    held = None
    if how.autocast and q.width == 4:
        q, k, v = cast(tape, q, 2), cast(tape, k, 2), cast(tape, v, 2)
    if how.attention == "eager":
        out, held = eager(tape, q, k, v, scores, masked=True)
    else:
        if how.repeats_keys and groups > 1:
            k, v, groups = copied(tape, k, q.count), copied(tape, v, q.count), 1
        out = fused(tape, q, k, v, scores, groups=groups)
    del q, k, v
    return project(tape, out, "o_proj", weights, shape, how), held


def _query_key_value(
    tape: Tape, x: Tensor, weights: Weights, shape: LayerShape, how: Software
) -> tuple[Tensor, Tensor, Tensor]:
    rows = x.count // shape.hidden
    if "qkv_proj" in shape.linears:
        whole = project(tape, x, "qkv_proj", weights, shape, how)
        sizes = (shape.query, shape.key, shape.key)
        q, k, v = _split(tape, whole, [rows * size for size in sizes])
    else:
        q, k, v = (project(tape, x, f"{one}_proj", weights, shape, how) for one in "qkv")
    if shape.query_key_norm:
        head = shape.query // shape.heads
        q, k = _normed_heads(tape, q, weights, head), _normed_heads(tape, k, weights, head)
    return q, k, v


def _split(tape: Tape, x: Tensor, counts: Sequence[int]) -> list[Tensor]:
    """Slices of one block. Their gradients are put together into a whole one, once."""
    first = part_of(tape, x, counts[0])
    rest = [Tensor(count, x.width, x.storage) for count in counts[1:]]
    node = first.node
    for one in rest:
        recorded(tape, [x], one, lambda _t, _g: [None])
    del node
    return [first, *rest]


def feed_forward(
    tape: Tape, x: Tensor, weights: Weights, shape: LayerShape, how: Software
) -> Tensor:
    """down(act(gate(x)) * up(x)), or down(act(up(x)))."""
    rows = x.count // shape.hidden
    if "gate_up_proj" in shape.linears:
        both = project(tape, x, "gate_up_proj", weights, shape, how)
        gate, up = _split(tape, both, [rows * shape.intermediate] * 2)
        del both
        inner = multiply(tape, up, elementwise(tape, gate, keeps_input=True))
        del gate, up
    elif shape.gated:
        active = elementwise(
            tape, project(tape, x, "gate_proj", weights, shape, how), keeps_input=True
        )
        up = project(tape, x, "up_proj", weights, shape, how)
        inner = multiply(tape, active, up)
        del active, up
    else:
        inner = elementwise(
            tape, project(tape, x, "up_proj", weights, shape, how), keeps_input=True
        )
    return project(tape, inner, "down_proj", weights, shape, how)


def decoder_layer(
    tape: Tape, x: Tensor, weights: Weights, shape: LayerShape, scores: Scores, how: Software
) -> Tensor:
    """One layer: x -> x, of the same size."""
    y = norm(tape, x, weights, shape) if shape.norms_before else x
    out, held = attention(tape, y, weights, shape, scores, how)
    if shape.norms_after:
        out = norm(tape, out, weights, shape)
    if shape.parallel:
        deep = feed_forward(tape, y, weights, shape, how)
        return add(tape, add(tape, x, cast(tape, out, x.width)), cast(tape, deep, x.width))
    x = add(tape, x, cast(tape, out, x.width))
    del out, y
    y = norm(tape, x, weights, shape) if shape.norms_before else x
    deep = feed_forward(tape, y, weights, shape, how)
    del y
    if shape.norms_after:
        deep = norm(tape, deep, weights, shape)
    out = add(tape, x, cast(tape, deep, x.width))
    del held
    return out


def without_adapters(how: Software) -> Software:
    """The same software for a part that gets no adapter."""
    return replace(how, targets=frozenset(), rank=0)
