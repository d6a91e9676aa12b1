"""The memory account: what is alive at the peak, item by item, and how sure that is.

Three moments can be the peak: the loss (everything kept for the backward pass, and the logits), the optimizer
step, and the check of the saved files (a second copy of the model). Sources of the byte counts: torch.optim.AdamW
(two states in the parameter's format), peft (adapters in float32), and activations.py for the layers.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from surefit.plan.activations import checkpoint_bytes, layer_bytes, layer_hump_bytes
from surefit.plan.measured import measured
from surefit.plan.plan import AccountItem
from surefit.plan.setup import Setup
from surefit.units import count_text, parameters_text, plural

# Logits, their log-softmax and its gradient are alive together: 3 float32 numbers a word of the vocabulary.
_LOSS_COPIES = 3
_KNOWN_BAND, _UNKNOWN_BAND = (0.85, 1.20), (0.5, 2.0)
_CPU_ALLOCATOR_SLACK = 0.18  # measured at most, with the allocator keeping freed blocks
_CUDA_ALLOCATOR_SLACK = 0.25  # reserved beyond allocated, worst of the published runs with sdpa


@dataclass(frozen=True)
class Part:
    """An item with its interval, in bytes."""

    item: str
    bytes: int
    low: int
    high: int
    why: str

    def as_item(self) -> AccountItem:
        """The item without its interval."""
        return AccountItem(item=self.item, bytes=self.bytes, why=self.why)


@dataclass(frozen=True)
class Estimate:
    """The peak, its interval, its moment and its parts; the parts sum to the peak."""

    moment: str
    parts: tuple[Part, ...]
    peak: int
    low: int
    high: int


def estimate_memory(setup: Setup) -> Estimate:
    """The largest moment of a run, in bytes on the device that trains."""
    moments = (_loss_moment(setup), _optimizer_moment(setup), _verify_moment(setup))
    estimates = [_sum(name, parts) for name, parts in moments]
    largest = max(estimates, key=lambda one: one.peak)
    return Estimate(
        largest.moment,
        largest.parts,
        largest.peak,
        max(one.low for one in estimates),
        max(one.high for one in estimates),
    )


def _sum(moment: str, parts: Sequence[Part]) -> Estimate:
    return Estimate(
        moment,
        tuple(parts),
        sum(one.bytes for one in parts),
        sum(one.low for one in parts),
        sum(one.high for one in parts),
    )


def _exact(item: str, size: float, why: str) -> Part:
    return Part(item, round(size), round(size), round(size), why)


def _program(setup: Setup) -> Part:
    if setup.device == "cuda":
        figures = measured("cuda")
        most, least = figures["context_bytes"], figures["context_low_bytes"]
        return Part(
            "CUDA context", most, least, most, "what the driver takes before the first tensor"
        )
    figures = measured("program")
    why = "interpreter, torch, transformers and peft; measured once, without a model"
    return Part("program", figures["bytes"], figures["low_bytes"], figures["high_bytes"], why)


def _standing(setup: Setup) -> list[Part]:
    """What is there from the first step to the last."""
    total, trained = setup.facts.parameters.total, setup.trained_parameters
    size, each = setup.number_bytes, setup.trained_number_bytes
    parts = [
        _program(setup),
        _exact(
            "weights",
            total * size,
            f"{parameters_text(total)} parameters x {size} bytes ({setup.precision})",
        ),
    ]
    if not setup.is_full:
        parts.append(
            _exact(
                "adapters",
                trained * each,
                f"{parameters_text(trained)} trained parameters x {each} bytes",
            )
        )
    return [
        *parts,
        _exact("gradients", trained * each, f"one number of {each} bytes a trained parameter"),
        _exact(
            "optimizer",
            2 * trained * each,
            f"AdamW keeps two numbers of {each} bytes a trained parameter",
        ),
    ]


def _loss_moment(setup: Setup) -> tuple[str, list[Part]]:
    least, most = setup.worst_positions
    layers = setup.facts.layers
    band = _KNOWN_BAND if setup.facts.known_family else _UNKNOWN_BAND
    kept = [_layers_bytes(setup, positions) for positions in (least, most)]
    hump = [
        max(_loss_bytes(setup, positions), _hump_bytes(setup, positions))
        for positions in (least, most)
    ]
    what = "the layers' inputs and one whole layer" if setup.checkpointing else f"{layers} layers"
    shape = f"{plural(setup.micro_batch, 'row')} of at most {count_text(setup.lengths.longest)} tokens ({setup.layout})"
    parts = [
        *_standing(setup),
        Part(
            "activations",
            round(kept[1]),
            round(kept[0] * band[0]),
            round(kept[1] * band[1]),
            f"what {what} keep for the backward pass: {shape}",
        ),
        Part(
            "loss",
            round(hump[1]),
            round(_loss_bytes(setup, least) * setup.lengths.trained_share / 2),
            round(hump[1] * band[1]),
            f"logits over {count_text(setup.facts.vocabulary)} words at every trained position, "
            "their softmax and gradient",
        ),
    ]
    return "the loss of the largest micro-batch", [*parts, _slack(setup, parts[-2:])]


def _layers_bytes(setup: Setup, positions: float) -> float:
    if setup.checkpointing:
        return setup.facts.layers * checkpoint_bytes(setup, positions) + layer_bytes(
            setup, positions
        )
    return setup.facts.layers * layer_bytes(setup, positions)


def _hump_bytes(setup: Setup, positions: float) -> float:
    return layer_hump_bytes(setup, positions)


def _loss_bytes(setup: Setup, positions: float) -> float:
    """Bytes of the loss when every position is trained; a padded batch's logits are gathered once more."""
    copies = _LOSS_COPIES + (1 if setup.layout == "padded" and setup.micro_batch > 1 else 0)
    return positions * setup.facts.vocabulary * 4 * copies


def _slack(setup: Setup, changing: Sequence[Part]) -> Part:
    """What the allocator holds beyond what is in use: nothing at best."""
    share = _CPU_ALLOCATOR_SLACK if setup.device == "cpu" else _CUDA_ALLOCATOR_SLACK
    size = round(sum(one.bytes for one in changing) * share)
    return Part(
        "allocator", size // 2, 0, size, "freed blocks that the allocator keeps for the next step"
    )


def _optimizer_moment(setup: Setup) -> tuple[str, list[Part]]:
    facts = setup.facts
    matrices = [one.inputs * one.outputs for one in facts.block_linears]
    largest = max([*matrices, facts.vocabulary * facts.hidden_size]) if setup.is_full else 0
    parts = _standing(setup)
    step = largest * setup.trained_number_bytes * 2
    parts.append(_exact("step", step, "AdamW's intermediate values for the largest matrix"))
    return "the optimizer step", parts


def _verify_moment(setup: Setup) -> tuple[str, list[Part]]:
    facts = setup.facts
    again = facts.parameters.total * setup.number_bytes
    if not setup.is_full:
        again += setup.trained_parameters * setup.trained_number_bytes
    logits = 2 * setup.lengths.longest * facts.vocabulary * 4
    parts = [
        *_standing(setup),
        _exact(
            "second copy",
            again,
            "the saved files, loaded again to compare them with what was trained",
        ),
        _exact("compared logits", logits, "both models' logits of one row"),
    ]
    return "the check of the saved files", parts
