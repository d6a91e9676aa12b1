"""The memory account on a CPU: what is alive at the peak, item by item, and how sure that is.

Five moments can be the peak: the loss (everything kept for the backward pass, and the logits), the
first and the last layer of the backward pass, the optimizer step, and the check of the saved files
(a second copy of the model). Sources of the byte counts: torch.optim.AdamW (two states in the
parameter's format), peft (adapters in float32), and activations.py for the layers.
"""

from collections.abc import Sequence

from surefit.plan.activations import (
    checkpoint_bytes,
    layer_bytes,
    layer_hump_bytes,
    tail_bytes,
)
from surefit.plan.gpu import estimate_gpu
from surefit.plan.measured import measured
from surefit.plan.parts import Estimate, Part, exact, largest, sum_parts
from surefit.plan.setup import Setup
from surefit.recipe.schema import DoraMethod, QloraMethod
from surefit.units import MIB, count_text, parameters_text, plural

# Log-softmax, its gradient and that of the logits are alive together: 3 float32 numbers a word.
_LOSS_COPIES = 3
_KNOWN_BAND, _UNKNOWN_BAND = (0.85, 1.20), (0.5, 2.0)
_COMPARED = 3  # logits in memory, of the base, and of what was loaded again
_PROBE_TOKENS = 512  # the worker compares no more of a row
_MOST_VERIFY_ROWS, _VERIFY_BYTES = 4, 512 * MIB


def estimate_memory(setup: Setup) -> Estimate:
    """The largest moment of a run, in bytes on the device that trains."""
    if setup.device == "cuda":
        return estimate_gpu(setup)
    moments = (
        _loss_moment(setup),
        _backward_moment(setup),
        _last_layer_moment(setup),
        _optimizer_moment(setup),
        _verify_moment(setup),
        *([_load_moment(setup)] if setup.shares > 1 else []),
    )
    return largest([sum_parts(name, parts) for name, parts in moments])


def _program(setup: Setup) -> Part:
    figures = measured("program")
    why = "interpreter, torch, transformers and peft; measured once, without a model"
    more = 0
    if isinstance(setup.method, QloraMethod):
        more, why = figures["bitsandbytes_bytes"], why.replace("peft", "peft, bitsandbytes")
    usual, low, high = (figures[name] + more for name in ("bytes", "low_bytes", "high_bytes"))
    return Part("program", usual, low, high, why)


def _standing(setup: Setup, gradients: bool = True) -> list[Part]:
    """What is there from the first step to the last."""
    total, trained = setup.facts.parameters.total, setup.trained_parameters
    size, each, of = setup.number_bytes, setup.trained_number_bytes, _of_each(setup)
    weights = f"{parameters_text(total)} parameters x {size} bytes ({setup.precision}){of}"
    if isinstance(setup.method, QloraMethod):
        four_bit = parameters_text(setup.facts.parameters.linear)
        weights = f"{four_bit} parameters of 4 bits with their scales, the rest x {size} bytes{of}"
    parts = [_program(setup), exact("weights", setup.weight_bytes / setup.shares, weights)]
    if setup.shares > 1:
        parts.append(_gathered(setup))
    if not setup.is_full:
        adapters = f"{parameters_text(trained)} trained parameters x {each} bytes{of}"
        parts.append(exact("adapters", trained * each / setup.shares, adapters))
    if gradients:
        why = f"one number of {each} bytes a trained parameter{of}"
        parts.append(exact("gradients", trained * each / setup.shares, why))
    why = f"AdamW keeps two numbers of {each} bytes a trained parameter{of}"
    return [*parts, exact("optimizer", 2 * trained * each / setup.shares, why)]


def _of_each(setup: Setup) -> str:
    """What of a figure one rank holds, in words."""
    if setup.strategy == "fsdp":
        return f", a share of 1/{setup.ranks} in each rank"
    return f", whole in each of {setup.ranks} ranks" if setup.strategy == "ddp" else ""


