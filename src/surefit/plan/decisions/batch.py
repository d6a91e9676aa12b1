"""Decisions about how rows pass through the model."""

import math
from typing import TYPE_CHECKING

from surefit.data.report import DatasetReport
from surefit.models.facts import ModelFacts
from surefit.plan.candidates import FLAT_LINE_TOKENS
from surefit.plan.decisions.deciding import asked, decide
from surefit.plan.plan import Decision
from surefit.plan.spending import first_limit
from surefit.units import bytes_text, count_text, plural, seconds_text

_LONG_SECONDS = 14 * 86_400.0

if TYPE_CHECKING:
    from surefit.plan.planner import Draft


def explain_batch(draft: "Draft") -> list[Decision]:
    """Rows a step, and how they are split into passes."""
    training = draft.training
    noun = "packed sequence" if training.packing else "row"
    rows = plural(training.batch, noun)
    whole = (
        ""
        if training.batch <= training.items
        else f" (there are only {training.items}: one step an epoch)"
    )
    micro_by_user = asked(draft, "how", "micro_batch")
    return [
        decide(
            draft,
            "batch",
            f"the model learns from {rows} in each step{whole}",
            asked(draft, "goal", "batch"),
        ),
        decide(draft, "micro_batch", _micro_reason(draft, micro_by_user), micro_by_user),
        decide(
            draft,
            "accumulation",
            f"{plural(training.accumulation, 'pass', 'passes')} of "
            f"{plural(training.micro_batch, noun)} make a "
            + (f"step on each of {training.ranks} ranks" if training.ranks > 1 else "step")
            + "; the result does not depend on the split",
        ),
    ]


def _micro_reason(draft: "Draft", by_user: bool) -> str:
    chosen, size = draft.chosen, draft.training.micro_batch
    if by_user:
        return "as asked"
    larger = [one for one in draft.others if one.setup.micro_batch > size]
    if not larger:
        whole = (
            "a rank's whole part of the batch" if draft.training.ranks > 1 else "the whole batch"
        )
        return f"{whole} in one pass: the fastest, and it fits"
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


def explain_memory_choices(draft: "Draft", facts: ModelFacts) -> list[Decision]:
    """What is traded between memory and time."""
    training = draft.training
    by_user = asked(draft, "how", "gradient_checkpointing")
    if by_user:
        recompute = "as asked"
    elif training.gradient_checkpointing:
        recompute = "a third more work, but without it the activations do not fit"
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
        decide(draft, "gradient_checkpointing", recompute, by_user),
        decide(draft, "attention", kernel),
        decide(draft, "layout", _layout_reason(draft, facts), asked(draft, "how", "layout")),
        decide(draft, "by_length", _by_length_reason(draft)),
    ]


def _by_length_reason(draft: "Draft") -> str:
    setup = draft.chosen.setup
    if setup.layout == "flat":
        return "there is no padding to save: rows lie in one line"
    if not setup.by_length:
        return "a step is one pass, so that its order saves nothing"
    by_chance = setup.lengths.expected_longest(min(setup.micro_batch, setup.lengths.rows))
    saved = 1 - setup.usual_positions / setup.micro_batch / by_chance
    return (
        f"each step holds the same rows, but passes the longest first: {saved:.0%} fewer positions "
        "than in an order by chance, and the same result"
    )


def explain_packing(draft: "Draft", report: DatasetReport) -> list[Decision]:
    """Whether rows are joined into sequences, and what that would change."""
    return [
        decide(draft, "packing", _packing_reason(draft), asked(draft, "how", "packing")),
        decide(draft, "sequences", _sequences_reason(draft, report)),
        decide(
            draft,
            "template_arguments",
            "given to the model's chat template, in training and in chat"
            if draft.training.template_arguments
            else "the chat template decides by itself",
            asked(draft, "data", "template_arguments"),
        ),
    ]


