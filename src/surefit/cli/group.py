"""The `surefit` command and the table of its commands, each imported when it is called."""

import difflib
import importlib
import os
from dataclasses import dataclass
from typing import Any

import click

from surefit.errors import UsageError


@dataclass(frozen=True)
class Entry:
    """A command: its module in `surefit.cli`, and the line that `surefit --help` shows."""

    name: str
    summary: str

    def load(self) -> click.Command:
        """Import the command."""
        command = getattr(
            importlib.import_module(f"surefit.cli.{self.name}"), f"{self.name}_command"
        )
        assert isinstance(command, click.Command)  # noqa: S101 - a bug of ours, held by a test
        return command


SECTIONS: dict[str, tuple[Entry, ...]] = {
    "Before a run": (
        Entry("recipe", "Print an example recipe, its schema, or what a recipe says."),
        Entry("hardware", "Show what this machine can train on."),
        Entry("check", "Look at training data: what is wrong with it, and how it is trained."),
        Entry("plan", "Say whether a recipe fits this machine, and every number of the run."),
        Entry("rehearse", "Prove a recipe in minutes: worst batch, save, reload, compare."),
    ),
    "A run": (
        Entry("train", "Train a recipe."),
        Entry("runs", "List the runs."),
        Entry("show", "Show one run: state, figures, files."),
        Entry("logs", "Show what a run printed; -f follows it."),
        Entry("stop", "Stop a run and keep its last checkpoint."),
        Entry("resume", "Go on with an interrupted run, from its newest good checkpoint."),
    ),
    "When it went wrong": (
        Entry("why", "Say why a run ended as it did, and what to do next."),
        Entry("diagnose", "Find the cause of a failed run from its folder alone."),
        Entry("receipt", "Add up time and money by phase, and what was lost to which cause."),
        Entry("bundle", "Pack what a run left behind, without data and secrets, to show it."),
    ),
    "With the trained model": (
        Entry("chat", "Talk to the trained model."),
        Entry("compare", "Ask the model the same questions before and after training."),
    ),
}
ENTRIES: dict[str, Entry] = {entry.name: entry for group in SECTIONS.values() for entry in group}


class SurefitGroup(click.Group):
    """A group whose help needs no command's code."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        return list(ENTRIES)

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = ENTRIES.get(cmd_name)
        return entry.load() if entry else None

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and not args[0].startswith("-") and args[0] not in ENTRIES:
            near = difflib.get_close_matches(args[0], ENTRIES, n=1, cutoff=0.5)
            raise UsageError(
                f"there is no command {args[0]!r}",
                "the commands are " + ", ".join(ENTRIES),
                f"did you mean `surefit {near[0]}`?" if near else "list them with `surefit --help`",
            )
        return super().resolve_command(ctx, args)

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, ENTRIES))
        for title, entries in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(entry.name.ljust(width), entry.summary) for entry in entries])


def _print_version(ctx: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if wanted:
        from surefit import __version__

        click.echo(f"surefit {__version__}")
        ctx.exit()


@click.group(
    cls=SurefitGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and exit.",
)
@click.pass_context
def surefit(ctx: click.Context) -> None:
    """Fine-tune language models: a verdict first, evidence at the end.

    Begin with `surefit recipe --example > recipe.yaml`, then `surefit plan recipe.yaml` and `surefit
    train recipe.yaml`. Every command takes --json and has its own --help.
    """
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        ctx.color = False
