"""Which characters of a rendered conversation the assistant writes, its end of turn included.

Where the template has `{% generation %}` blocks, they say it. Else the conversation is rendered
up to each answer, and up to its end, and both texts are checked to be prefixes of the whole: what
lies between them is the answer. Where a template prints an earlier turn otherwise than a last one
(Qwen 3 drops old reasoning), the end is found behind the answer's own text instead. Nothing is
guessed from a table of markers: a conversation whose answers cannot be told apart is refused.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from surefit.tokens.template import ChatTemplate, Message, Span, TemplateRefusalError

ANSWER_ROLES = frozenset({"assistant"})
_MARK = "\ufdd2"  # reserved by Unicode for use inside a program
ANSWERS_ONLY: Mapping[str, float] = {"assistant": 1.0}
# A header of a turn ends with a line end or a closing bracket, never inside a word.
_HEADER_END = re.compile(r".*[\n>\]]", re.DOTALL)


Loss = Literal["answers", "last_answer", "all"]


def answer_spans(
    template: ChatTemplate,
    messages: Sequence[Message],
    ends: Sequence[str],
    tools: Sequence[Any] | None = None,
    arguments: Mapping[str, Any] | None = None,
    loss: Loss = "answers",
    role_weights: Mapping[str, float] = ANSWERS_ONLY,
) -> tuple[str, list[Span], list[float] | None]:
    """The rendered text, the spans of it that carry loss, and how much each weighs.

    Weights are None where all of them are 1.

    Args:
        template: the model's chat template.
        messages: the conversation; a `weight` in a turn multiplies that of its role.
        ends: texts that end a turn, such as ``<|im_end|>``; white space behind one is not trained.
        tools: tool schemas for the template.
        arguments: further template arguments, such as ``enable_thinking``.
        loss: every answer, the last one only, or all of the text.
        role_weights: weight of each role that carries loss; of a role other than the assistant the
            words and the token that ends the turn.

    Raises:
        TemplateRefusalError: the template refuses the conversation, or hides where answers are.
    """
    text, blocks = template.render_with_spans(messages, tools=tools, arguments=arguments)
    if loss == "all":
        return text, [(0, len(text))], None
    weights = turn_weights(messages, loss, role_weights)
    answers = [index for index, turn in enumerate(messages) if turn.get("role") in ANSWER_ROLES]
    finder = _Finder(template, messages, text, ends, tools, arguments)
    if template.marks_answers and all(weights[index] == 1 for index in answers):
        spans, borne = list(blocks), [1.0] * len(blocks)
    else:
        found = _spans_of_answers(finder, answers, blocks, template.marks_answers)
        spans = [found[index] for index in answers if weights[index]]
        borne = [weights[index] for index in answers if weights[index]]
    for index, weight in enumerate(weights):
        if weight and index not in answers:
            spans.append(finder.span_of_words(index))
            borne.append(weight)
    return text, spans, borne if any(weight != 1 for weight in borne) else None


def turn_weights(
    messages: Sequence[Message], loss: Loss, role_weights: Mapping[str, float]
) -> list[float]:
    """How much each turn weighs in the loss."""
    weights = [role_weights.get(str(turn.get("role")), 0.0) * _weight_in(turn) for turn in messages]
    if loss == "last_answer":
        answers = [index for index, turn in enumerate(messages) if turn.get("role") in ANSWER_ROLES]
        for index in answers[:-1]:
            weights[index] = 0.0
    return weights


def _weight_in(turn: Message) -> float:
    weight = turn.get("weight")
    return 1.0 if weight is None else float(weight)


def _spans_of_answers(
    finder: "_Finder", answers: Sequence[int], blocks: Sequence[Span], marked: bool
) -> dict[int, Span]:
    """The span of each answer, by the index of its turn."""
    if marked and len(answers) != len(blocks):
        raise TemplateRefusalError(
            f"the template marks {len(blocks)} answers where the conversation has {len(answers)}, "
            "so single answers cannot be left out of the loss"
        )
    if marked:
        return dict(zip(answers, blocks, strict=True))
    found: dict[int, Span] = {}
    behind = 0
    for index in answers:
        found[index] = finder.span_of(index, behind)
        behind = found[index][1]
    return found


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

    def span_of_words(self, index: int) -> Span:
        """The words of a turn that the assistant does not write, with the token that ends it.

        The conversation is rendered with a mark in place of the words: what stands before and behind
        the mark stands before and behind the words.
        """
        marked = [*self.messages]
        marked[index] = _with_words(marked[index], _MARK)
        before, mark, behind = self._whole(marked).partition(_MARK)
        start, end = len(before), len(self.text) - len(behind)
        fits = self.text.startswith(before) and self.text.endswith(behind)
        if not mark or not fits or start >= end:
            raise TemplateRefusalError(
                f"the template prints turn {index + 1} so that its words cannot be told apart"
            )
        ending = next((one for one in self.ends if behind.lstrip().startswith(one)), None)
        return (start, self.text.find(ending, end) + len(ending)) if ending else (start, end)

    def _whole(self, messages: Sequence[Message]) -> str:
        return self.template.render(messages, tools=self.tools, arguments=self.arguments)

    def _start(self, index: int, earliest: int) -> int | None:
        prefix = self._prefix_length(index, add_generation_prompt=True)
        if prefix is not None:
            return prefix
        header = self._after_header(index)
        if header is not None:
            return header
        place = self._place_of_content(index, earliest)
        return None if place is None else place[0]

    def _end(self, index: int, start: int | None) -> int | None:
        if index + 1 == len(self.messages):
            return len(self.text)
        prefix = self._prefix_length(index + 1, add_generation_prompt=False)
        if prefix is not None or start is None:
            return prefix
        if any(end in str(value) for end in self.ends for value in self.messages[index].values()):
            return None  # an end inside the answer: nobody can tell it from the answer's own
        found = [at + len(end) for end in self.ends if (at := self.text.find(end, start)) >= 0]
        return min(found, default=None)

    def _after_header(self, index: int) -> int | None:
        """Behind the part of the generation prompt that the whole text shares.

        Some prompts open a thought (`<think>`) that answers without one do not have.
        """
        before = self._rendered(index, add_generation_prompt=False)
        prompt = self._rendered(index, add_generation_prompt=True)
        if before is None or prompt is None or not self.text.startswith(before):
            return None
        shared = _shared_start(prompt, self.text)
        found = _HEADER_END.match(shared, len(before))
        return found.end() if found else None

    def _prefix_length(self, count: int, *, add_generation_prompt: bool) -> int | None:
        """Length of the first `count` messages rendered, if the whole text begins with them."""
        prefix = self._rendered(count, add_generation_prompt=add_generation_prompt)
        return len(prefix) if prefix is not None and self.text.startswith(prefix) else None

    def _rendered(self, count: int, *, add_generation_prompt: bool) -> str | None:
        """The first `count` messages as text, where the template takes them."""
        try:
            return self.template.render(
                self.messages[:count],
                add_generation_prompt=add_generation_prompt,
                tools=self.tools,
                arguments=self.arguments,
            )
        except TemplateRefusalError:
            return None

    def _place_of_content(self, index: int, earliest: int) -> Span | None:
        content = self.messages[index].get("content")
        if isinstance(content, list) and content:
            content = content[0].get("text")
        if not isinstance(content, str) or not content.strip():
            return None
        bare = content.split("</think>")[-1].strip()
        at = self.text.find(bare, earliest)
        return (at, at + len(bare)) if at >= 0 else None

    def _without_tail(self, start: int, end: int) -> int:
        """The end of the answer, without what stands behind its end of turn.

        That is white space, and with Phi 3 a token that ends the whole text behind the last turn.
        """
        stop, seen = end, None
        rest = end
        while True:
            rest = len(self.text[start:rest].rstrip()) + start
            mark = next((one for one in self.ends if self.text.endswith(one, start, rest)), None)
            if mark is None or mark == seen:
                return stop
            stop, seen = rest, mark
            rest -= len(mark)


def _with_words(message: Message, words: str) -> Message:
    """The turn with other words, in the form that it has."""
    if isinstance(message.get("content"), list):
        return {**message, "content": [{"type": "text", "text": words}]}
    return {**message, "content": words}


def _shared_start(first: str, second: str) -> str:
    """The characters with which both texts begin."""
    pairs = enumerate(zip(first, second, strict=False))
    length = next((at for at, (one, other) in pairs if one != other), min(len(first), len(second)))
    return first[:length]