def _gathered(setup: Setup) -> Part:
    """What a rank puts together from all shares: two layers, embeddings and head.

    fully_shard keeps its root's parameters (here the embeddings, the head and the last norm) from
    the forward pass to the backward pass, and gathers the next layer while one is at work.
    """
    facts = setup.facts
    layer = facts.parameters.linear / max(1, facts.layers) * setup.number_bytes
    ends = (facts.parameters.total - facts.parameters.linear) * setup.number_bytes
    low = round(ends + layer)
    why = "embeddings, head and two layers, put together from all shares while they are used"
    return Part("gathered weights", round(ends + 2 * layer), low, round(ends + 2 * layer), why)


def _load_moment(setup: Setup) -> tuple[str, list[Part]]:
    """One rank after the other reads the whole model and keeps its share."""
    size = setup.facts.parameters.total * setup.number_bytes
    whole = size / setup.ranks
    kept = size / setup.shares * (1 - 1 / setup.ranks)
    parts = [
        _program(setup),
        exact("weights", kept, "shares that ranks hold already, spread over the ranks"),
        exact("loading", whole, "one rank at a time reads the whole model, spread over the ranks"),
    ]
    return "loading the model", parts


def _gradients_wait(setup: Setup) -> bool:
    """Whether gradients are alive in a pass: where passes are added up, and in DDP's buckets."""
    return setup.rank_batch > setup.micro_batch or setup.strategy == "ddp"


def _loss_moment(setup: Setup) -> tuple[str, list[Part]]:
    least, usual, most = (_loss_bytes(setup, tokens) for tokens in setup.worst_tokens)
    trained = setup.lengths.trained_share
    loss = Part(
        "loss",
        round(usual * trained),
        round(least * trained / 2),
        round(most * _band(setup)[1]),
        f"logits over {count_text(setup.facts.vocabulary)} words where a token is trained "
        f"({trained:.0%} on average, at most all), their softmax and gradient",
    )
    return "the loss of the largest micro-batch", _with_activations(setup, loss)


def _backward_moment(setup: Setup) -> tuple[str, list[Part]]:
    head = 0 if _gradients_wait(setup) or not setup.is_full else _head_gradient_bytes(setup)
    what = "recomputed activations and gradients" if setup.checkpointing else "gradients"
    where = "one layer and of the head" if head else "one layer"
    sizes = [_layer_again_bytes(setup, positions) for positions in setup.worst_positions]
    layer = _part(setup, "layer", sizes, f"{what} of {where}", fixed=head)
    return "the backward pass of the largest micro-batch", _with_activations(setup, layer)


def _with_activations(setup: Setup, last: Part) -> list[Part]:
    what = "each layer's input" if setup.checkpointing else plural(setup.facts.layers, "layer")
    shape = (
        f"{plural(setup.micro_batch, 'row')} of at most {count_text(setup.lengths.longest)} tokens "
        f"({setup.layout})"
    )
    sizes = [_kept_bytes(setup, positions) for positions in setup.worst_positions]
    kept = _part(setup, "activations", sizes, f"{what} kept for the backward pass: {shape}")
    return [*_standing(setup, _gradients_wait(setup)), kept, last, _slack(setup, (kept, last))]


def _part(setup: Setup, item: str, sizes: Sequence[float], why: str, fixed: int = 0) -> Part:
    """A part from its (least, usual, most) bytes, widened by what is known of the family."""
    low, high = _band(setup)
    least, usual, most = sizes
    return Part(
        item, round(usual) + fixed, round(least * low) + fixed, round(most * high) + fixed, why
    )


def _band(setup: Setup) -> tuple[float, float]:
    return _KNOWN_BAND if setup.facts.known_family else _UNKNOWN_BAND


def _kept_bytes(setup: Setup, positions: float) -> float:
    layers, tail = setup.facts.layers, tail_bytes(setup, positions)
    if setup.checkpointing:
        return layers * checkpoint_bytes(setup, positions) + tail
    return layers * layer_bytes(setup, positions) + tail


def _layer_again_bytes(setup: Setup, positions: float) -> float:
    """Inside a layer's backward pass: gradients, and what it recomputes if it kept nothing."""
    again = layer_bytes(setup, positions) if setup.checkpointing else 0.0
    return again + layer_hump_bytes(setup, positions) + _whole_matrix_bytes(setup)


