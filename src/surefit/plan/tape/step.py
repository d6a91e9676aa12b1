"""A training step over sizes: the peak of every moment, beyond what stands all the time."""

from collections.abc import Sequence
from dataclasses import dataclass

from surefit.plan.tape.attention import Scores
from surefit.plan.tape.layers import decoder_layer
from surefit.plan.tape.losses import Head, head_and_loss
from surefit.plan.tape.operations import elementwise, rms_norm
from surefit.plan.tape.shape import LayerShape, Software, Weights, weights_of
from surefit.plan.tape.tensors import (
    Parameter,
    Tape,
    Tensor,
    alike,
    checkpointed,
    made,
    recorded,
    run_backward,
)


@dataclass(frozen=True)
class Step:
    """One optimizer step of one device.

    Args:
        rows, positions: of a micro-batch.
        passes: micro-batches a step; from the second on, gradients of the first are alive.
        trained_tokens: positions that go through the head.
        embedding_width: bytes of a number of the embedding.
        gradients_stay: `zero_grad(set_to_none=False)`: they are alive from the second step on.
        input_gradient: the embedding's output asks for a gradient though it is frozen.
        embedding_scaled: the embedding's output is multiplied (Gemma).
        optimizer_copies: copies of the trained parameters that the optimizer's step makes.
    """

    shape: LayerShape
    how: Software
    vocabulary: int
    tied: bool
    rows: int
    positions: int
    trained_tokens: int
    passes: int = 1
    gradients_stay: bool = False
    input_gradient: bool = False
    embedding_scaled: bool = False
    optimizer_copies: int = 0


def peaks_of(step: Step, layers: int) -> dict[str, int]:
    """Moment -> most bytes in use beyond what stands, for any number of layers.

    Every moment grows linearly with the layers, so that two depths tell all: measured on the tape.
    """
    few, more = (_peaks(step, count) for count in (2, 4))
    return {
        moment: round(few.get(moment, 0) + (size - few.get(moment, 0)) / 2 * (layers - 2))
        for moment, size in more.items()
    }


def _peaks(step: Step, layers: int) -> dict[str, int]:
    tape = Tape()
    run_step(tape, step, layers)
    return tape.peaks


def run_step(tape: Tape, step: Step, layers: int) -> None:
    """A first pass, the passes after it, and the optimizer's step."""
    weights = [weights_of(step.shape, step.how) for _ in range(layers)]
    table = Parameter(step.vocabulary * step.shape.hidden, step.how.weight, step.how.full)
    head = table if step.tied else Parameter(table.count, step.how.weight, step.how.full)
    if step.gradients_stay:
        _fill(tape, weights, (table, head))
    for _ in range(min(2, step.passes)):
        _pass(tape, step, weights, table, head)
    tape.where = "the optimizer step"
    if step.optimizer_copies:
        every = _trained(weights, (table, head))
        held = [tape.take(one.count * one.width * step.optimizer_copies) for one in every]
        del held
    tape.take(1)
    tape.where = ""


def _trained(weights: Sequence[Weights], ends: Sequence[Parameter]) -> list[Parameter]:
    found: dict[int, Parameter] = {}
    for layer in weights:
        pairs = [one for pair in layer.adapters.values() for one in pair]
        for one in (*layer.matrices.values(), layer.norm, *pairs):
            found[id(one)] = one
    found |= {id(one): one for one in ends}
    return [one for one in found.values() if one.trained]


def _fill(tape: Tape, weights: Sequence[Weights], ends: Sequence[Parameter]) -> None:
    for one in _trained(weights, ends):
        one.grad = tape.take(one.count * one.width)


