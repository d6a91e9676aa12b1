"""Decisions about what is trained and on what."""

from typing import TYPE_CHECKING

from surefit.hardware.machine import Hardware
from surefit.models.facts import ModelFacts
from surefit.plan.decisions.deciding import asked, decide
from surefit.plan.plan import Decision
from surefit.plan.work import SLOW_BF16_FACTOR
from surefit.recipe.schema import AdapterMethod, FullMethod, QloraMethod
from surefit.units import parameters_text, plural

if TYPE_CHECKING:
    from surefit.plan.planner import Draft


def explain_method(draft: "Draft", facts: ModelFacts) -> list[Decision]:
    """What is trained: everything, or adapters at which layers."""
    setup, method = draft.chosen.setup, draft.recipe.method
    share = setup.trained_parameters / max(1, facts.parameters.total)
    named = "method" in draft.recipe.model_fields_set
    size = (
        f"{parameters_text(setup.trained_parameters)} of {parameters_text(facts.parameters.total)}"
    )
    if not isinstance(method, AdapterMethod):
        reason = f"all {parameters_text(facts.parameters.total)} parameters are trained"
        return [
            Decision(
                field="method",
                value=method.model_dump(mode="json"),
                reason=reason,
                fixed_by_user=named,
            ),
            decide(draft, "targets", "full training has no adapters: everything is trained"),
        ]
    value = method.model_dump(mode="json") | {"alpha": method.scale_alpha}
    reason = (
        f"adapters of rank {method.rank}: {size} parameters are trained ({share:.1%}); alpha "
        f"{method.scale_alpha:g} multiplies them by {method.scale:g}"
    )
    if isinstance(method, QloraMethod):
        reason += (
            "; the linear layers of the base are kept in 4 bits (nf4) and unpacked one at a time"
        )
    which = "every linear layer of a block" if method.targets == "all-linear" else "as asked"
    return [
        Decision(field="method", value=value, reason=reason, fixed_by_user=named),
        decide(
            draft,
            "targets",
            f"{which}: {len(setup.adapted)} in each of {plural(facts.layers, 'layer')}",
            "targets" in method.model_fields_set,
        ),
    ]


def explain_device(draft: "Draft", hardware: Hardware) -> list[Decision]:
    """Where, in which number format, with how many threads."""
    device, training = draft.device, draft.training
    gpu = "it has the most free memory" if device.kind == "cuda" else "no GPU was found"
    decisions = [
        decide(draft, "device", f"{device.name}: {gpu}"),
        _precision(draft),
        decide(draft, "threads", _threads_reason(draft, hardware), asked(draft, "how", "threads")),
    ]
    decisions += _rank_decisions(draft)
    if training.allocator:
        decisions.append(decide(draft, "allocator", _allocator_reason(draft)))
    return decisions


def _rank_decisions(draft: "Draft") -> list[Decision]:
    training = draft.training
    by_user = asked(draft, "how", "strategy")
    reasons = {
        "single": "one process on one device",
        "ddp": f"each of {training.ranks} ranks holds the whole model and trains a part of the rows: faster, "
        "but never smaller; a model that does not fit in one device does not fit so either",
        "fsdp": f"each of {training.ranks} ranks holds 1/{training.ranks} of weights, gradients and optimizer "
        "and gathers a layer when it is needed",
    }
    count = "as asked" if asked(draft, "how", "ranks") else "every GPU of this machine"
    waits = (
        "the others' shares are fetched in every pass, and a rank may save a checkpoint meanwhile"
    )
    return [
        decide(draft, "strategy", reasons[training.strategy], by_user),
        decide(
            draft,
            "ranks",
            count if training.ranks > 1 else "nobody asked for more than one",
            asked(draft, "how", "ranks"),
        ),
        decide(
            draft,
            "offload",
            "as asked: shares wait in the machine's memory, and every pass fetches them"
            if training.offload
            else "shares stay on their device",
            training.offload,
        ),
        decide(
            draft, "collective_seconds", waits if training.ranks > 1 else "of no use to one rank"
        ),
    ]


def _allocator_reason(draft: "Draft") -> str:
    if draft.device.kind == "cuda":
        return "less memory is lost between blocks of different sizes"
    if draft.chosen.setup.allocator == "return":
        return (
            "freed memory goes back to the system at once: keeping it would be faster, but its holes "
            "might not fit"
        )
    return (
        "freed memory is kept for the next step: measured up to 1.4 times faster, for up to twice "
        "the memory, which fits"
    )


def _precision(draft: "Draft") -> Decision:
    device, training = draft.device, draft.training
    by_user = asked(draft, "how", "precision")
    if training.precision == "bfloat16" and not device.bf16_is_fast:
        reason = (
            f"warning: as asked, but slow here, up to {SLOW_BF16_FACTOR:.0f} times slower than "
            "float32: "
            f"{device.bf16_reason}; leave out `how.precision` to train in float32"
        )
    elif training.precision == "bfloat16" and isinstance(training.method, FullMethod):
        reason = (
            "warning: the trained weights themselves are kept in bfloat16, where most updates of a "
            "small learning rate round to nothing; leave out `how.precision`, or train adapters"
        )
    elif training.precision == "float32" and isinstance(training.method, FullMethod):
        reason = "4 bytes a number: updates of trained weights round to nothing in bfloat16"
    elif training.precision == "float32" and by_user and device.bf16_is_fast:
        reason = "as asked; bfloat16 would need half the memory and be faster here"
    elif training.precision == "float32":
        reason = f"4 bytes a number, because {device.bf16_reason}"
    else:
        reason = f"2 bytes a number, and fast here: {device.bf16_reason}"
    return decide(draft, "precision", reason, by_user)


def _threads_reason(draft: "Draft", hardware: Hardware) -> str:
    cores = plural(hardware.cpu_cores, "core")
    if asked(draft, "how", "threads"):
        if draft.training.threads * draft.training.ranks > hardware.cpu_cores:
            return f"warning: as asked, but only {cores} may be used: threads wait for each other, which is slower"
        return f"as asked; {cores} may be used, others keep {hardware.load:.1f} of them busy"
    if hardware.load < 0.5:
        return f"all of {cores} that may be used: they are idle"
    return (
        f"{cores} may be used and others keep {hardware.load:.1f} of them busy; more threads "
        "would wait for "
        "each other and be slower"
    )
