"""`surefit chat`: talk to the trained model of a run."""

import sys
from typing import TYPE_CHECKING

import click

from surefit.cli.output import json_option, print_json, say
from surefit.errors import UsageError

if TYPE_CHECKING:
    from surefit.supervise.answering import AnsweringModel

_HELP = "An empty line or Ctrl-D ends; /new begins a new conversation"


@click.command("chat")
@click.argument("run", metavar="RUN")
@click.option("--ask", metavar="TEXT", help="Ask one question, print the answer and end.")
@click.option("--base", is_flag=True, help="Ask the base model instead, as it was before training.")
@click.option("--system", metavar="TEXT", help="Begin the conversation with this system message.")
@click.option(
    "--max-tokens",
    type=click.IntRange(min=1),
    default=256,
    show_default=True,
    metavar="N",
    help="Cut an answer after N tokens.",
)
@json_option
def chat_command(
    run: str, ask: str | None, base: bool, system: str | None, max_tokens: int, as_json: bool
) -> None:
    """Talk to the trained model of RUN.

    With --ask, or when text is piped in, one question is answered and the command ends. Answers are
    greedy: the same question gets the same answer.
    """
    from surefit.runs import find_run_folder
    from surefit.supervise.answering import AnsweringModel

    folder = find_run_folder(run)
    question = _one_question(ask, as_json)
    start = [{"role": "system", "content": system}] if system else []
    model = AnsweringModel(folder, base=base)
    if sys.stderr.isatty() and question is None:
        say(f"loading the {'base' if base else 'trained'} model of {folder.id} ...")
    with model:
        if question is None:
            _talk(model, start, max_tokens)
            return
        answer = model.ask([*start, {"role": "user", "content": question}], max_tokens)
    if as_json:
        record = {"text": answer.text, "finished": answer.finished, "tokens": answer.tokens}
        print_json(
            {
                "run": folder.id,
                "model": "base" if base else "trained",
                "question": question,
                **record,
            }
        )
        return
    click.echo(answer.text)
    _say_if_cut(answer.finished, max_tokens)


def _one_question(ask: str | None, as_json: bool) -> str | None:
    """The question of --ask or of a pipe; None where a person sits at a terminal."""
    if ask is None and not sys.stdin.isatty():
        ask = sys.stdin.read()
    if ask is not None and not ask.strip():
        raise UsageError(
            "there is no question", "the text is empty", "type one: `--ask 'What can you do?'`"
        )
    if ask is None and as_json:
        raise UsageError(
            "--json needs a question",
            "a conversation is not one JSON value",
            "add `--ask 'What can you do?'`",
        )
    return ask


def _talk(model: "AnsweringModel", start: list[dict[str, str]], max_tokens: int) -> None:
    say(_HELP)
    messages = list(start)
    while (text := _typed()) is not None:
        if text == "/new":
            messages = list(start)
            say("a new conversation")
            continue
        messages.append({"role": "user", "content": text})
        answer = model.ask(messages, max_tokens)
        messages.append({"role": "assistant", "content": answer.text})
        click.echo(answer.text)
        _say_if_cut(answer.finished, max_tokens)


def _typed() -> str | None:
    try:
        text = input("you> ").strip()
    except EOFError:
        click.echo()
        return None
    return text or None


def _say_if_cut(finished: bool, max_tokens: int) -> None:
    if not finished:
        say(f"(cut after {max_tokens} tokens; --max-tokens allows more)")
