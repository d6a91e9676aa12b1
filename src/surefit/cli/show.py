"""`surefit show`: one run on one screen."""

import time
from typing import TYPE_CHECKING, Any

import click

from surefit.cli.drawing import heading, mark, paragraph, sparkline
from surefit.cli.output import can_unicode, json_option, print_json, width_now
from surefit.units import bytes_text, count_text, plural, seconds_text

if TYPE_CHECKING:
    from surefit.cli.progress import Progress
    from surefit.plan import Plan
    from surefit.runs import RunFolder
    from surefit.supervise import RunView


@click.command("show")
@click.argument("run", metavar="RUN")
@json_option
def show_command(run: str, as_json: bool) -> None:
    """Show RUN: its state with the cause, what was planned, the figures so far, and its files."""
    from surefit.cli.progress import Progress
    from surefit.plan import Plan
    from surefit.runs import find_run_folder
    from surefit.supervise import observe

    folder = find_run_folder(run)
    view = observe(folder)
    progress = Progress()
    for _, event in folder.read_events():
        progress.see(event)
    plan = folder.read(folder.plan, Plan)
    if as_json:
        print_json(_record(view, progress, plan))
    else:
        click.echo(_text(view, progress, plan))


def _text(view: "RunView", progress: "Progress", plan: "Plan | None") -> str:
    from surefit.cli.ending import GOOD, LABEL, ending_text

    width, run = width_now(), view.run
    if view.state.is_final:
        lines = [ending_text(view), ""]
    else:
        lines = [f"{mark(str(view.state), GOOD.get(view.state))} {heading(run.id)}"]
        lines += [paragraph(view.cause, 2, width, "  ")] if view.cause else []
        lines += [paragraph(view.unwatched, 2, width, "  ")] if view.unwatched else []
    rows = [*_now(progress), *_planned(plan), ("folder", str(run.path)), *_files(run)]
    return "\n".join(lines + [paragraph(text, LABEL, width, f"  {name}") for name, text in rows])


def _now(progress: "Progress") -> list[tuple[str, str]]:
    from surefit.cli.progress import PHASE_WORDS

    rows = []
    if progress.current is not None and not progress.state.is_final:
        since = seconds_text(max(0.0, time.time() - progress.current.began))
        rows.append(("phase", f"{PHASE_WORDS[progress.current.name]}, for {since}"))
    if progress.last is not None:
        last = progress.last
        rows.append(("step", f"{count_text(last.step)} of {count_text(last.steps)}"))
        if progress.losses:
            course = sparkline(progress.losses, 24, unicode=can_unicode())
            rows.append(
                ("loss", f"{progress.losses[0]:.4f} to {progress.losses[-1]:.4f}  {course}")
            )
        if progress.seconds_left and not progress.state.is_final:
            rows.append(("time left", f"about {seconds_text(progress.seconds_left)}"))
        if last.memory_bytes:
            rows.append(("memory", bytes_text(last.memory_bytes)))
    return rows


def _planned(plan: "Plan | None") -> list[tuple[str, str]]:
    if plan is None:
        return []
    training = plan.training
    what = f"{training.method.type} on {plan.model.source}, {plural(training.steps, 'step')} of {training.batch} rows"
    return [
        (
            "plan",
            f"{plan.verdict.replace('_', ' ')}; {what}; {bytes_text(plan.peak_bytes)} at the peak",
        )
    ]


def _files(run: "RunFolder") -> list[tuple[str, str]]:
    steps = sorted(
        int(path.parent.name[5:]) for path in run.checkpoints.glob("step-*/manifest.json")
    )
    return [("checkpoints", "steps " + ", ".join(map(count_text, steps)))] if steps else []


def _record(view: "RunView", progress: "Progress", plan: "Plan | None") -> dict[str, Any]:
    from surefit.cli.ending import view_record

    last = progress.last
    current = progress.current
    return {
        **view_record(view),
        "phase": current.name if current and not view.state.is_final else None,
        "metric": last.model_dump(mode="json") if last else None,
        "seconds_left": progress.seconds_left if not view.state.is_final else None,
        "eval_loss": progress.eval_loss,
        "plan": {
            "verdict": plan.verdict,
            "peak_bytes": plan.peak_bytes,
            "steps": plan.training.steps,
        }
        if plan
        else None,
    }
