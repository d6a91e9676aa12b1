"""A plan on one screen: the verdict first, then memory against the budget, the numbers, the way out."""

import click

from surefit.cli.drawing import bar, dim, heading, mark, paragraph
from surefit.cli.output import can_unicode, width_now
from surefit.data import Finding
from surefit.plan import Bar, Decision, Plan, PlanView, TrainingPlan, WayOut, view_plan
from surefit.units import bytes_text, count_text, parameters_text, plural, shortened

_GOOD = {"fits": True, "tight": None, "unknown": None, "does not fit": False}
_BAR_COLUMNS = 24
_MOST_WARNINGS = 5


# What most people want to know; the rest is behind --reasons.
_FIRST = frozenset(
    {
        "method",
        "targets",
        "precision",
        "threads",
        "strategy",
        "ranks",
        "micro_batch",
        "accumulation",
        "max_length",
        "layout",
        "gradient_checkpointing",
        "learning_rate",
        "checkpoint_every_steps",
        "eval_every_steps",
    }
)


def plan_text(plan: Plan, *, all_reasons: bool = False) -> str:
    """The whole screen as text with colour codes; click takes them out where nobody can see them."""
    view, width = view_plan(plan), width_now()
    verdict = view.verdict.upper()
    head = paragraph(view.reason, 2, width, f"{verdict}: ")
    lines = [
        mark(verdict, _GOOD[view.verdict]) + head[len(verdict) :],
        *_what_to_do(view, width),
        "",
        *_memory(view, width),
        "",
        *_run(plan, view, width),
        "",
        *(_all_decisions if all_reasons else _main_decisions)(view.decisions, width),
    ]
    if view.way_out:
        lines += ["", *_way_out(view.way_out, plan.verdict == "fits", width)]
    return "\n".join(lines)


def warnings_text(warnings: tuple[Finding, ...]) -> str:
    """What the check of the data warns of, below the plan; empty where it warns of nothing."""
    if not warnings:
        return ""
    width = width_now()
    lines = ["", "", heading("What the data check warns of")]
    for one in warnings[:_MOST_WARNINGS]:
        lines.append(click.style(paragraph(one.message, 9, width, f"  {one.code}"), fg="yellow"))
        lines.append(paragraph(one.next, 9, width, "   next:"))
    left = len(warnings) - _MOST_WARNINGS
    return "\n".join([*lines, dim(f"  and {left} more: `surefit check`")] if left > 0 else lines)


def _what_to_do(view: PlanView, width: int) -> list[str]:
    """Why and next, in the words that `surefit train` refuses with."""
    words = view.not_fitting
    if words is None:
        return []
    return [
        paragraph(words.why, 7, width, "  why:"),
        paragraph(words.next_step, 7, width, " next:"),
    ]


def _memory(view: PlanView, width: int) -> list[str]:
    lines = [f"{heading('Memory')} at its peak ({view.moment}), against {view.budget} free"]
    labels = max((len(one.label) for one in view.bars), default=0)
    lines += [_bar_line(one, min(labels, 26), width) for one in view.bars]
    return [*lines, f"  {'together'.ljust(min(labels, 26))}  {view.peak}"]


def _bar_line(one: Bar, label_columns: int, width: int) -> str:
    drawn = bar(one.share, _BAR_COLUMNS, unicode=can_unicode())
    text = f"  {shortened(one.label, label_columns).ljust(label_columns)}  {drawn}  {one.size.rjust(8)}"
    rest = width - len(text) - 2
    return text + (dim("  " + shortened(one.why, rest)) if rest > 12 else "")


def _run(plan: Plan, view: PlanView, width: int) -> list[str]:
    training = plan.training
    time = view.time or "not known, because this machine's speed is not"
    size = parameters_text(plan.model.parameters.total)
    rows = [
        ("model", f"{plan.model.source} ({plan.model.architecture}, {size} parameters)"),
        *_origin(plan),
        (
            "steps",
            f"{count_text(training.steps)} of {_in_a_step(training)}; "
            f"{plural(training.rows, 'row')}, {training.epochs:g} {'time' if training.epochs == 1 else 'times'}",
        ),
        ("time", time),
        ("disk", _disk(view, plan)),
    ]
    return [heading("Run"), *(paragraph(text, 9, width, f"  {name}") for name, text in rows)]


