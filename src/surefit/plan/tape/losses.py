"""The head and the loss over sizes: where most of a small model's memory goes.

transformers' ForCausalLMLoss makes float32 logits, a log-softmax of them and two gradients; who keeps
the model's output keeps the narrow logits too. Chunked losses hold one piece at a time.
"""

from collections.abc import Sequence
from typing import NamedTuple

from surefit.plan.tape.operations import cast, elementwise, plain_linear
from surefit.plan.tape.shape import Software
from surefit.plan.tape.tensors import Parameter, Tape, Tensor, alike, made, needs, recorded


class Head(NamedTuple):
    """The output projection, and how many positions of a pass go through it."""

    weight: Parameter
    vocabulary: int
    hidden: int
    trained_tokens: int


def head_and_loss(tape: Tape, x: Tensor, head: Head, how: Software) -> tuple[Tensor, list[Tensor]]:
    """The loss as a scalar with its graph, and what its caller holds until the backward pass is over."""
    if how.loss == "chunked_head":
        return _chunked_head(tape, x, head, how)
    if how.loss in ("chunked", "fused"):
        return _in_pieces(tape, x, head, how), []
    if head.trained_tokens * head.hidden < x.count:
        x = _chosen(tape, x, head)
    x = cast(tape, x, how.head_width)
    logits = _product(tape, x, head, how)
    del x
    if how.caps_logits:
        for keeps in (False, True, False):
            logits = elementwise(tape, logits, keeps_input=keeps)
    wide = cast(tape, logits, 4)
    held = [logits] if how.loss == "kept" else []
    del logits
    return _cross_entropy(tape, wide), held


def _product(tape: Tape, x: Tensor, head: Head, how: Software) -> Tensor:
    if not how.autocast:
        return plain_linear(tape, x, head.weight, head.vocabulary)
    low = cast(tape, x, how.compute)
    weight = alike(tape, head.weight.count, how.compute)
    count, wants, trained = low.count, needs(low), head.weight.trained

    def backward(t: Tape, _grads: list[Tensor]) -> Sequence[Tensor | None]:
        into = alike(t, count, how.compute) if wants else None
        onto = alike(t, head.weight.count, how.compute) if trained else None
        return [into, alike(t, head.weight.count, 4) if onto is not None else None]

    rows = low.count // head.hidden
    saved = [weight, *([low] if trained else [])]
    return made(tape, [low], rows * head.vocabulary, how.compute, backward, saved, [head.weight])


def _chosen(tape: Tape, x: Tensor, head: Head) -> Tensor:
    whole, width = x.count, x.width
    count = head.trained_tokens * head.hidden
    return made(tape, [x], count, width, lambda t, _: [alike(t, whole, width)])


def _cross_entropy(tape: Tape, logits: Tensor) -> Tensor:
    """log_softmax keeps its result; its gradient and that of the logits are alive together."""
    count, width = logits.count, logits.width
    logarithms = Tensor(count, width, tape.take(count * width))

    def backward(t: Tape, _grads: list[Tensor]) -> Sequence[Tensor | None]:
        picked = alike(t, count, width)
        result = alike(t, count, width)
        del picked
        return [result]

    return made(tape, [logits], 1, 4, backward, [logarithms])


def piece_tokens(head: Head, how: Software) -> int:
    """Positions whose logits exist at a time.

    Liger (ops/fused_linear_cross_entropy.py): tokens / ceil(vocabulary / hidden), to a power of two.
    """
    if how.loss == "chunked":
        return min(how.chunk, head.trained_tokens)
    pieces = -(-head.vocabulary // head.hidden)
    return min(
        head.trained_tokens, 1 << (max(1, -(-head.trained_tokens // pieces)) - 1).bit_length()
    )


def _in_pieces(tape: Tape, x: Tensor, head: Head, how: Software) -> Tensor:
    """A loss over pieces of the positions, which computes the gradient of its input at once."""
    piece, wants = piece_tokens(head, how), needs(x)
    grad = Tensor(x.count, x.width, tape.take(x.count * x.width)) if wants else None
    onto = alike(tape, head.weight.count, 4) if head.weight.trained else None
    narrow = alike(tape, piece * head.vocabulary, how.head_width)
    wide = [
        alike(tape, piece * head.vocabulary, 4) for _ in range(3 if how.loss == "chunked" else 1)
    ]
    del narrow, wide
    saved = [one for one in (grad, onto) if one is not None]
    count, width = x.count, x.width

    def backward(_t: Tape, _grads: list[Tensor]) -> Sequence[Tensor | None]:
        into = Tensor(count, width, grad.storage) if grad is not None else None
        return [into, Tensor(onto.count, 4, onto.storage) if onto is not None else None]

    return recorded(tape, [x], alike(tape, 1, 4), backward, saved, [head.weight])


def _chunked_head(tape: Tape, x: Tensor, head: Head, how: Software) -> tuple[Tensor, list[Tensor]]:
    """LitGPT: logits of 128 positions each, all held by the caller; the softmax stays narrow."""
    rows = x.count // head.hidden
    logits = [
        alike(tape, min(how.chunk, rows - start) * head.vocabulary, how.head_width)
        for start in range(0, rows, how.chunk)
    ]
    softmax = [alike(tape, one.count, one.width) for one in logits]
    counts = [one.count for one in logits]
    count, width = x.count, x.width

    def backward(t: Tape, _grads: list[Tensor]) -> Sequence[Tensor | None]:
        parts = []
        for size in counts:
            picked = alike(t, size, how.head_width)
            grad = alike(t, size, how.head_width)
            del picked
            parts.append(alike(t, size // head.vocabulary * head.hidden, width))
            del grad
        return [alike(t, count, width), alike(t, head.weight.count, 2) if trained else None]

    trained = head.weight.trained
    saved = [*softmax, *([x] if trained else [])]
    return recorded(tape, [x], alike(tape, 1, 4), backward, saved, [head.weight]), logits
