"""`surefit plan`: the verdict, before anything is started."""

from pathlib import Path

import click

from surefit.cli.output import json_option, print_json, recipe_options, say
from surefit.errors import ExitCode


@click.command("plan")
@recipe_options
@click.option("--reasons", is_flag=True, help="Show every decision with its whole reason.")
@click.option(
    "--trace",
    "traces",
    is_flag=True,
    help="Also run the real modules for two steps on tensors without contents (seconds; kept).",
)
@json_option
def plan_command(
    recipe: Path, changes: tuple[str, ...], reasons: bool, traces: bool, as_json: bool
) -> ExitCode:
    """Say whether RECIPE fits this machine, and show every number of the run with its reason.

    Nothing is started. Ends with 0 when it fits or only a rehearsal can tell, with 1 when it does not.
    """
    from surefit.recipe import load_recipe, naming_places
    from surefit.supervise import preflight
    from surefit.supervise.tracing import trace_plan

    loaded = load_recipe(recipe, changes)
    with naming_places(loaded):
        found = preflight(loaded, say=say)
        plan = found.plan
    trace = trace_plan(plan, found.report) if traces else None
    if as_json:
        traced = {"trace": trace.model_dump(mode="json")} if trace else {}
        warned = [one.model_dump(mode="json") for one in found.warnings]
        print_json(plan.model_dump(mode="json") | {"data_warnings": warned} | traced)
    else:
        from surefit.cli.planview import plan_text, warnings_text

        click.echo(plan_text(plan, all_reasons=reasons) + warnings_text(found.warnings))
    if trace and not as_json:
        from surefit.cli.output import width_now
        from surefit.cli.traceview import trace_text

        click.echo("\n" + trace_text(trace, plan.training.device, width_now()))
    return ExitCode.NO if plan.verdict == "does_not_fit" else ExitCode.DONE
