"""Every number of the plan with its reason: what it means for this run, in plain words."""

from typing import TYPE_CHECKING, Any

from surefit.data.report import DatasetReport
from surefit.hardware.machine import Hardware
from surefit.models.facts import ModelFacts
from surefit.plan.candidates import FLAT_LINE_TOKENS
from surefit.plan.disk import checkpoint_size
from surefit.plan.plan import Decision
from surefit.plan.work import SLOW_BF16_FACTOR
from surefit.recipe.schema import LoraMethod
from surefit.units import bytes_text, count_text, parameters_text, plural, seconds_text

if TYPE_CHECKING:
    from surefit.plan.planner import Draft


def explain(
    draft: "Draft", facts: ModelFacts, hardware: Hardware, report: DatasetReport
) -> tuple[Decision, ...]:
    """A decision for every field of the training plan, in the order in which a person asks."""
    return (
        *_method(draft, facts),
        *_device(draft, hardware),
        *_batch(draft),
        *_memory_choices(draft, facts),
        *_lengths(draft, facts, report),
        *_learning(draft),
        *_saving(draft, report),
        *_proving(draft, facts),
    )


def _decision(draft: "Draft", field: str, reason: str, by_user: bool = False) -> Decision:
    value: Any = getattr(draft.training, field)
    return Decision(field=field, value=value, reason=reason, fixed_by_user=by_user)


def _asked(draft: "Draft", part: str, field: str) -> bool:
    """Whether the person wrote this field."""
    section = getattr(draft.recipe, part)
    return field in section.model_fields_set and getattr(section, field) is not None


def _method(draft: "Draft", facts: ModelFacts) -> list[Decision]:
    setup, method = draft.chosen.setup, draft.recipe.method
    share = setup.trained_parameters / max(1, facts.parameters.total)
    named = "method" in draft.recipe.model_fields_set
    size = (
        f"{parameters_text(setup.trained_parameters)} of {parameters_text(facts.parameters.total)}"
    )
    if not isinstance(method, LoraMethod):
        reason = f"all {parameters_text(facts.parameters.total)} parameters are trained"
        return [
            Decision(field="method", value=method.model_dump(), reason=reason, fixed_by_user=named),
            _decision(draft, "targets", "full training has no adapters: everything is trained"),
        ]
    value = method.model_dump() | {"alpha": method.scale_alpha}
    reason = (
        f"adapters of rank {method.rank}: {size} parameters are trained ({share:.1%}); alpha "
        f"{method.scale_alpha:g} multiplies them by {method.scale_alpha / method.rank:g}"
    )
    which = "every linear layer of a block" if method.targets == "all-linear" else "as asked"
    return [
        Decision(field="method", value=value, reason=reason, fixed_by_user=named),
        _decision(
            draft,
            "targets",
            f"{which}: {len(setup.adapted)} in each of {plural(facts.layers, 'layer')}",
            "targets" in method.model_fields_set,
        ),
    ]


def _device(draft: "Draft", hardware: Hardware) -> list[Decision]:
    device, training = draft.device, draft.training
    gpu = "it has the most free memory" if device.kind == "cuda" else "no GPU was found"
    decisions = [
        _decision(draft, "device", f"{device.name}: {gpu}"),
        _precision(draft),
        _decision(
            draft, "threads", _threads_reason(draft, hardware), _asked(draft, "how", "threads")
        ),
    ]
    if training.allocator:
        keeps = (
            "freed memory is kept for the next step instead of being returned to the system; "
            "measured up to "
            "1.4 times faster with small models"
            if device.kind == "cpu"
            else "less memory is lost between blocks of different sizes"
        )
        decisions.append(_decision(draft, "allocator", keeps))
    return decisions


def _precision(draft: "Draft") -> Decision:
    device, training = draft.device, draft.training
    asked = _asked(draft, "how", "precision")
    if training.precision == "bfloat16" and not device.bf16_is_fast:
        reason = (
            f"warning: as asked, but slow here, up to {SLOW_BF16_FACTOR:.0f} times slower than "
            "float32: "
            f"{device.bf16_reason}; leave out `how.precision` to train in float32"
        )
    elif training.precision == "float32" and asked and device.bf16_is_fast:
        reason = "as asked; bfloat16 would need half the memory and be faster here"
    elif training.precision == "float32":
        reason = f"4 bytes a number, because {device.bf16_reason}"
    else:
        reason = f"2 bytes a number, and fast here: {device.bf16_reason}"
    return _decision(draft, "precision", reason, asked)