def _packing_reason(draft: "Draft") -> str:
    training, lengths = draft.training, draft.lengths
    if training.packing:
        return (
            f"as asked: rows are joined into sequences of at most {count_text(training.max_length)} "
            "tokens, each seeing only itself (proved at the start of the run), and a batch counts those"
        )
    about = max(1, math.ceil(lengths.tokens / training.max_length))
    steps = max(1, math.ceil(about / training.batch))
    now = math.ceil(training.rows / training.batch)
    return (
        f"it would change what is learned: about {plural(about, 'sequence')} make "
        f"{plural(steps, 'step')} an epoch in place of {count_text(now)}; "
        + (
            "without it no place is wasted either, rows lie in one line"
            if training.layout == "flat"
            else "rows of like length pass together instead"
            if training.by_length
            else "`how.packing: true` would waste no place on padding"
        )
    )


def _sequences_reason(draft: "Draft", report: DatasetReport) -> str:
    if not draft.training.packing:
        return "rows are not packed"
    if report.packed is None:
        return "estimated from the tokens: the rows' lengths are not known"
    return (
        f"{plural(draft.training.rows, 'row')} fit into these, the longest first, each into the "
        f"fullest with room; {report.packed.filled:.1%} of the places hold a token"
    )


def _layout_reason(draft: "Draft", facts: ModelFacts) -> str:
    training, lengths = draft.training, draft.lengths
    setup, count = draft.chosen.setup, min(training.micro_batch, lengths.rows)
    flat = training.layout == "flat"
    padded_width = lengths.expected_longest(count) if flat else setup.usual_positions / count
    padding = 1 - lengths.mean / padded_width if padded_width else 0.0
    if training.packing:
        return (
            f"packed sequences lie in one line; its mask has the square of {count_text(lengths.longest)}"
            f"{f' x {count}' if count > 1 else ''} tokens"
        )
    if flat:
        return (
            "rows of a micro-batch lie in one line, each seeing only itself (proved at the "
            "start of the run); "
            f"padding would be {padding:.0%} of the work"
        )
    if asked(draft, "how", "layout"):
        return f"as asked; about {padding:.0%} of the positions are padding"
    if not facts.isolates_flat_rows:
        return (
            "rows are filled up to the longest: it is not known whether this architecture "
            "keeps rows in one "
            f"line apart; about {padding:.0%} of the positions are padding"
        )
    if lengths.worst_of_passes(training.micro_batch)[-1] > FLAT_LINE_TOKENS:
        why = f"one line could exceed {count_text(FLAT_LINE_TOKENS)} tokens, and its mask grows squared"
    else:
        why = "in one line the attention between rows that must not see each other would cost more"
    return f"rows are filled up to the longest, {padding:.0%} of the positions: {why}"


def explain_lengths(draft: "Draft", facts: ModelFacts, report: DatasetReport) -> list[Decision]:
    """How long rows may be, and how many steps they make."""
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
    each = -(-training.items // training.batch)
    noun = "packed sequence" if training.packing else "row"
    return [
        decide(draft, "max_length", f"{limit}{seen}{cut}", asked(draft, "goal", "max_length")),
        decide(draft, "rows", f"{plural(training.rows, 'row')} of the data can be trained"),
        decide(
            draft,
            "epochs",
            f"each row is seen {training.epochs:g} {'time' if training.epochs == 1 else 'times'}",
            asked(draft, "goal", "epochs"),
        ),
        decide(
            draft,
            "steps",
            f"{_long_run(draft)}{plural(training.items, noun)} in batches of "
            f"{count_text(training.batch)} make {plural(each, 'step')} an epoch, x {training.epochs:g}",
        ),
    ]


def _long_run(draft: "Draft") -> str:
    """A word about a run of weeks that nothing stops: more often a slip of the hand than a wish."""
    seconds = draft.seconds
    if seconds is None or seconds.high < _LONG_SECONDS or first_limit(draft.recipe) is not None:
        return ""
    return (
        f"warning: this takes {seconds_text(seconds.low)} to {seconds_text(seconds.high)}, and no limit "
        "ends it before: set `limits.hours`, or `goal.epochs` lower; "
    )
