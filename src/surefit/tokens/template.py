"""A model's chat template: Jinja text from a folder that we do not trust, run in a sandbox.

The template sees what transformers shows it (globals, filters, block settings and the special
tokens as variables), so that its text is the same, letter for letter.
"""

import datetime
import json
from collections.abc import Mapping, Sequence
from typing import Any

import jinja2
import jinja2.ext
import jinja2.sandbox

from surefit.errors import Refused
from surefit.tokens.generation import GenerationBlocks, take_out_marks

Message = Mapping[str, Any]
Span = tuple[int, int]

# Older names of the same thing; the first is what templates read (transformers aliases them alike).
_PLAIN = {"role", "content"}
REASONING_KEYS = ("reasoning_content", "thinking", "reasoning")


class TemplateRefusalError(Exception):
    """The template does not take this conversation. The text says why, in the template's words."""


class ChatTemplate:
    """A compiled chat template.

    Args:
        source: the Jinja text.
        special_tokens: names such as ``bos_token`` with their text; visible to the template.

    Raises:
        Refused: the text is not a Jinja template.
    """

    def __init__(self, source: str, special_tokens: Mapping[str, str]) -> None:
        self.source = source
        self._special_tokens = dict(special_tokens)
        try:
            self._template = _environment().from_string(source)
        except jinja2.TemplateSyntaxError as error:
            raise Refused(
                "the chat template of the model cannot be read",
                f"line {error.lineno} of the template: {error.message}",
                "take the template from the model's original folder again, or correct that line",
            ) from error
        self.marks_answers = "endgeneration" in source

    def render(
        self,
        messages: Sequence[Message],
        *,
        add_generation_prompt: bool = False,
        tools: Sequence[Any] | None = None,
        arguments: Mapping[str, Any] | None = None,
    ) -> str:
        """The conversation as one text.

        Raises:
            TemplateRefusalError: the template refuses the conversation, or fails on it.
        """
        return self.render_with_spans(
            messages, add_generation_prompt=add_generation_prompt, tools=tools, arguments=arguments
        )[0]

    def render_with_spans(
        self,
        messages: Sequence[Message],
        *,
        add_generation_prompt: bool = False,
        tools: Sequence[Any] | None = None,
        arguments: Mapping[str, Any] | None = None,
    ) -> tuple[str, list[Span]]:
        """The text and the character spans of its `{% generation %}` blocks, in order."""
        try:
            marked = self._template.render(
                messages=[prepared_message(message) for message in messages],
                tools=list(tools) if tools else None,
                documents=None,
                add_generation_prompt=add_generation_prompt,
                **{**self._special_tokens, **(arguments or {})},
            )
        except jinja2.TemplateError as error:
            raise TemplateRefusalError(error.message or str(error)) from error
        except (TypeError, ValueError, KeyError, AttributeError, IndexError) as error:
            raise TemplateRefusalError(
                f"the template fails on this conversation: {error}"
            ) from error
        except (RecursionError, OverflowError, MemoryError) as error:
            raise TemplateRefusalError(
                f"the template does not end: {type(error).__name__}"
            ) from error
        if not self.marks_answers:
            return marked, []
        return take_out_marks(marked)


def prepared_message(message: Message) -> Message:
    """A message as the template sees it: no null values, reasoning under all of its names."""
    if message.keys() == _PLAIN and None not in message.values():
        return message  # the sandbox lets no template change it
    shown = {key: value for key, value in message.items() if value is not None}
    for key in REASONING_KEYS:
        if key in shown:
            return {"thinking": shown[key], **shown, "reasoning_content": shown[key]}
    return shown


class _Namespace(jinja2.utils.Namespace):
    """Jinja's namespace without names that begin with an underscore (a way out of the sandbox)."""

    def __setitem__(self, name: str, value: Any) -> None:
        if name.startswith("_"):
            raise jinja2.exceptions.SecurityError(f"the template may not set {name!r}")
        super().__setitem__(name, value)


def _environment() -> jinja2.sandbox.ImmutableSandboxedEnvironment:
    environment = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=[GenerationBlocks, jinja2.ext.loopcontrols],
    )
    environment.filters["tojson"] = _to_json
    environment.globals["raise_exception"] = _raise_exception
    environment.globals["strftime_now"] = _strftime_now
    environment.globals["namespace"] = _Namespace
    return environment


def _to_json(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """JSON as models saw it in training: no HTML escapes, which Jinja's own filter adds."""
    return json.dumps(
        value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
    )


def _raise_exception(message: str) -> None:
    raise jinja2.exceptions.TemplateError(message)


def _strftime_now(pattern: str) -> str:
    return datetime.datetime.now().strftime(pattern)
