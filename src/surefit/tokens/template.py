"""A model's chat template: Jinja text from a folder that we do not trust, run in a sandbox.

The template sees what transformers shows it (globals, filters, block settings and the special
tokens as variables), so that its text is the same, letter for letter.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from surefit.tokens.refusal import TemplateRefusalError

__all__ = [
    "REASONING_KEYS",
    "ChatTemplate",
    "Message",
    "Span",
    "TemplateRefusalError",
    "prepared_message",
]

Message = Mapping[str, Any]
Span = tuple[int, int]

# Older names of the same thing; the first is what templates read (transformers aliases them alike).
_SPECIAL_NAMES = (
    "bos_token",
    "eos_token",
    "unk_token",
    "sep_token",
    "pad_token",
    "cls_token",
    "mask_token",
)
REASONING_KEYS = ("reasoning_content", "thinking", "reasoning")


class ChatTemplate:
    """A chat template, compiled when it is first rendered or by `compile`.

    Args:
        source: the Jinja text; None where a model has none: every conversation is then refused.
        special_tokens: names such as ``bos_token`` with their text; visible to the template.
        arguments: further variables of every rendering, such as ``enable_thinking``.
    """

    def __init__(
        self,
        source: str | None,
        special_tokens: Mapping[str, str],
        arguments: Mapping[str, Any] | None = None,
    ) -> None:
        self.is_missing = source is None
        self.source = source = source or ""
        self._special_tokens = dict(special_tokens)
        self._arguments = dict(arguments or {})
        self.marks_answers = "endgeneration" in source

    @cached_property
    def _rendered(self) -> Callable[..., str]:
        # Loaded when a conversation is rendered: a plan of prepared rows needs no Jinja.
        from surefit.tokens.sandbox import compile_template

        return compile_template(self.source)

    def compile(self) -> None:
        """Compile now.

        Raises:
            Refused: the text is not a Jinja template.
        """
        if not self.is_missing:
            _ = self._rendered

    def with_arguments(self, arguments: Mapping[str, Any]) -> "ChatTemplate":
        """The same template, rendered with further variables."""
        source = None if self.is_missing else self.source
        return ChatTemplate(source, self._special_tokens, {**self._arguments, **arguments})

    def reads(self) -> frozenset[str]:
        """The names of the variables that the template reads."""
        from surefit.tokens.sandbox import variables_read

        return variables_read(self.source)

    def reads_of_its_own(self) -> frozenset[str]:
        """Those of them that nothing but an argument gives."""
        given = {"messages", "tools", "documents", "add_generation_prompt", *_SPECIAL_NAMES}
        return self.reads() - given

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
        if self.is_missing:
            raise TemplateRefusalError("the model has no chat template")
        marked = self._rendered(
            messages=[prepared_message(message) for message in messages],
            tools=list(tools) if tools else None,
            documents=None,
            add_generation_prompt=add_generation_prompt,
            **{**self._special_tokens, **self._arguments, **(arguments or {})},
        )
        if not self.marks_answers:
            return marked, []
        from surefit.tokens.generation import take_out_marks

        return take_out_marks(marked)


def prepared_message(message: Message) -> Message:
    """A message as the template sees it: no null values, reasoning under all of its names."""
    if len(message) == 2 and None not in (message.get("role"), message.get("content")):
        return message  # the sandbox lets no template change it
    shown = {key: value for key, value in message.items() if value is not None}
    for key in REASONING_KEYS:
        if key in shown:
            return {"thinking": shown[key], **shown, "reasoning_content": shown[key]}
    return shown
