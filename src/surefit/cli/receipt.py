"""`surefit receipt`: where the time and the money of a run went."""

from datetime import datetime
from typing import TYPE_CHECKING

import click

from surefit.cli.drawing import heading, paragraph
from surefit.cli.output import json_option, print_json, width_now
from surefit.errors import UsageError
from surefit.units import dollars_text, plural, seconds_text

if TYPE_CHECKING:
    from surefit.supervise.receipt import Receipt

_LABEL = 11


@click.command("receipt")
@click.argument("run", metavar="RUN")
@json_option
def receipt_command(run: str, as_json: bool) -> None:
    """Add up the time and money of RUN by phase, and what was lost to which cause.

    Money needs `limits.dollars_per_hour` in the recipe. Fit to be sent to a provider's support: it holds
    no data, no paths of yours and no secrets.
    """
    from surefit.plan import Plan
    from surefit.runs import find_run_folder
    from surefit.supervise import observe
    from surefit.supervise.receipt import receipt_of

    folder = find_run_folder(run)
    plan = folder.read(folder.plan, Plan)
    if plan is None:
        raise UsageError(
            f"there is no receipt of {folder.id}",
            f"{folder.plan} is missing or damaged",
            f"look at what there is with `surefit show {folder.id}`",
        )
    receipt = receipt_of(folder, observe(folder), plan)
    if as_json:
        print_json(receipt.model_dump(mode="json"))
    else:
        click.echo("\n".join(receipt_lines(receipt, width_now())))


def receipt_lines(receipt: "Receipt", width: int) -> list[str]:
    """A receipt for a person."""
    price = receipt.dollars_per_hour
    rows = [
        ("machine", receipt.machine),
        ("begun", _moment(receipt.began)),
        ("ended", _moment(receipt.ended) if receipt.ended else "it goes on"),
        ("workers", plural(receipt.workers, "worker")),
        ("time", _amount(receipt.seconds, receipt.dollars)),
        ("price", f"{dollars_text(price)} an hour" if price is not None else "not known"),
    ]
    if receipt.waiting_seconds >= 1:
        rows.append(
            ("queue", f"{seconds_text(receipt.waiting_seconds)} without a worker, not counted")
        )
    if receipt.paused_seconds:
        rows.append(("paused", f"{seconds_text(receipt.paused_seconds)} of the time"))
    if receipt.cause:
        rows.append(("cause", receipt.cause))
    lines = [
        f"{heading(f'receipt of {receipt.run}')}  {receipt.state}, surefit {receipt.surefit_version}"
    ]
    lines += [paragraph(text, _LABEL, width, f"  {name}") for name, text in rows]
    lines += ["", heading("by phase")]
    names = max((len(line.name) for line in receipt.phases), default=0)
    whole = receipt.seconds or 1.0
    for line in receipt.phases:
        share = f"{line.seconds / whole:4.0%}"
        lines.append(f"  {line.name.ljust(names)}  {share}  {_amount(line.seconds, line.dollars)}")
    lines += ["", heading("lost")]
    if not receipt.lost:
        lines.append("  nothing: no work was done twice")
    for loss in receipt.lost:
        text = f"{_amount(loss.seconds, loss.dollars)}, {plural(loss.steps, 'step')}: {loss.cause}"
        lines.append(paragraph(text, 4, width, "  - "))
    return lines


def _amount(seconds: float, dollars: float | None) -> str:
    return seconds_text(seconds) + (f" ({dollars_text(dollars)})" if dollars is not None else "")


def _moment(time: float) -> str:
    return datetime.fromtimestamp(time).astimezone().strftime("%Y-%m-%d %H:%M:%S %z")
