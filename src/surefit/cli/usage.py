"""click's complaints about a command line, in the words of surefit."""

import re

import click

from surefit.errors import SurefitError, UsageError


def in_our_words(error: click.ClickException) -> SurefitError:
    """A UsageError that says what, why and what to type."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "surefit"
    see = f"see `{command} --help`"
    if isinstance(error, click.NoSuchOption):
        near = sorted(error.possibilities or [])
        return UsageError(
            f"{command} has no option {error.option_name}",
            _options(context),
            f"did you mean {near[0]}?" if near else see,
        )
    if isinstance(error, click.MissingParameter):
        return _missing(error, command, see)
    if isinstance(error, click.BadParameter):
        name = _name(error)
        return UsageError(
            f"{name} is wrong: {_sentence(error)}", f"`{command}` cannot use this value", see
        )
    return UsageError(
        f"{_sentence(error)}", f"`{command}` was typed in a way it does not have", see
    )


def _missing(error: click.MissingParameter, command: str, see: str) -> UsageError:
    name = _name(error)
    examples = {"RECIPE": "recipe.yaml", "RUN": "RUN-ID", "FILE": "chats.jsonl"}
    example = examples.get(name)
    next_step = f"type `{command} {example}`; {see}" if example else see
    if name == "RUN":
        next_step = f"type `{command} RUN`; `surefit runs` lists them"
    return UsageError(
        f"{command} needs {name}", f"it works on one {name} and none was named", next_step
    )


def _name(error: click.BadParameter) -> str:
    parameter = error.param
    if parameter is None:
        return error.param_hint if isinstance(error.param_hint, str) else "an argument"
    if isinstance(parameter, click.Option):
        return max(parameter.opts, key=len)
    return str(parameter.metavar or parameter.human_readable_name)


def _options(context: click.Context | None) -> str:
    if context is None:
        return "the option is unknown"
    names = [
        max(option.opts, key=len)
        for option in context.command.params
        if isinstance(option, click.Option)
    ]
    return f"its options are {', '.join(names)}" if names else "it takes no options"


def _sentence(error: click.ClickException) -> str:
    text = re.sub(
        r"is not in the range x>=(\S+?)\.?$",
        r"is less than \1, the smallest possible",
        error.message,
    )
    text = text.rstrip(".")
    return text[:1].lower() + text[1:] if text else "the command line is wrong"
