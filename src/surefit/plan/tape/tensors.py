"""Tensors without numbers: sizes, who keeps what for the backward pass, and what is freed when.

Python frees an object when its last reference goes, as torch does. Code written over these tensors
as a model's code is written over torch's therefore has the same lifetimes, and `Tape` sees each.
Autograd follows torch/csrc/autograd/engine.cpp: the youngest node first, gradients of one input
added in place where nobody else holds them, saved tensors let go after their node.
"""

import heapq
import itertools
import sys
from collections.abc import Callable, Sequence
from typing import Any

_BLOCK = 512  # the caching allocator rounds to it: c10/cuda/CUDACachingAllocator.cpp, kMinBlockSize


class Tape:
    """Counts bytes in use, remembers the most, and lists every allocation in order.

    Args:
        listing: whether `events` is written: (number, bytes) for a block, (number, 0) for its end.
    """

    def __init__(self, *, listing: bool = False) -> None:
        self.live = self.peak = 0
        self.where = self.peak_where = ""
        self.events: list[tuple[int, int]] | None = [] if listing else None
        self.recording = True
        self.peaks: dict[str, int] = {}
        self.numbers = itertools.count()

    def take(self, size: float) -> "Storage":
        """A block of at least `size` bytes."""
        whole = max(_BLOCK, -(-int(size) // _BLOCK) * _BLOCK)
        self.live += whole
        if self.live > self.peaks.get(self.where, 0):
            self.peaks[self.where] = self.live
            if self.live > self.peak:
                self.peak, self.peak_where = self.live, self.where
        return Storage(self, whole)


class Storage:
    """A block of memory; it is free when nobody refers to it."""

    __slots__ = ("number", "size", "tape")

    def __init__(self, tape: Tape, size: int) -> None:
        self.tape, self.size, self.number = tape, size, next(tape.numbers)
        if tape.events is not None:
            tape.events.append((self.number, size))

    def __del__(self) -> None:
        self.tape.live -= self.size
        if self.tape.events is not None:
            self.tape.events.append((self.number, 0))


class Parameter:
    """A weight that may be trained; its storage is counted by whoever loads it."""

    __slots__ = ("count", "grad", "trained", "width")

    def __init__(self, count: int, width: float, trained: bool) -> None:
        self.count, self.width, self.trained = count, width, trained
        self.grad: Storage | None = None


class Tensor:
    """`count` numbers of `width` bytes; `node` made it, where a gradient has to go through it."""

    __slots__ = ("count", "node", "storage", "width")

    def __init__(
        self, count: int, width: int, storage: Storage, node: "Node | Parameter | None" = None
    ) -> None:
        self.count, self.width, self.storage, self.node = count, width, storage, node


Backward = Callable[[Tape, list[Tensor]], Sequence[Tensor | None]]


class Node:
    """An operation of the forward pass: its inputs, what it kept, and its backward pass."""

    __slots__ = ("backward", "inputs", "order", "saved")
    _orders = itertools.count()

    def __init__(
        self, inputs: Sequence["Node | Parameter | None"], saved: Any, backward: Backward
    ) -> None:
        self.inputs, self.saved, self.backward = tuple(inputs), saved, backward
        self.order = next(Node._orders)


def needs(tensor: Tensor | None) -> bool:
    """Whether a gradient goes through this tensor."""
    if tensor is None or tensor.node is None:
        return False
    return not isinstance(tensor.node, Parameter) or tensor.node.trained


def made(
    tape: Tape,
    inputs: Sequence[Tensor],
    count: int,
    width: int,
    backward: Backward,
    saved: Sequence[Tensor] = (),
    parameters: Sequence[Parameter] = (),
) -> Tensor:
    """The result of an operation, in a block of its own."""
    return recorded(
        tape, inputs, Tensor(count, width, tape.take(count * width)), backward, saved, parameters
    )


def recorded(
    tape: Tape,
    inputs: Sequence[Tensor],
    out: Tensor,
    backward: Backward,
    saved: Sequence[Tensor] = (),
    parameters: Sequence[Parameter] = (),
) -> Tensor:
    """`out`, with a node where a gradient will be asked for."""
    trained = any(one.trained for one in parameters)
    if tape.recording and (trained or any(map(needs, inputs))):
        edges = [one.node if needs(one) else None for one in inputs]
        edges += [one if one.trained else None for one in parameters]
        out.node = Node(edges, [one.storage for one in saved], backward)
    return out


def alike(tape: Tape, count: int, width: int) -> Tensor:
    """A new tensor that no gradient goes through."""
    return Tensor(count, width, tape.take(count * width))


def run_backward(tape: Tape, root: Node | Parameter | None, grads: list[Tensor]) -> None:
    """The backward pass from `root`; `grads` is emptied, so that its gradient can be let go."""
    if not isinstance(root, Node):
        return
    waiting: dict[Node, Tensor] = {root: grads.pop()}
    queue = [(-root.order, root)]
    del root
    recording, tape.recording = tape.recording, False
    while queue:
        node = heapq.heappop(queue)[1]
        held = [waiting.pop(node)]
        results = list(node.backward(tape, held))
        held.clear()
        node.saved = ()
        for edge in node.inputs:
            result = results.pop(0)
            if edge is None or result is None:
                continue
            if isinstance(edge, Parameter):
                if edge.grad is None:
                    edge.grad = result.storage
            elif edge in waiting:
                waiting[edge] = _added(tape, waiting.pop(edge))
            else:
                waiting[edge] = result
                heapq.heappush(queue, (-edge.order, edge))
            del result
        del node, results
    tape.recording = recording


_OWN_REFERENCES = 2  # the tensor's, and the argument of getrefcount


def _added(tape: Tape, first: Tensor) -> Tensor:
    """The sum of this gradient and another, in its place where it is nobody else's."""
    if sys.getrefcount(first.storage) <= _OWN_REFERENCES:
        return first
    return alike(tape, first.count, first.width)


def checkpointed(
    tape: Tape, function: Callable[[Tensor], Tensor], x: Tensor, *, reentrant: bool
) -> Tensor:
    """`function(x)` that keeps only x and computes the rest again in the backward pass.

    torch.utils.checkpoint: the reentrant one holds the recomputed result and the gradient until its
    own backward pass is over; the other recomputes when the first saved tensor is asked for.
    """
    recording, tape.recording = tape.recording, False
    out = function(x)
    tape.recording = recording
    inside = x.node
    count, width = x.count, x.width
    kept = [x.storage]

    def backward(tape: Tape, grads: list[Tensor]) -> Sequence[Tensor | None]:
        where, tape.where = tape.where, "a layer of the backward pass"
        source = Parameter(count, width, trained=True)
        tape.recording = True
        again = function(Tensor(count, width, kept[0], source))
        root = again.node
        if reentrant:
            run_backward(tape, root, [grads[0]])
        else:
            del again
            run_backward(tape, root, grads)
        tape.recording, tape.where = False, where
        kept.clear()
        found = source.grad
        return [Tensor(count, width, found) if found is not None and inside is not None else None]

    return recorded(tape, [x if needs(x) else _asking(x)], out, backward)


def _asking(x: Tensor) -> Tensor:
    """Also a layer whose input needs no gradient is recomputed, for its own weights."""
    return Tensor(x.count, x.width, x.storage, Node((), (), lambda _tape, _grads: ()))