def _threads_reason(draft: "Draft", hardware: Hardware) -> str:
    cores = plural(hardware.cpu_cores, "core")
    if _asked(draft, "how", "threads"):
        return f"as asked; {cores} may be used, others keep {hardware.load:.1f} of them busy"
    if hardware.load < 0.5:
        return f"all of {cores} that may be used: they are idle"
    return (
        f"{cores} may be used and others keep {hardware.load:.1f} of them busy; more threads "
        "would wait for "
        "each other and be slower"
    )


def _batch(draft: "Draft") -> list[Decision]:
    training = draft.training
    rows = plural(training.batch, "row")
    whole = (
        ""
        if training.batch <= training.rows
        else f" (there are only {training.rows}: one step an epoch)"
    )
    micro_asked = _asked(draft, "how", "micro_batch")
    return [
        _decision(
            draft,
            "batch",
            f"the model learns from {rows} in each step{whole}",
            _asked(draft, "goal", "batch"),
        ),
        _decision(draft, "micro_batch", _micro_reason(draft, micro_asked), micro_asked),
        _decision(
            draft,
            "accumulation",
            f"{plural(training.accumulation, 'pass', 'passes')} of "
            f"{plural(training.micro_batch, 'row')} make a "
            "step; the result does not depend on the split",
        ),
    ]


def _micro_reason(draft: "Draft", asked: bool) -> str:
    chosen, size = draft.chosen, draft.training.micro_batch
    if asked:
        return "as asked"
    larger = [one for one in draft.others if one.setup.micro_batch > size]
    if not larger:
        return "the whole batch in one pass: the fastest, and it fits"
    next_size = min(one.setup.micro_batch for one in larger)
    best = min(
        (one for one in larger if one.setup.micro_batch == next_size), key=lambda one: one.cost
    )
    if best.memory.high > draft.device.free_bytes >= chosen.memory.high:
        return f"the fastest that surely fits; {next_size} may need {bytes_text(best.memory.high)}"
    if chosen.memory.high > draft.device.free_bytes:
        return "the smallest that there is, to save memory"
    slower = best.cost / chosen.cost - 1 if chosen.cost else 0.0
    return (
        f"the fastest by estimate; {next_size} in a pass would take {slower:.0%} longer: more "
        "padding, or "
        "more attention between places that must not see each other"
    )


def _memory_choices(draft: "Draft", facts: ModelFacts) -> list[Decision]:
    training = draft.training
    asked = _asked(draft, "how", "gradient_checkpointing")
    if asked:
        recompute = "as asked"
    elif training.gradient_checkpointing:
        recompute = "activations are recomputed in the backward pass: a third more work, and it fits only so"
    else:
        recompute = (
            "not needed: the activations fit, and recomputing them would cost a third more work"
        )
    kernel = (
        "torch's fused attention; computes what the model's own code says"
        if facts.attention == "sdpa"
        else "the model caps its attention scores, which the fused kernel cannot"
    )
    return [
        _decision(draft, "gradient_checkpointing", recompute, asked),
        _decision(draft, "attention", kernel),
        _decision(draft, "layout", _layout_reason(draft, facts), _asked(draft, "how", "layout")),
    ]


def _layout_reason(draft: "Draft", facts: ModelFacts) -> str:
    training, lengths = draft.training, draft.lengths
    padded_width = lengths.expected_longest(min(training.micro_batch, lengths.rows))
    padding = 1 - lengths.mean / padded_width if padded_width else 0.0
    if training.layout == "flat":
        return (
            "rows of a micro-batch lie in one line, each seeing only itself (proved at the "
            "start of the run); "
            f"padding would be {padding:.0%} of the work"
        )
    if _asked(draft, "how", "layout"):
        return f"as asked; about {padding:.0%} of the positions are padding"
    if not facts.isolates_flat_rows:
        return (
            "rows are filled up to the longest: it is not known whether this architecture "
            "keeps rows in one "
            f"line apart; about {padding:.0%} of the positions are padding"
        )
    return (
        f"rows are filled up to the longest: one line would exceed "
        f"{count_text(FLAT_LINE_TOKENS)} tokens or "
        f"cost more attention than the {padding:.0%} padding"
    )