def _origin(plan: Plan) -> list[tuple[str, str]]:
    """Where on the Hub the model is from, and what has to be fetched of it."""
    hub = plan.model.hub
    if hub is None:
        return []
    todo = f"{bytes_text(hub.download_bytes)} to fetch" if hub.download_bytes else "in the cache"
    return [("from", f"{hub.endpoint.partition('://')[2]}, commit {hub.commit[:7]}, {todo}")]


def _in_a_step(training: TrainingPlan) -> str:
    item = "packed sequence" if training.packing else "row"
    if training.batch > training.items:
        return f"all {plural(training.items, item)}, which never fill a batch of {count_text(training.batch)}"
    return f"{plural(training.batch, item)} ({_passes(training)})"


def _passes(training: TrainingPlan) -> str:
    on = f" on each of {training.ranks} ranks" if training.ranks > 1 else ""
    if training.accumulation == 1:
        return f"{training.micro_batch} at once{on}" if on else "all at once"
    return f"{training.micro_batch} at a time{on}, {training.accumulation} passes"


def _disk(view: PlanView, plan: Plan) -> str:
    needed = sum(one.bytes for one in plan.disk)
    parts = ", ".join(f"{one.label} {one.size}" for one in view.disk)
    return f"up to {bytes_text(needed)} of {bytes_text(plan.disk_free_bytes)} free" + (
        f" ({parts})" if parts else ""
    )


def _main_decisions(decisions: tuple[Decision, ...], width: int) -> list[str]:
    """What matters most, what was set by hand, and warnings; a reason in at most two lines."""
    chosen = [one for one in decisions if one.field in _FIRST or one.fixed_by_user or _warns(one)]
    lines = [heading("What was decided, and why")]
    for one in chosen:
        by = "you set it; " if one.fixed_by_user else ""
        text = shortened(f"{one.field} {_value(one.value)}: {by}{one.reason}", 2 * width - 12)
        wrapped = paragraph(text, 4, width, "  ")
        if _warns(one):
            lines.append(click.style(wrapped, fg="yellow"))
        else:
            lines.append(wrapped.replace(f"  {one.field}", f"  {heading(one.field)}", 1))
    left = len(decisions) - len(chosen)
    return (
        [*lines, dim(f"  {plural(left, 'more decision')}, and all reasons in full: --reasons")]
        if left
        else lines
    )


def _all_decisions(decisions: tuple[Decision, ...], width: int) -> list[str]:
    names = max((len(one.field) for one in decisions), default=0)
    lines = [heading("What was decided, and why")]
    for one in decisions:
        by = " (you set it)" if one.fixed_by_user else ""
        text = paragraph(
            f"{_value(one.value)}{by}: {one.reason}", names + 4, width, f"  {one.field}"
        )
        lines.append(click.style(text, fg="yellow") if _warns(one) else text)
    return lines


def _warns(one: Decision) -> bool:
    return one.reason.startswith("warning")


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return count_text(value)
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, dict):
        kind = [str(value["type"])] if "type" in value else []
        return ", ".join(
            kind + [f"{name} {_value(one)}" for name, one in value.items() if name != "type"]
        )
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"
    return "none" if value is None else str(value)


def _way_out(ways: tuple[WayOut, ...], fits: bool, width: int) -> list[str]:
    lines = [heading("Would need less" if fits else "What would fit better")]
    for way in ways:
        result = "same result" if way.same_result else "changes the result"
        words = f"{way.verdict.replace('_', ' ')}, {bytes_text(way.peak_bytes)}, {result}"
        lines.append(paragraph(f"{way.change}: {words}", 4, width, "  -"))
    return lines
