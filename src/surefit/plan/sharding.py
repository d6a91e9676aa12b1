"""What a rank of FSDP2 holds beside its share: units put together while they are used."""

from surefit.plan.measured import measured
from surefit.plan.parts import Part
from surefit.plan.setup import Setup
from surefit.plan.standing import linear_bytes, rest_bytes
from surefit.units import bytes_text


def unit_bytes(setup: Setup) -> tuple[float, float]:
    """(a layer, the largest end): embeddings and head are units of their own, tied ones the root's."""
    facts = setup.facts
    layer = linear_bytes(setup) / max(1, facts.layers)
    table = facts.vocabulary * facts.hidden_size
    rest = facts.parameters.total - facts.parameters.linear
    return layer, rest_bytes(setup) / max(1, rest) * table


def gathered_part(setup: Setup) -> Part:
    """Units that are whole on every device at the peak.

    fully_shard copies a unit out of the buffer that it was gathered into, and gathers the next while
    one is at work: the one in use, the next, and its buffer. A tied embedding lies in the root, which
    stays whole from the forward to the backward pass. Full training adds a unit's whole gradient and
    the buffer in which it is summed over the ranks.
    """
    layer, end = unit_bytes(setup)
    units = 3.0
    if setup.is_full:
        units += 2.0
    at_layers = units * layer + (end if setup.facts.tied_embeddings else 0)
    at_ends = (3.0 if setup.is_full else 2.0) * end
    size = max(at_layers, at_ends)
    low = max(layer + (end if setup.facts.tied_embeddings else 0), end)
    why = (
        f"a layer is {bytes_text(layer)}, embeddings or head {bytes_text(end)}; whole while in use"
    )
    return Part("gathered weights", round(size), round(low), round(size + layer), why)


def nccl_part(setup: Setup) -> Part:
    """Buffers of the communication between GPUs."""
    figures = measured("nccl")
    usual = figures["bytes_2"] if setup.ranks == 2 else figures["bytes_more"]
    return Part(
        "NCCL", usual, figures["low_bytes"], figures["high_bytes"], "buffers between the GPUs"
    )
