"""Which characters of a rendered conversation the assistant writes, its end of turn included.

Where the template has `{% generation %}` blocks, they say it. Else the conversation is rendered
up to each answer, and up to its end, and both texts are checked to be prefixes of the whole: what
lies between them is the answer. Where a template prints an earlier turn otherwise than a last one
(Qwen 3 drops old reasoning), the end is found behind the answer's own text instead. Nothing is
guessed from a table of markers: a conversation whose answers cannot be told apart is refused.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from surefit.tokens.template import ChatTemplate, Message, Span, TemplateRefusalError

ANSWER_ROLES = frozenset({"assistant"})


def answer_spans(
    template: ChatTemplate,
    messages: Sequence[Message],
    ends: Sequence[str],
    tools: Sequence[Any] | None = None,
    arguments: Mapping[str, Any] | None = None,
) -> tuple[str, list[Span]]:
    """The rendered text and the span of every answer in it.

    Args:
        template: the model's chat template.
        messages: the conversation.
        ends: texts that end a turn, such as ``<|im_end|>``; white space behind one is not trained.
        tools: tool schemas for the template.
        arguments: further template arguments, such as ``enable_thinking``.

    Raises:
        TemplateRefusalError: the template refuses the conversation, or its answers cannot be told
            apart.
    """
    text, blocks = template.render_with_spans(messages, tools=tools, arguments=arguments)
    if template.marks_answers:
        return text, blocks
    finder = _Finder(template, messages, text, ends, tools, arguments)
    spans: list[Span] = []
    for index, message in enumerate(messages):
        if message.get("role") in ANSWER_ROLES:
            spans.append(finder.span_of(index, spans[-1][1] if spans else 0))
    return text, spans


class _Finder:
    """Finds the answers of one conversation."""

    def __init__(
        self,
        template: ChatTemplate,
        messages: Sequence[Message],
        text: str,
        ends: Sequence[str],
        tools: Sequence[Any] | None,
        arguments: Mapping[str, Any] | None,
    ) -> None:
        self.template, self.messages, self.text, self.ends = template, messages, text, ends
        self.tools, self.arguments = tools, arguments

    def span_of(self, index: int, earliest: int) -> Span:
        """The span of the answer in message `index`, which begins at or behind `earliest`."""
        start = self._start(index, earliest)
        end = self._end(index, start)
        if start is None or end is None or not earliest <= start < end:
            raise TemplateRefusalError(
                f"the template prints turn {index + 1} so that its answer cannot be told apart"
            )
        return start, self._without_tail(start, end)

    def _start(self, index: int, earliest: int) -> int | None:
        prefix = self._prefix_length(index, add_generation_prompt=True)
        if prefix is not None:
            return prefix
        place = self._place_of_content(index, earliest)
        return None if place is None else place[0]

    def _end(self, index: int, start: int | None) -> int | None:
        if index + 1 == len(self.messages):
            return len(self.text)
        prefix = self._prefix_length(index + 1, add_generation_prompt=False)
        if prefix is not None or start is None:
            return prefix
        place = self._place_of_content(index, start)
        if place is None:
            return None
        found = [at + len(end) for end in self.ends if (at := self.text.find(end, place[1])) >= 0]
        return min(found, default=None)

    def _prefix_length(self, count: int, *, add_generation_prompt: bool) -> int | None:
        """Length of the first `count` messages rendered, if the whole text begins with them."""
        try:
            prefix = self.template.render(
                self.messages[:count],
                add_generation_prompt=add_generation_prompt,
                tools=self.tools,
                arguments=self.arguments,
            )
        except TemplateRefusalError:
            return None
        return len(prefix) if self.text.startswith(prefix) else None

    def _place_of_content(self, index: int, earliest: int) -> Span | None:
        content = self.messages[index].get("content")
        if not isinstance(content, str) or not content.strip():
            return None
        bare = content.split("</think>")[-1].strip()
        at = self.text.find(bare, earliest)
        return (at, at + len(bare)) if at >= 0 else None

    def _without_tail(self, start: int, end: int) -> int:
        """The end of the answer, without white space behind its end of turn."""
        for mark in self.ends:
            at = self.text.rfind(mark, start, end)
            if at >= 0 and not self.text[at + len(mark) : end].strip():
                return at + len(mark)
        return end
