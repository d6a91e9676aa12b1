"""A trace in a few lines, below the plan."""

from surefit.cli.drawing import dim, heading
from surefit.plan.tracing import TraceResult
from surefit.units import bytes_text, plural, seconds_text, shortened

_SHOWN = 5


def trace_text(trace: TraceResult, device: str, width: int) -> str:
    """Peak, moment, account and the largest tensors alive there."""
    reserved = (
        f"; the allocator takes {bytes_text(trace.reserved)} for it" if device == "cuda" else ""
    )
    lines = [
        f"{heading('Traced')}: {bytes_text(trace.allocated)} in tensors at the peak{reserved}",
        f"  moment  {trace.moment}",
        "  of it   "
        + ", ".join(f"{name} {bytes_text(size)}" for name, size in trace.account.items() if size),
    ]
    lines += [
        f"  alive   {shortened(f'{one.count} x {one.what}', width - 24)}, {bytes_text(one.bytes)}"
        for one in trace.alive[:_SHOWN]
    ]
    how = (
        f"{plural(trace.traced_layers, 'layer')} of {trace.layers} traced in "
        f"{seconds_text(trace.seconds)}, torch {trace.versions['torch']}, transformers "
        f"{trace.versions['transformers']}; the driver's context comes on top on a GPU"
    )
    return "\n".join([*lines, *(f"  {one}" for one in trace.warnings), dim(f"  {how}")])
