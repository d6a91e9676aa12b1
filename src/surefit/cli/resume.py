"""`surefit resume`: go on where an interrupted run stopped."""

import click

from surefit.cli.output import json_option


@click.command("resume")
@click.argument("run", metavar="[RUN]", required=False)
@click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="FIELD=VALUE",
    help="Change a limit, such as `limits.hours=8`; nothing else may change in a run that goes on.",
)
@click.option(
    "--old-data",
    is_flag=True,
    help="Go on with the rows the run began with, although the data file has changed since.",
)
@click.option("--detach", is_flag=True, help="Start the worker and return at once.")
@json_option
def resume_command(
    run: str | None, changes: tuple[str, ...], old_data: bool, detach: bool, as_json: bool
) -> int:
    """Go on with RUN, which was stopped, failed or lost; without RUN, with the newest such run.

    It goes on from the newest checkpoint whose files all have the size and the hash they were written
    with; a broken one is passed over and named. The losses and the model are the same as if it had
    never stopped. Refused when the base model or the data are not those it began with.
    """
    from surefit.cli.launching import launch_again
    from surefit.runs import find_run_folder
    from surefit.supervise import newest_interrupted

    folder = find_run_folder(run) if run else newest_interrupted()
    return launch_again(folder, changes, old_data=old_data, detach=detach, as_json=as_json)
