"""`surefit compare`: the same questions before and after training."""

import sys
from typing import TYPE_CHECKING

import click

from surefit.cli.drawing import dim, heading, mark, paragraph
from surefit.cli.output import json_option, print_json, say, width_now
from surefit.units import shortened

if TYPE_CHECKING:
    from surefit.supervise.comparison import ComparedRow, Comparison


@click.command("compare")
@click.argument("run", metavar="RUN")
@click.option(
    "--questions",
    metavar="FILE",
    required=True,
    help="JSONL of `messages` with the expected answer last; or `starter`.",
)
@click.option(
    "--limit", type=click.IntRange(min=1), metavar="N", help="Ask only the first N questions."
)
@click.option(
    "--max-tokens",
    type=click.IntRange(min=1),
    default=128,
    show_default=True,
    metavar="N",
    help="Cut an answer after N tokens.",
)
@click.option(
    "--show",
    "shown",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    metavar="N",
    help="Print the first N questions with their answers.",
)
@json_option
def compare_command(
    run: str, questions: str, limit: int | None, max_tokens: int, shown: int, as_json: bool
) -> None:
    """Ask the base model and the trained model of RUN the same questions.

    Prints each question with the expected answer and both answers, and how many are exactly as
    expected. All answers are generated token by token; nothing of the expected answer is shown to a
    model.
    """
    from surefit.runs import find_run_folder
    from surefit.supervise.comparison import compare, read_questions

    folder = find_run_folder(run)
    compared = compare(folder, read_questions(questions, limit), max_tokens, _told)
    if as_json:
        print_json(compared.as_dict())
    else:
        click.echo(_text(compared, shown))


def _told(model: str, done: int, total: int) -> None:
    if sys.stderr.isatty():
        end = "\n" if done == total else ""
        click.echo(f"\rthe {model} model answers: {done} of {total}", nl=False, err=True)
        click.echo(end, nl=False, err=True)
    elif done == 0:
        say(f"the {model} model answers {total} questions")


def _text(compared: "Comparison", shown: int) -> str:
    count = len(compared.rows)
    lines: list[str] = []
    for row in compared.rows[:shown]:
        lines += [*_row(row, width_now()), ""]
    if count > shown:
        lines += [dim(f"and {count - shown} more; --show {count} prints all"), ""]
    lines.append(heading(f"Exact answers of {count}"))
    for name, exact in (("before", compared.before), ("after", compared.after)):
        lines.append(f"  {name.ljust(7)} {exact:>5}  {exact / count:>6.1%}")
    return "\n".join(lines)


def _row(row: "ComparedRow", width: int) -> list[str]:
    lines = [paragraph(shortened(row.question, 300), 10, width, "question")]
    lines.append(paragraph(shortened(row.expected, 300), 10, width, "expected"))
    for name, text, exact in (
        ("before", row.before.text, row.before_exact),
        ("after", row.after.text, row.after_exact),
    ):
        verdict = mark("exact", True) if exact else mark("differs", False)
        lines.append(
            f"{paragraph(shortened(text, 300) or '(nothing)', 10, width - 10, name)}  {verdict}"
        )
    return lines
