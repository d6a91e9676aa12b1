"""Operations over sizes: what each allocates, keeps and allocates again in its backward pass.

Read from torch's derivatives.yaml and FunctionsManual.cpp, and from aten/src/ATen/native/cuda/SoftMax.cu
for what a kernel takes inside. A result of a cast to the width that a tensor has is the tensor itself.
"""

from collections.abc import Sequence

from surefit.plan.tape.tensors import Parameter, Tape, Tensor, alike, made, needs, recorded


def cast(tape: Tape, x: Tensor, width: int) -> Tensor:
    """`x.to(dtype)`."""
    if x.width == width:
        return x
    count, before = x.count, x.width
    return made(tape, [x], count, width, lambda t, _: [alike(t, count, before)])


def elementwise(tape: Tape, x: Tensor, *, keeps_input: bool = False) -> Tensor:
    """A function of each number: a scaling keeps nothing, an activation its input."""
    count, width = x.count, x.width
    saved = [x] if keeps_input else []
    return made(tape, [x], count, width, lambda t, _: [alike(t, count, width)], saved)


def copied(tape: Tape, x: Tensor, count: int | None = None) -> Tensor:
    """A copy, or an expansion to `count` numbers; the backward pass copies or sums back."""
    small, width = x.count, x.width
    return made(tape, [x], count or small, width, lambda t, _: [alike(t, small, width)])


def add(tape: Tape, a: Tensor, b: Tensor) -> Tensor:
    """`a + b`: the gradient is handed on as it is, cast where one of them is narrower."""
    width = max(a.width, b.width)

    def backward(t: Tape, grads: list[Tensor]) -> Sequence[Tensor | None]:
        grad = grads.pop()
        return [grad if w == grad.width else alike(t, grad.count, w) for w in widths]

    widths = (a.width, b.width)
    return made(tape, [a, b], a.count, width, backward)


def multiply(tape: Tape, a: Tensor, b: Tensor) -> Tensor:
    """`a * b`: each is kept for the other's gradient."""
    count, width = a.count, a.width
    saved = [one for one, other in ((a, b), (b, a)) if needs(other)]
    wants = (needs(a), needs(b))

    def backward(t: Tape, _grads: list[Tensor]) -> Sequence[Tensor | None]:
        return [alike(t, count, width) if want else None for want in wants]

    return made(tape, [a, b], count, width, backward, saved)


def joined(tape: Tape, parts: Sequence[Tensor]) -> Tensor:
    """`cat(parts)`."""
    counts, width = [one.count for one in parts], parts[0].width

    def backward(_: Tape, grads: list[Tensor]) -> Sequence[Tensor | None]:
        return [Tensor(count, width, grads[0].storage) for count in counts]

    return made(tape, parts, sum(counts), width, backward)


def view(tape: Tape, x: Tensor) -> Tensor:
    """The same block under another shape."""
    out = Tensor(x.count, x.width, x.storage)
    return recorded(tape, [x], out, lambda _, grads: [grads.pop()])


def part_of(tape: Tape, x: Tensor, count: int) -> Tensor:
    """A slice that shares the block of `x`; its gradient is a whole one with zeros around it.

    Slices of one split are put together once; that is counted at the first that gets here.
    """
    whole, width = x.count, x.width
    out = Tensor(count, width, x.storage)
    return recorded(tape, [x], out, lambda t, _: [alike(t, whole, width)])


def plain_linear(tape: Tape, x: Tensor, weight: Parameter, outputs: int) -> Tensor:
    """`x @ W.T`: keeps x only where W is trained."""
    inputs, width = weight.count // outputs, x.width
    rows = x.count // inputs
    wants, trained, size = needs(x), weight.trained, weight.width

    def backward(t: Tape, _grads: list[Tensor]) -> Sequence[Tensor | None]:
        into = alike(t, rows * inputs, width) if wants else None
        onto = alike(t, outputs * inputs, int(size)) if trained else None
        return [into, onto]

    saved = [x] if trained else []
    return made(tape, [x], rows * outputs, width, backward, saved, [weight])


def rms_norm(
    tape: Tape, x: Tensor, weight: Parameter, size: int, *, casts_after: bool = False
) -> Tensor:
    """A root-mean-square norm in float32 over `size` numbers, as transformers writes it out.

    Args:
        casts_after: whether the weight is multiplied in float32 and the product cast (Gemma,
            LitGPT); else the normed input is cast first (Llama).
    """
    rows, wants, count, width = x.count // size, needs(x), x.count, x.width
    wide = cast_alone(tape, x)
    square = alike(tape, count, 4)
    del square
    inverse = alike(tape, rows, 4)
    normed = alike(tape, count, 4)
    trained = weight.trained
    keeps = [wide, inverse] if wants or trained else []
    if casts_after:
        product = alike(tape, count, 4)
        if trained:
            keeps.append(normed)
        out = product if width == 4 else alike(tape, count, width)
        del product
    else:
        low = normed if width == 4 else alike(tape, count, width)
        del normed
        if trained:
            keeps.append(low)
        out = alike(tape, count, width)
        del low

    def backward(t: Tape, grads: list[Tensor]) -> Sequence[Tensor | None]:
        onto = alike(t, size, int(weight_width)) if trained else None
        if not wants:
            return [None, onto]
        grad = alike(t, count, 4)  # times the weight, in float32
        if width != 4 and not casts_after:
            scaled = alike(t, count, width)
            del scaled
        grads.clear()
        product, power = alike(t, count, 4), alike(t, count, 4)
        del grad, power
        extra = alike(t, count, 4)
        del extra
        return [product if width == 4 else alike(t, count, width), onto]

    weight_width = weight.width
    return recorded(tape, [x], out, backward, keeps, [weight])


def cast_alone(tape: Tape, x: Tensor) -> Tensor:
    """A float32 copy without a node of its own; x itself where it is float32."""
    return x if x.width == 4 else alike(tape, x.count, 4)


def rotated(tape: Tape, x: Tensor) -> Tensor:
    """Rotary positions: q * cos + rotate_half(q) * sin. Keeps only the angles."""
    count, width = x.count, x.width
    cosine = alike(tape, count, width)
    half = alike(tape, count // 2, width)
    turned = alike(tape, count, width)
    del half
    sine = alike(tape, count, width)
    del turned

    def backward(t: Tape, grads: list[Tensor]) -> Sequence[Tensor | None]:
        first = alike(t, count, width)
        second = alike(t, count, width)
        grads.clear()
        third = alike(t, count, width)
        del second, third
        return [first]

    out = made(tape, [x], count, width, backward)
    del cosine, sine
    return out
