"""`surefit why`: the cause of a run's end, and what to do next."""

import click

from surefit.cli.output import json_option, print_json, say, width_now
from surefit.errors import ExitCode


@click.command("why")
@click.argument("run", metavar="RUN")
@json_option
def why_command(run: str, as_json: bool) -> ExitCode:
    """Say why RUN ended as it did: the cause, the lines that show it, and what to do next.

    Ends with 0 when there is an answer, also for a run that is done or still going.
    """
    from surefit.cli.diagnose import diagnosis_lines
    from surefit.cli.ending import ending_text, view_record
    from surefit.runs import RunState, find_run_folder
    from surefit.supervise import observe

    view = observe(find_run_folder(run))
    if as_json:
        # The exit code of a command that had stayed with the run is no fact about its end.
        record = {name: value for name, value in view_record(view).items() if name != "exit_code"}
        print_json({**record, "exit": view.exit.model_dump(mode="json") if view.exit else None})
    elif not view.state.is_final:
        click.echo(
            f"{view.run.id} has not ended: it is {view.state}"
            + (f"; {view.cause}" if view.cause else "")
            + (f"; {view.unwatched}" if view.unwatched else "")
        )
        say(f"follow it with `surefit logs -f {view.run.id}`")
    elif view.diagnosis is not None and view.state in (RunState.FAILED, RunState.LOST):
        click.echo(f"{view.run.id}: {view.state}")
        click.echo("\n".join(diagnosis_lines(view.diagnosis, width_now())))
    else:
        click.echo(ending_text(view))
    return ExitCode.DONE