def _lengths(draft: "Draft", facts: ModelFacts, report: DatasetReport) -> list[Decision]:
    training, tokens = draft.training, report.tokens
    limit = (
        f"the model was made for {count_text(facts.max_positions)}"
        if facts.max_positions
        else "the model names no limit"
    )
    cut = f"; {plural(tokens.cut_rows, 'row')} cut there" if tokens and tokens.cut_rows else ""
    seen = (
        f"; the longest row has {count_text(draft.lengths.longest)}" if draft.lengths.known else ""
    )
    each = -(-training.rows // training.batch)
    return [
        _decision(draft, "max_length", f"{limit}{seen}{cut}", _asked(draft, "goal", "max_length")),
        _decision(draft, "rows", f"{plural(training.rows, 'row')} of the data can be trained"),
        _decision(
            draft,
            "epochs",
            f"each row is seen {training.epochs:g} {'time' if training.epochs == 1 else 'times'}",
            _asked(draft, "goal", "epochs"),
        ),
        _decision(
            draft,
            "steps",
            f"{count_text(training.rows)} rows in batches of {training.batch} make "
            f"{plural(each, 'step')} an epoch, "
            f"x {training.epochs:g}",
        ),
    ]


def _learning(draft: "Draft") -> list[Decision]:
    training = draft.training
    lora = isinstance(training.method, LoraMethod)
    rate = (
        "as asked"
        if _asked(draft, "goal", "learning_rate")
        else (
            "usual for adapters, which start at zero"
            if lora
            else "usual for full training: larger ones erase what the model knows"
        )
    )
    shapes = {
        "cosine": "falls to zero along a cosine",
        "linear": "falls to zero in a straight line",
        "constant": "stays the same after the warm-up",
    }
    return [
        _decision(draft, "learning_rate", rate, _asked(draft, "goal", "learning_rate")),
        _decision(
            draft,
            "schedule",
            f"the rate {shapes[training.schedule]}",
            _asked(draft, "goal", "schedule"),
        ),
        _decision(
            draft,
            "warmup_steps",
            f"the rate rises over {plural(training.warmup_steps, 'step')} "
            f"({draft.recipe.goal.warmup:.0%} of all), so that "
            "the first steps do no harm"
            if training.warmup_steps
            else "none: the run is too short or none was asked for",
            _asked(draft, "goal", "warmup"),
        ),
        _decision(
            draft,
            "weight_decay",
            "none"
            if not training.weight_decay
            else "AdamW pulls weights towards zero by this share of the rate",
            _asked(draft, "goal", "weight_decay"),
        ),
        _decision(draft, "optimizer", "AdamW, two numbers of state a trained parameter"),
        _decision(draft, "betas", "torch's own values"),
        _decision(draft, "epsilon", "torch's own value"),
        _decision(
            draft,
            "max_gradient_norm",
            "longer gradients are shortened to this length, so that one odd batch does no harm",
        ),
        _decision(
            draft,
            "seed",
            "same seed, same data, same machine: same losses",
            _asked(draft, "goal", "seed"),
        ),
    ]


def _saving(draft: "Draft", report: DatasetReport) -> list[Decision]:
    training, seconds = draft.training, draft.seconds
    size = bytes_text(checkpoint_size(draft.chosen.setup))
    often = ""
    if seconds is not None:
        often = f", about every {seconds_text((seconds.low + seconds.high) / 2 / training.steps * training.checkpoint_every_steps)}"
    if report.eval_rows == 0:
        evaluating = "no rows are held back, so nothing is evaluated"
    elif training.eval_every_steps is None:
        evaluating = f"{plural(report.eval_rows, 'row')} are evaluated at the end only: more often would take over a tenth of the time"
    else:
        evaluating = f"{plural(report.eval_rows, 'row')} are evaluated about four times, at under a tenth of the time"
    return [
        _decision(
            draft,
            "checkpoint_every_steps",
            f"{size} each{often}: what a crash can cost",
            _asked(draft, "how", "checkpoint_every_steps"),
        ),
        _decision(
            draft,
            "keep_checkpoints",
            "the newest are kept; one more exists while the next is written",
            _asked(draft, "how", "keep_checkpoints"),
        ),
        _decision(draft, "eval_every_steps", evaluating),
    ]


def _proving(draft: "Draft", facts: ModelFacts) -> list[Decision]:
    decisions = [
        _decision(
            draft,
            "rehearse",
            "the largest batch, saving and reloading are proved before the first step",
        ),
        _decision(draft, "only_rehearse", "training follows the rehearsal"),
        _decision(draft, "heartbeat_seconds", "how often the worker says that it lives"),
        _decision(
            draft,
            "verify_rows",
            "rows on which the saved files, loaded again, must answer as the trained model does",
        ),
        _decision(
            draft,
            "verify_tolerance",
            f"largest difference of a logit allowed in {draft.training.precision}",
        ),
    ]
    if facts.ignored_code:
        decisions.append(
            Decision(
                field="model code",
                value=list(facts.ignored_code),
                reason="config.json asks for these Python classes; they are never run, the library's own "
                f"{facts.architecture} is used",
            )
        )
    if not facts.known_family:
        decisions.append(
            Decision(
                field="architecture",
                value=facts.architecture,
                reason="its rules are not known: parameters are counted from the headers, and every estimate "
                "of memory is widened",
            )
        )
    return decisions
