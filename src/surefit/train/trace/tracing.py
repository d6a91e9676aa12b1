"""trace: from a request to its peaks."""

import gc
import time

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from surefit.plan.tracing import TraceRequest, TraceResult, versions
from surefit.recipe.schema import QloraMethod
from surefit.train.trace import kernels
from surefit.train.trace.account import account, allocated_peak, phase_peaks
from surefit.train.trace.building import build
from surefit.train.trace.growing import TEMPLATE, NotAlike, grow
from surefit.train.trace.recording import Recorder
from surefit.train.trace.steps import Steps, libraries_on
from surefit.train.trace.stream import Stream


def trace(request: TraceRequest) -> TraceResult:
    """Trace a run and replay what it allocates. Seconds; needs no weights and no GPU."""
    started = time.monotonic()
    layers = int(request.config["num_hidden_layers"])
    stream, traced, sources, warnings = _stream(request, layers)
    peak, moment = allocated_peak(stream)
    items, alive = account(stream, moment)
    phases = phase_peaks(stream, request.expandable_segments)
    name = next(name for name, start, end in stream.each_phase() if start <= moment < end)
    return TraceResult(
        allocated=peak,
        reserved=max(one.reserved for one in phases),
        moment=name,
        account=items,
        alive=alive,
        phases=phases,
        layers=layers,
        traced_layers=traced,
        kernels=sources,
        warnings=warnings,
        seconds=time.monotonic() - started,
        versions=versions(),
    )


def _stream(
    request: TraceRequest, layers: int
) -> tuple[Stream, int, tuple[str, ...], tuple[str, ...]]:
    if layers <= TEMPLATE or request.whole:
        stream, sources = record(request, layers)
        return stream, layers, sources, ()
    stream, sources = record(request, TEMPLATE)
    try:
        return grow(stream, layers), TEMPLATE, sources, ()
    except NotAlike as error:
        stream, sources = record(request, layers)
        return stream, layers, sources, (f"every layer was traced: {error}",)


def record(request: TraceRequest, layers: int) -> tuple[Stream, tuple[str, ...]]:
    """The stream of a run with so many layers, and the sources of what kernels take inside."""
    on_gpu = request.device == "cuda"
    gc.collect()
    gc.freeze()  # what is loaded by now need not be looked through after every step
    recorder = Recorder(kernels.INNER if on_gpu else None)
    with FakeTensorMode(allow_non_fake_inputs=True), torch.random.fork_rng(devices=[]):
        model = build(request, layers)
        with libraries_on(request, recorder), recorder:
            steps = Steps(request, model, recorder)
            if on_gpu:
                _libraries(recorder, request)
            steps.run()
    return recorder.stream, _sources(request, recorder)


def _libraries(recorder: Recorder, request: TraceRequest) -> None:
    """cuBLAS takes a workspace for the thread that goes forward and one for the one that goes back."""
    with recorder.phase("libraries"):
        size = kernels.cublas_workspace(request.compute_capability)
        for way in ("forward", "backward"):
            recorder.stays(f"cuBLAS, {way}", size, "library workspace")


def _sources(request: TraceRequest, recorder: Recorder) -> tuple[str, ...]:
    if request.device != "cuda":
        return ()
    found = {one for one in recorder.used_inner if one in kernels.SOURCES.values()}
    if any("softmax" in one for one in recorder.used_inner):
        found.add(kernels.SOURCES["softmax"])
    if isinstance(request.method, QloraMethod):
        found.add(kernels.SOURCES["four bit"])
    return tuple(sorted({*found, kernels.SOURCES["cublas"]}))
