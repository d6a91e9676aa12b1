"""The memory account of a GPU: what stands, and what each moment of a run adds to it.

Weights, adapters, gradients and optimizer are counted; activations, loss and everything that exists
for an instant come from a step over sizes (`plan.tape`). Sources of the rest: measured.toml.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from surefit.plan.measured import measured
from surefit.plan.parts import Estimate, Part, exact, largest, sum_parts
from surefit.plan.setup import Setup
from surefit.plan.sharding import gathered_part, nccl_part
from surefit.plan.stack import layer_shape, software
from surefit.plan.standing import linear_bytes, rest_bytes, standing_parts
from surefit.plan.tape import Step, peaks_of
from surefit.plan.validated import cell_of, interval_of
from surefit.recipe.schema import QloraMethod
from surefit.units import count_text, plural

_GRADIENT_MOMENTS = ("the end of the backward pass", "the embedding", "the optimizer step")
_EVALUATION_COPIES = 2  # logits in their own format and in float32, without a graph


def estimate_gpu(setup: Setup) -> Estimate:
    """The largest moment of a run on one GPU, in bytes as nvidia-smi counts them."""
    return largest(
        [
            _loading(setup),
            *(_step_moment(setup, moment) for moment in step_peaks(setup, 1)),
            _evaluating(setup),
            _saving(setup),
        ]
    )


def step_peaks(setup: Setup, end: int) -> Mapping[str, int]:
    """Moment -> bytes beyond what stands; `end` 0 at least, 1 probably, 2 at most."""
    return _peaks(_step(setup, end), setup.facts.layers)


@lru_cache(maxsize=256)
def _peaks(step: Step, layers: int) -> Mapping[str, int]:
    found = peaks_of(step, layers)
    return {name: size for name, size in found.items() if name}


def _step(setup: Setup, end: int) -> Step:
    """The micro-batch of one device as the tape takes it."""
    facts, lengths = setup.facts, setup.lengths
    rows, positions = _lines(setup, end)
    tokens = setup.worst_tokens[end]
    share = lengths.trained_share if end < 2 else 1.0
    whole = setup.stack.loss != "trained"
    how = software(
        setup.stack,
        facts,
        setup.method,
        width=setup.number_bytes,
        targets=setup.targets,
        checkpointing=setup.checkpointing,
        masked=setup.is_masked,
        half_precision=setup.precision != "bfloat16",
    )
    return Step(
        shape=layer_shape(facts),
        how=how,
        vocabulary=facts.vocabulary,
        tied=facts.tied_embeddings,
        rows=rows,
        positions=positions,
        trained_tokens=rows * positions if whole else max(1, round(tokens * share)),
        passes=setup.rank_batch // setup.micro_batch,
        gradients_stay=setup.stack.gradients == "stay",
        input_gradient=not setup.is_full and setup.stack.reentrant and setup.checkpointing,
        embedding_scaled=facts.model_type.startswith("gemma"),
        optimizer_copies=setup.stack.optimizer_copies,
    )


def _lines(setup: Setup, end: int) -> tuple[int, int]:
    """(rows, positions of a row) of the micro-batch."""
    positions = setup.worst_positions[end]
    if setup.layout == "flat":
        return 1, max(1, positions)
    rows = min(setup.micro_batch, setup.lengths.rows)
    return rows, max(1, positions // rows)


def _context(setup: Setup) -> Part:
    figures = measured("cuda")
    low, usual, most = (
        figures["context_low_bytes"],
        figures["context_usual_bytes"],
        figures["context_bytes"],
    )
    if setup.context_bytes is not None:
        low = usual = most = setup.context_bytes
    return Part("CUDA context", usual, low, most, "what the driver takes before the first tensor")


def _workspace(setup: Setup) -> Part:
    figures = measured("cuda")
    hopper = setup.capability is not None and setup.capability >= figures["hopper_from"]
    each = figures["workspace_hopper_bytes" if hopper else "workspace_bytes"]
    why = "cuBLAS keeps one for the forward and one for the backward pass"
    return exact("workspaces", 2 * each, why)


def _residents(setup: Setup) -> list[Part]:
    parts = [_context(setup), _workspace(setup), *standing_parts(setup)]
    if setup.ranks > 1:
        parts.append(nccl_part(setup))
    if setup.shares > 1:
        parts.append(gathered_part(setup))
    return parts


def _step_moment(setup: Setup, moment: str) -> Estimate:
    """A moment of a steady training step."""
    sizes = [step_peaks(setup, end).get(moment, 0) for end in range(3)]
    grads = _gradient_excess(setup) if moment in _GRADIENT_MOMENTS else 0
    sizes = [max(0, size - grads) for size in sizes]
    held = (
        round(_kept_inputs(setup)) if moment not in ("the embedding", "the optimizer step") else 0
    )
    held = min(held, sizes[1])
    parts = _residents(setup)
    if held:
        what = "each layer's input" if setup.checkpointing else plural(setup.facts.layers, "layer")
        rows, positions = _lines(setup, 1)
        why = f"{what} kept for the backward pass: {plural(rows, 'row')} of {count_text(positions)} tokens"
        parts.append(exact("activations", held, why))
    name, why = _MOMENTS.get(moment, (moment, "what exists for an instant"))
    low, usual, high = (size - held for size in sizes)
    parts.append(Part(name, usual, min(low, usual), max(high, usual), why))
    return _with_interval(setup, sum_parts(moment, parts))


_MOMENTS = {
    "the loss": ("loss", "logits, their softmax and the gradients of both"),
    "a layer of the backward pass": ("layer", "one layer recomputed, and its gradients"),
    "the forward pass": ("layer", "one layer's intermediate results"),
    "the optimizer step": ("step", "what the optimizer computes in between"),
}


def _kept_inputs(setup: Setup) -> float:
    """What every layer but the one at work keeps, for the picture of the account only."""
    few = _peaks(_step(setup, 1), 2)
    more = _peaks(_step(setup, 1), 4)
    each = (more.get("the loss", 0) - few.get("the loss", 0)) / 2
    return max(0.0, each * setup.facts.layers)


def _gradient_excess(setup: Setup) -> int:
    """Gradients that the tape holds whole and a rank of FSDP only a share of."""
    if setup.shares == 1:
        return 0
    whole = setup.trained_parameters * setup.trained_number_bytes
    kept = 0 if setup.offload else whole / setup.shares
    return round(whole - kept)


def _loading(setup: Setup) -> Estimate:
    """The weights as they come, and one tensor more in its own format before it is quantised."""
    size = setup.number_bytes
    largest_matrix = max((one.inputs * one.outputs for one in setup.facts.block_linears), default=0)
    table = setup.facts.vocabulary * setup.facts.hidden_size
    extra = largest_matrix * size if isinstance(setup.method, QloraMethod) else 0
    if isinstance(setup.method, QloraMethod) and setup.stack.upcasts:
        extra = max(extra, table * 4)
    if setup.stack.load == "whole":
        extra = setup.facts.parameters.total * size
    weights = 0.0 if setup.offload else (linear_bytes(setup) + rest_bytes(setup)) / setup.shares
    parts = [
        _context(setup),
        exact("weights", weights, "as they are read, a tensor at a time"),
        exact("loading", extra, "the tensor that is being read, before it is in its place"),
    ]
    return _with_interval(setup, sum_parts("loading the model", parts))


def _evaluating(setup: Setup) -> Estimate:
    """A forward pass of the longest micro-batch without anything kept."""
    step = replace(_step(setup, 1), passes=1)
    forward = _peaks(step, setup.facts.layers).get("the forward pass", 0)
    forward = max(0, forward - round(_kept_inputs(setup)))
    logits = (
        step.trained_tokens * setup.facts.vocabulary * (setup.number_bytes + 4 * _EVALUATION_COPIES)
    )
    why = "one layer's results, or the logits and their softmax"
    parts = [*_residents(setup), exact("evaluation", max(forward, logits), why)]
    return _with_interval(setup, sum_parts("evaluation", parts))


def _saving(setup: Setup) -> Estimate:
    """The check of the saved files: what a user would load, beside nothing of the training."""
    copies = 2 if setup.is_full else 1
    weights = copies * (linear_bytes(setup) + rest_bytes(setup)) / setup.shares
    logits = 4 * setup.lengths.longest * setup.facts.vocabulary * 4
    parts = [
        _context(setup),
        _workspace(setup),
        exact("loaded again", 0 if setup.offload else weights, "the saved files, to be compared"),
        exact("compared logits", min(logits, 2**30), "of a few rows, three times"),
    ]
    if setup.shares > 1:
        parts.append(gathered_part(setup))
    return _with_interval(setup, sum_parts("the check of the saved files", parts))


def _with_interval(setup: Setup, moment: Estimate) -> Estimate:
    """The allocator's share, and the interval that measured runs of this kind allow."""
    reserved = measured("reserved_expandable")
    fixed = sum(one.bytes for one in moment.parts if one.item in ("CUDA context", "NCCL"))
    used = moment.peak - fixed
    usual, most = round(used * reserved["usual"]), round(used * reserved["most"])
    why = "what the allocator holds beyond what is in use (expandable segments)"
    parts = (*moment.parts, Part("allocator", usual, 0, most, why))
    cell = cell_of(setup)
    low, high = interval_of(cell)
    added = sum_parts(moment.moment, parts)
    return Estimate(
        moment.moment,
        parts,
        added.peak,
        round(added.low - used * low),
        round(added.high + used * high),
    )
