"""Attention kernels: what they keep and what they take inside.

Sources: torch's aten/src/ATen/native/transformers/cuda (flash_attn/flash_api.cpp, attention_backward.cu),
aten/src/ATen/native/cuda/SoftMax.cu, and transformers' eager_attention_forward.
"""

from collections.abc import Sequence
from typing import NamedTuple

from surefit.plan.tape.operations import copied
from surefit.plan.tape.tensors import Tape, Tensor, alike, made


class Scores(NamedTuple):
    """Shape of an attention: rows of a batch, heads, positions of a row; and its number format."""

    rows: int
    heads: int
    positions: int
    half_precision: bool  # float16, whose softmax CUDA computes in float32 without a copy
    softcap: bool = False

    @property
    def pairs(self) -> int:
        """Scores of all pairs of positions."""
        return self.rows * self.heads * self.positions**2


def fused(tape: Tape, q: Tensor, k: Tensor, v: Tensor, shape: Scores, *, groups: int = 1) -> Tensor:
    """Flash or memory-efficient attention: keeps q, k, v, its output and a number a row.

    In its backward pass the gradient of q is summed in float32 beside the result, and where key heads
    are shared their gradients are made for every query head first.
    """
    sums = shape.rows * shape.heads * shape.positions * 4
    q_count, k_count, width = q.count, k.count, q.width
    out = alike(tape, q.count, width)
    logarithm = Tensor(sums // 4, 4, tape.take(sums))

    def backward(t: Tape, _grads: list[Tensor]) -> Sequence[Tensor | None]:
        delta = t.take(sums)
        grads = [alike(t, q_count, width), alike(t, k_count, width), alike(t, k_count, width)]
        inside = [alike(t, q_count, 4)] if width == 2 else []
        inside += [alike(t, q_count, width), alike(t, q_count, width)] if groups > 1 else []
        del delta, inside
        return grads

    node = made(tape, [q, k, v], 0, width, backward, [q, k, v, out, logarithm])
    out.node = node.node
    return out


def eager(
    tape: Tape, q: Tensor, k: Tensor, v: Tensor, shape: Scores, *, masked: bool
) -> tuple[Tensor, Tensor]:
    """Attention written out; returns its output and the probabilities that the caller holds on to."""
    groups = q.count // k.count
    if groups > 1:
        k, v = copied(tape, k, q.count), copied(tape, v, q.count)
    scores = _product(tape, q, k, shape.pairs)
    scores = _same(tape, scores)  # times the scale
    if shape.softcap:
        for keeps in (False, True, False):  # division, tanh, product
            scores = _kept_self(tape, scores) if keeps else _same(tape, scores)
    if masked:
        scores = _masked(tape, scores)
    probabilities = _softmax(tape, scores, shape)
    del scores
    out = _product(tape, probabilities, v, q.count)
    return copied(tape, out), probabilities


def _product(tape: Tape, a: Tensor, b: Tensor, count: int) -> Tensor:
    sizes, width = (a.count, b.count), a.width
    return made(
        tape, [a, b], count, width, lambda t, _: [alike(t, size, width) for size in sizes], [a, b]
    )


def _same(tape: Tape, x: Tensor) -> Tensor:
    count, width = x.count, x.width
    return made(tape, [x], count, width, lambda t, _: [alike(t, count, width)])


def _kept_self(tape: Tape, x: Tensor) -> Tensor:
    out = _same(tape, x)
    if out.node is not None and not hasattr(out.node, "trained"):
        out.node.saved = (out.storage,)
    return out


def _masked(tape: Tape, x: Tensor) -> Tensor:
    return made(tape, [x], x.count, x.width, lambda _, grads: [grads.pop()])


def _softmax(tape: Tape, x: Tensor, shape: Scores) -> Tensor:
    """softmax(x, dtype=float32).to(x.dtype). Backward: grad * output lies beside, 4 bytes a score."""
    count, width = x.count, x.width
    direct = width == 4 or shape.half_precision
    wide = x if direct else alike(tape, count, 4)
    exact = alike(tape, count, 4)
    del wide
    out = exact if width == 4 else alike(tape, count, width)

    def backward(t: Tape, grads: list[Tensor]) -> Sequence[Tensor | None]:
        grad = grads.pop() if width == 4 else alike(t, count, 4)
        grads.clear()
        inside = alike(t, count, 4)
        result = alike(t, count, width if direct else 4)
        del inside, grad
        return [result if direct else alike(t, count, width)]

    node = made(tape, [x], 0, width, backward, [exact])
    out.node = node.node
    return out