def _pass(
    tape: Tape, step: Step, weights: Sequence[Weights], table: Parameter, head: Parameter
) -> None:
    tape.where = "the forward pass"
    how, shape = step.how, step.shape
    count = step.rows * step.positions * shape.hidden
    scores = Scores(step.rows, shape.heads, step.positions, how.half_precision, shape.softcap)
    constants = _constants(tape, step)
    x = _embedded(tape, step, table, count)
    for number, layer in enumerate(weights):
        x = _marked(tape, x, _moment(number, len(weights)))
        x = _layer(tape, x, layer, shape, scores, how)
    x = _marked(tape, x, "the backward pass of the head")
    x = rms_norm(tape, x, Parameter(shape.hidden, how.weight, how.full), shape.hidden)
    tape.where = "the loss"
    tokens = Head(head, step.vocabulary, shape.hidden, step.trained_tokens)
    loss, held = head_and_loss(tape, x, tokens, how)
    del x
    root = loss.node
    run_backward(tape, root, [loss])
    held.clear()
    del constants


def _moment(number: int, layers: int) -> str:
    """The end of the backward pass is the first layer; gradients only grow and activations only fall."""
    if number == 0:
        return "the end of the backward pass"
    return "the start of the backward pass" if number == layers - 1 else "the middle"


def _layer(
    tape: Tape, x: Tensor, layer: Weights, shape: LayerShape, scores: Scores, how: Software
) -> Tensor:
    if how.checkpointing == "none":
        return decoder_layer(tape, x, layer, shape, scores, how)
    if how.checkpointing == "offloaded":
        return _offloaded(tape, x, layer, shape, scores, how)
    return checkpointed(
        tape,
        lambda y: decoder_layer(tape, y, layer, shape, scores, how),
        x,
        reentrant=how.reentrant,
    )


def _offloaded(
    tape: Tape, x: Tensor, layer: Weights, shape: LayerShape, scores: Scores, how: Software
) -> Tensor:
    """Checkpointing whose inputs wait in the machine's memory and come back for their layer."""
    recording, tape.recording = tape.recording, False
    out = decoder_layer(tape, x, layer, shape, scores, how)
    tape.recording = recording
    count, width = x.count, x.width

    def backward(t: Tape, grads: list[Tensor]) -> Sequence[Tensor | None]:
        source = Parameter(count, width, trained=True)
        t.recording = True
        back = Tensor(count, width, t.take(count * width), source)
        again = decoder_layer(t, back, layer, shape, scores, how)
        run_backward(t, again.node, grads)
        t.recording = False
        found = source.grad
        return [Tensor(count, width, found) if found is not None else None]

    return recorded(tape, [x], out, backward)


def _marked(tape: Tape, x: Tensor, moment: str) -> Tensor:
    """x itself; when its gradient has passed here, the moment after `moment` has begun."""
    out = Tensor(x.count, x.width, x.storage)
    before = _NEXT[moment]

    def backward(t: Tape, grads: list[Tensor]) -> Sequence[Tensor | None]:
        t.where = before
        return [grads.pop()]

    return recorded(tape, [x], out, backward)


_NEXT: dict[str, str] = {
    "the backward pass of the head": "the start of the backward pass",
    "the start of the backward pass": "the middle",
    "the middle": "the end of the backward pass",
    "the end of the backward pass": "the embedding",
}


def _constants(tape: Tape, step: Step) -> list[Tensor]:
    """Token ids, targets, and sines and cosines of every position."""
    angles = step.positions * (step.shape.query // step.shape.heads) * 2
    ids = alike(tape, step.rows * step.positions * 3, 8)
    held = [ids, alike(tape, angles, step.how.residual)]
    if step.how.attention == "eager" or step.how.masked:
        held.append(alike(tape, step.rows * step.positions**2, step.how.residual))
    return held


def _embedded(tape: Tape, step: Step, table: Parameter, count: int) -> Tensor:
    width = step.how.residual
    grad_size = table.count

    def backward(t: Tape, _grads: list[Tensor]) -> Sequence[Tensor | None]:
        return [alike(t, grad_size, int(table.width)) if table.trained else None]

    x = made(tape, [], count, width, backward, (), [table])
    if step.input_gradient and x.node is None and tape.recording:
        x.node = Parameter(count, width, trained=True)
    return elementwise(tape, x) if step.embedding_scaled else x
