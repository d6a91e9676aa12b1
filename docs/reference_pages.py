"""The text of every reference page, read from types, registries and docstrings."""

import inspect
import re

import click
from markdown_text import anchor, docstring, table, words
from pydantic import BaseModel

from surefit.cli.group import SECTIONS, surefit
from surefit.data.checks import CHECKS
from surefit.data.formats import FORMATS
from surefit.diagnose.diagnosis import Diagnosis
from surefit.diagnose.signatures import SIGNATURES
from surefit.errors import ExitCode, WorkerExit
from surefit.recipe.example import EXAMPLE
from surefit.recipe.fields import RecipeField, fields
from surefit.runs import event, folder, result
from surefit.runs.state import MOVES, RunState

EVENTS = (event.Status, event.Phase, event.Metric, event.Checkpoint, event.Problem, event.Note)
RECORDS: dict[str, type[BaseModel]] = {
    "result.json": result.Result,
    "exit.json": result.ExitStatus,
    "heartbeats/rank&lt;N&gt;.json": result.Heartbeat,
    "diagnosis.json": Diagnosis,
}
SEVERITIES = {
    "refuse": "the data cannot be trained until it is repaired",
    "warn": "it can be trained; look at it first",
    "info": "worth knowing",
}
COMMAND_EXITS = {
    ExitCode.DONE: "Done, with evidence.",
    ExitCode.NO: "The answer is no: it does not fit, the data is refused, the run failed.",
    ExitCode.USAGE: "The command, an option, an id or the recipe is wrong.",
    ExitCode.OUTSIDE: "The outside world failed: disk, permission, network, another program.",
    ExitCode.BUG: "A bug of surefit; a traceback is shown.",
    ExitCode.INTERRUPTED: "Ctrl-C.",
}
WORKER_EXITS = {
    WorkerExit.DONE: "The worker says it is done; `result.json` has to prove it.",
    WorkerExit.DATA: "The data or the plan cannot be trained.",
    WorkerExit.INPUT_MISSING: "A file that the run needs is missing or unreadable.",
    WorkerExit.NO_RESOURCE: "A device or another resource is not there.",
    WorkerExit.BUG: "A bug of surefit or of a library.",
    WorkerExit.GPU_MEMORY: "The memory of the GPU ran out.",
    WorkerExit.HOST_MEMORY: "The memory of the machine ran out.",
    WorkerExit.DISK: "The disk is full.",
    WorkerExit.NETWORK: "The network failed.",
    WorkerExit.TEMPORARY: "Stopped with a checkpoint; starting again goes on from it.",
    WorkerExit.NUMERIC: "A loss or gradient is not a finite number.",
    WorkerExit.NO_PERMISSION: "A permission is missing.",
    WorkerExit.CONFIGURATION: "What runs is not what was declared, or cannot be run at all.",
    WorkerExit.HANG: "No progress for too long.",
    WorkerExit.BUDGET: "A limit of the recipe was reached; a checkpoint is written.",
}


def recipe_page() -> str:
    """Every field, then a whole recipe."""
    head = (
        "# The recipe\n\n"
        "A recipe is the one file that you write. Paths in it are relative to its own folder. An "
        "unknown key is an "
        "error that names the nearest one. Every field can also be set on the command line: "
        "`--set goal.epochs=3`. `surefit recipe --schema` prints all this as JSON schema.\n\n"
    )
    rows = table(
        ("field", "value", "default", "meaning"),
        ((f"`{one.path}`", one.type_words, _default(one), _meaning(one)) for one in fields()),
    )
    example = f"`surefit recipe --example` prints this:\n\n```yaml\n{EXAMPLE}```\n"
    return f"{head}{rows}\n## A whole recipe\n\n{example}"


def _default(field: RecipeField) -> str:
    if field.required:
        return "needed"
    return f"`{field.default_text}`" if field.default_text else ""


def _meaning(field: RecipeField) -> str:
    return f"({field.part} only) {field.description}" if field.part else field.description


def cli_page() -> str:
    """Every command with its options, as `--help` words them."""
    parts = [
        "# Commands\n\n"
        "Data goes to stdout, words to stderr; every command takes `--json`. "
        "What the exit codes mean: [exit-codes.md](exit-codes.md).\n"
    ]
    context = click.Context(surefit, info_name="surefit")
    for title, entries in SECTIONS.items():
        parts.append(f"\n## {title}\n")
        parts += [_command(entry.name, entry.load(), context) for entry in entries]
    return "".join(parts)


def _command(name: str, command: click.Command, parent: click.Context) -> str:
    context = click.Context(command, info_name=name, parent=parent)
    usage = " ".join(["surefit", name, *command.collect_usage_pieces(context)])
    options = [record for one in command.params if (record := one.get_help_record(context))]
    rows = table(("option", "meaning"), ((f"`{option}`", text) for option, text in options))
    return f"\n### surefit {name}\n\n    {usage}\n\n{_help_text(command)}\n\n{rows}"


def _help_text(command: click.Command) -> str:
    """The help in Markdown: click's unwrapped examples become blocks of code."""
    paragraphs = []
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        unwrapped = paragraph.startswith("\b")
        lines = [line.strip() for line in paragraph.strip("\b\n").splitlines()]
        paragraphs.append(
            "\n".join(f"    {line}" for line in lines) if unwrapped else " ".join(lines)
        )
    return "\n\n".join(paragraphs)


