"""What is in a GPU's memory from the first step to the last."""

from surefit.plan.parts import Part, exact
from surefit.plan.setup import Setup
from surefit.recipe.schema import AdapterMethod, Int8Method, QloraMethod
from surefit.units import parameters_text

_TABLES = 3 * 512  # blocks of a 4-bit matrix for its tables, at least: bitsandbytes' QuantState


def linear_bytes(setup: Setup) -> float:
    """The matrices of the layers, whole.

    nf4 (bitsandbytes functional.py): half a byte, and a float32 scale for 64 numbers; with double
    quantisation a byte for 64 and a float32 scale for 256 of these. int8: a byte, a scale an output.
    """
    facts, method = setup.facts, setup.method
    count = facts.parameters.linear
    matrices = len(facts.block_linears) * facts.layers
    if isinstance(method, QloraMethod):
        double = setup.stack.double_quantised(method)
        scale = 1 / 64 + 4 / (64 * 256) if double else 4 / 64
        return count * (0.5 + scale) + matrices * _TABLES
    if isinstance(method, Int8Method):
        return count + sum(4 * one.outputs for one in facts.block_linears) * facts.layers
    return float(count * setup.number_bytes)


def rest_bytes(setup: Setup) -> float:
    """Embeddings, head, norms: never quantised; in float32 where the stack's preparation casts them."""
    counts = setup.facts.parameters
    quantised = isinstance(setup.method, (QloraMethod, Int8Method))
    width = 4 if quantised and setup.stack.upcasts else setup.number_bytes
    return float((counts.total - counts.linear) * width)


def standing_parts(setup: Setup) -> list[Part]:
    """Weights, embeddings, adapters, gradients that wait, and the optimizer, of one device."""
    shares, of = setup.shares, _of_each(setup)
    counts, trained = setup.facts.parameters, setup.trained_parameters
    width = setup.trained_number_bytes
    state = setup.stack.state_bytes(width)
    if setup.offload:
        return []
    parts = [
        exact("weights", linear_bytes(setup) / shares, f"{_linear_words(setup)}{of}"),
        exact(
            "embeddings, head",
            rest_bytes(setup) / shares,
            f"{parameters_text(counts.total - counts.linear)} parameters, not quantised{of}",
        ),
    ]
    if isinstance(setup.method, AdapterMethod):
        why = f"{parameters_text(trained)} trained parameters x {width} bytes{of}"
        parts.append(exact("adapters", trained * width / shares, why))
    why = f"{state:g} bytes a trained parameter{of}"
    return [*parts, exact("optimizer", trained * state / shares, why)]


def _linear_words(setup: Setup) -> str:
    count = parameters_text(setup.facts.parameters.linear)
    if isinstance(setup.method, QloraMethod):
        double = setup.stack.double_quantised(setup.method)
        bits = 4.127 if double else 4.5
        return f"{count} parameters x {bits:g} bits (nf4{', double' if double else ', not double'} quantised)"
    if isinstance(setup.method, Int8Method):
        return f"{count} parameters x 8 bits"
    return f"{count} parameters x {setup.number_bytes} bytes ({setup.precision})"


def _of_each(setup: Setup) -> str:
    if setup.strategy == "fsdp":
        return f", 1/{setup.ranks} on each"
    return f", whole on each of {setup.ranks}" if setup.strategy == "ddp" else ""