def _whole_matrix_bytes(setup: Setup) -> float:
    """The largest matrix of a block as the arithmetic needs it, where it is not kept so.

    qlora unpacks each 4-bit matrix for its product; dora multiplies out each adapter for its lengths.
    """
    largest = max((one.inputs * one.outputs for one in setup.facts.block_linears), default=0)
    if isinstance(setup.method, QloraMethod):
        return largest * setup.number_bytes
    if isinstance(setup.method, DoraMethod):
        return 2 * largest * setup.trained_number_bytes
    return 0.0


def _head_gradient_bytes(setup: Setup) -> int:
    """The gradient of the output matrix, the first that a backward pass makes."""
    return setup.facts.vocabulary * setup.facts.hidden_size * setup.trained_number_bytes


def _loss_bytes(setup: Setup, tokens: float) -> float:
    """Bytes of the loss when every token is trained: padding never goes through the head.

    A model that caps its logits keeps them once more.
    """
    copies = _LOSS_COPIES + setup.facts.caps_logits
    return tokens * setup.facts.vocabulary * 4 * copies


def _slack(setup: Setup, changing: Sequence[Part]) -> Part:
    """What the allocator holds beyond what is in use. Shares and their origin: measured.toml."""
    name = f"cpu_{setup.allocator}"
    shares, in_use = measured("allocator"), sum(one.bytes for one in changing)
    why = (
        "holes between blocks that glibc keeps for the next step"
        if name == "cpu_keep"
        else "what the allocator takes beyond what is asked for"
    )
    usual, most = (round(in_use * shares[f"{name}_{end}"]) for end in ("usual", "most"))
    return Part("allocator", usual, 0, most, why)


def _last_layer_moment(setup: Setup) -> tuple[str, list[Part]]:
    """The end of the backward pass: every gradient is there, and one layer is left."""
    sizes = [
        layer_bytes(setup, positions) + layer_hump_bytes(setup, positions)
        for positions in setup.worst_positions
    ]
    why = "activations and gradients of the first layer, the last that is left"
    part = _part(setup, "layer", sizes, why)
    return "the end of the backward pass", [*_standing(setup), part, _slack(setup, (part,))]


def _optimizer_moment(setup: Setup) -> tuple[str, list[Part]]:
    facts = setup.facts
    matrices = [one.inputs * one.outputs for one in facts.block_linears]
    largest = max([*matrices, facts.vocabulary * facts.hidden_size]) if setup.is_full else 0
    parts = _standing(setup)
    step = largest * setup.trained_number_bytes * 2 / setup.shares
    parts.append(exact("step", step, "AdamW's intermediate values for the largest matrix"))
    return "the optimizer step", parts


def _verify_moment(setup: Setup) -> tuple[str, list[Part]]:
    """After training, without the optimizer: what a user would load, and logits to compare.

    An adapter is put on a base loaded again; a full model is compared with its base beside it.
    """
    copies = 2.0 if setup.is_full else 1.0
    size: float = setup.weight_bytes
    one = verify_row_bytes(setup)
    # What the rows may take, not what a whole number of them takes: it grows without a step back.
    all_rows = min(_COMPARED * _MOST_VERIFY_ROWS * one, max(_VERIFY_BYTES, _COMPARED * one))
    logits = all_rows + one
    if setup.shares > 1:  # every rank loads its share again, one model after the other
        copies, size = 1, size / setup.shares
    else:  # the other ranks have ended by then, and left their memory
        copies, size = copies / setup.ranks, size
    parts = [
        _program(setup),
        *([_gathered(setup)] if setup.shares > 1 else []),
        exact("loaded again", copies * size, "the saved files and what they are compared with"),
        exact("compared logits", logits, f"of {plural(verify_rows(setup), 'row')}, three times"),
    ]
    if not setup.is_full:
        adapter = setup.trained_parameters * setup.trained_number_bytes
        parts.append(exact("adapter", adapter, "the saved adapter, loaded again"))
    return "the check of the saved files", parts


def verify_row_bytes(setup: Setup) -> int:
    """Bytes of the logits of one row that is compared after reloading."""
    return min(setup.lengths.longest, _PROBE_TOKENS) * setup.facts.vocabulary * 4


def verify_rows(setup: Setup) -> int:
    """Rows to compare after reloading: four, fewer where a vocabulary makes their logits large."""
    return max(1, min(_MOST_VERIFY_ROWS, _VERIFY_BYTES // (_COMPARED * verify_row_bytes(setup))))