def checks_page() -> str:
    """Every data check: its docstring is its text."""
    ordered = sorted(CHECKS, key=lambda check: check.code)
    rows = table(
        ("code", "finds", "severity"),
        (
            (f"[{one.code}](#{anchor(one.code, one.title)})", one.title, one.severity)
            for one in ordered
        ),
    )
    legend = "".join(f"- `{name}`: {meaning}\n" for name, meaning in SEVERITIES.items())
    parts = [
        "# Data checks\n\n"
        "`surefit check` and `surefit plan` read every row before anything is trained. Each "
        "finding has a code, and "
        f"each code is explained here.\n\n{legend}\n{rows}"
    ]
    for one in ordered:
        dropped = " Rows that it finds are not trained." if one.drops_row else ""
        parts.append(
            f"\n## {one.code} {one.title}\n\nSeverity: "
            f"`{one.severity}`.{dropped}\n\n{docstring(one)}\n"
        )
    return "".join(parts)


def formats_page() -> str:
    """Every format of rows with the columns that it is known by."""
    rows = table(
        ("format", "columns", "also read", "other names", "trained today"),
        (
            (
                f"`{one.name}`",
                words(one.columns.needed),
                words(one.columns.optional),
                words(f"{other}` = `{name}" for other, name in one.columns.aliases.items()),
                "yes" if one.trainable else "no, checked only",
            )
            for one in FORMATS
        ),
    )
    return (
        "# Formats of training data\n\n"
        "The format is recognised from the columns of the first rows, in this order; `surefit check` says "
        "which one it took and why. `data.format` fixes it, `data.columns` names columns of your own.\n\n"
        f"{rows}"
    )


def failures_page() -> str:
    """Every signature: its docstring is its text."""
    ordered = sorted(SIGNATURES, key=lambda one: one.code)
    rows = table(
        ("code", "class", "failure"),
        (
            (
                f"[{one.code}](#{anchor(one.code, one.failure_class)})",
                f"`{one.failure_class}`",
                one.title,
            )
            for one in ordered
        ),
    )
    parts = [
        "# Failures\n\n"
        "`surefit why` names the cause of a run's end, with the lines that show it. Where nothing "
        "here matches, "
        f"it says `UNKNOWN` and shows what there is.\n\n{rows}"
    ]
    for one in ordered:
        again = (
            "Starting again may help." if one.retryable else "Starting again unchanged fails again."
        )
        parts.append(
            f"\n## {one.code} {one.failure_class}\n\n**{one.title}.** {again}\n\n{docstring(one)}\n"
        )
    return "".join(parts)


def exit_codes_page() -> str:
    """The two tables of exit codes."""
    commands = table(
        ("code", "meaning"), ((str(code.value), COMMAND_EXITS[code]) for code in ExitCode)
    )
    workers = table(
        ("code", "name", "meaning"),
        ((str(code.value), f"`{code.name}`", WORKER_EXITS[code]) for code in WorkerExit),
    )
    return (
        f"# Exit codes\n\n## Of the commands\n\n{commands}\n"
        "## Of the worker\n\nThe process that trains ends with one of these; `exit.json` in the "
        "run folder keeps it. "
        f"Numbers from 64 to 78 follow sysexits where that has a number.\n\n{workers}"
    )


def events_page() -> str:
    """The run folder, the states, and every field of every line."""
    tree = inspect.cleandoc(folder.__doc__ or "").split("\n\n", 1)[1]
    moves = table(
        ("state", "can be followed by"),
        (
            (
                f"`{state}`",
                ", ".join(f"`{after}`" for after in RunState if after in MOVES[state]) or "nothing",
            )
            for state in RunState
        ),
    )
    parts = [
        "# The run folder\n\nA run is a folder under `$SUREFIT_HOME/runs` (without SUREFIT_HOME: "
        "`~/.surefit/runs`). "
        f"Copy it, keep it, delete it: nothing else knows more about the run.\n\n{tree}\n\n"
        f"## States\n\n{moves}\n## Lines of events.jsonl\n\n"
        "One JSON object a line, told apart by `kind`; fields that are empty are left out. "
        "The number of a line is its id.\n",
        *(_record(f"`{kind.model_fields['kind'].default}`", kind) for kind in EVENTS),
        "\n## Other files\n",
        *(_record(name, kind) for name, kind in RECORDS.items()),
    ]
    return "".join(parts)


def _record(title: str, kind: type[BaseModel]) -> str:
    rows = table(
        ("field", "type", "meaning"),
        (
            (f"`{info.alias or name}`", f"`{_type_name(info.annotation)}`", info.description or "")
            for name, info in kind.model_fields.items()
            if name != "kind" or kind is result.Result
        ),
    )
    return f"\n### {title}\n\n{docstring(kind)}\n\n{rows}"


def _type_name(annotation: object) -> str:
    text = (
        annotation.__name__
        if isinstance(annotation, type) and "[" not in str(annotation)
        else str(annotation)
    )
    text = re.sub(r"\b(?:typing|datetime|surefit(?:\.\w+)*)\.", "", text)
    return text.replace("NoneType", "None")
