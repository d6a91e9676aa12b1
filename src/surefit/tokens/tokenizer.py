"""ChatTokenizer: a conversation as token ids, and which of them carry loss. Without torch."""

import array
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import tokenizers

from surefit.errors import Refused
from surefit.tokens.answers import ANSWERS_ONLY, Loss, answer_spans
from surefit.tokens.encoded import EncodedRow, Rendered, border, mask_of
from surefit.tokens.folder import TokenizerFolder, read_tokenizer_folder
from surefit.tokens.scan import AnswerScan
from surefit.tokens.template import ChatTemplate, Message, TemplateRefusalError
from surefit.tokens.words import WordTokens, word_tokens


class ChatTokenizer:
    """A tokenizer with its model's own chat template. See `load_chat_tokenizer`."""

    def __init__(self, parts: TokenizerFolder, template: ChatTemplate) -> None:
        self.folder = parts.folder
        self.sha256 = parts.sha256
        self.special_tokens = parts.special_tokens
        self.template = template
        self._parts = parts

    # Worked out when first asked for: a plan whose rows are already prepared asks for the hash alone,
    # and reading the vocabulary of a large model takes longer than the whole rest of a plan.

    def open(self) -> None:
        """Read the vocabulary now.

        Raises:
            Refused: tokenizer.json is broken.
        """
        _ = self._tokenizer

    def with_arguments(self, arguments: Mapping[str, Any] | None) -> "ChatTokenizer":
        """The same tokenizer, whose template is always given these arguments."""
        if not arguments:
            return self
        other = ChatTokenizer(self._parts, self.template.with_arguments(arguments))
        if "_tokenizer" in self.__dict__:
            other.__dict__["_tokenizer"] = self._tokenizer  # a large vocabulary is read once
        return other

    @cached_property
    def _tokenizer(self) -> tokenizers.Tokenizer:
        return _load_tokenizer(self._parts)

    @cached_property
    def _words(self) -> WordTokens | None:
        return word_tokens(self._tokenizer)

    @cached_property
    def vocabulary(self) -> int:
        """Number of tokens, those added for conversations included."""
        size: int = self._tokenizer.get_vocab_size(with_added_tokens=True)
        return size

    @cached_property
    def bos_id(self) -> int | None:
        """Id of the token that begins a text, where the model names one."""
        return self._id_of("bos_token")

    @cached_property
    def eos_id(self) -> int | None:
        """Id of the token that ends a text, where the model names one."""
        return self._id_of("eos_token")

    @cached_property
    def unk_id(self) -> int | None:
        """Id of the token for what the vocabulary lacks, where the model names one."""
        return self._id_of("unk_token")

    @cached_property
    def pad_id(self) -> int:
        """Padding is never a reason to mask, so any token serves where the model names none."""
        names = ("pad_token", "unk_token", "eos_token")
        return next((number for name in names if (number := self._id_of(name)) is not None), 0)

    @cached_property
    def control_tokens(self) -> dict[str, int]:
        """The special tokens of the vocabulary, text to id."""
        added = self._tokenizer.get_added_tokens_decoder().items()
        return {token.content: number for number, token in added if token.special}

    @cached_property
    def takes_parts_only(self) -> bool:
        """Whether the template, made for pictures too, prints content only as a list of parts."""
        question = {"role": "user", "content": "surefit probe"}
        try:
            if question["content"] in self.template.render([question]):
                return False
            return question["content"] in self.template.render([_in_parts(question)])
        except TemplateRefusalError:
            return False

    @cached_property
    def end_of_turn(self) -> str | None:
        """Text of the token that ends an answer, or None where the template writes none."""
        return self._end_behind_answer(followed=False)

    @cached_property
    def end_texts(self) -> tuple[str, ...]:
        """Texts that end an answer: the template's own first."""
        ends = (self.end_of_turn, self.special_tokens.get("eos_token"))
        return tuple(dict.fromkeys(text for text in ends if text))

    @cached_property
    def _turn_ends(self) -> tuple[str, ...]:
        """Also what ends an answer that is not the last one, where a template differs there."""
        inner = self._end_behind_answer(followed=True)
        return tuple(dict.fromkeys(text for text in (*self.end_texts, inner) if text))

    @cached_property
    def end_of_turn_ids(self) -> tuple[int, ...]:
        """Ids that end an answer: the template's own first. Generation stops at any of them."""
        ids = (self._token_id(text) for text in self.end_texts)
        return tuple(number for number in ids if number is not None)

    @cached_property
    def _scan(self) -> AnswerScan:
        return AnswerScan(self._answer_header(), self.end_of_turn)

    @cached_property
    def turn_openings(self) -> tuple[str, ...]:
        """Texts that open a turn or a conversation; none of them belongs into a content."""
        probe = "surefit probe"
        try:
            text = self._probe({"role": "user", "content": probe})
        except TemplateRefusalError:
            return ()
        before = text[: text.find(probe)]
        return tuple(token for token in self.control_tokens if token in before)

    @cached_property
    def _control(self) -> re.Pattern[str]:
        """Control tokens that no content may hold: not those a template reads, such as <think>."""
        marks = {*self.turn_openings, *self.end_texts, *self.special_tokens.values()}
        wrong = [
            token
            for token in self.control_tokens
            if token in marks or token not in self.template.source
        ]
        return re.compile("|".join(re.escape(token) for token in wrong) or "(?!)")

    @cached_property
    def _control_starts(self) -> frozenset[str]:
        return frozenset(token[0] for token in self.control_tokens)

    def render(
        self,
        messages: Sequence[Message],
        add_generation_prompt: bool = False,
        *,
        tools: Sequence[Any] | None = None,
        arguments: Mapping[str, Any] | None = None,
    ) -> str:
        """The conversation as the model reads it.

        Raises:
            TemplateRefusalError: the template does not take this conversation.
        """
        return self.template.render(
            messages, add_generation_prompt=add_generation_prompt, tools=tools, arguments=arguments
        )

    def render_answers(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Any] | None = None,
        arguments: Mapping[str, Any] | None = None,
        loss: Loss = "answers",
        role_weights: Mapping[str, float] = ANSWERS_ONLY,
    ) -> Rendered:
        """The conversation as text with the spans that carry loss, end of turn included.

        Raises:
            TemplateRefusalError: the template does not take this conversation.
        """
        if self.takes_parts_only:
            messages = [_in_parts(message) for message in messages]
        kind = None
        usual = loss == "answers" and role_weights is ANSWERS_ONLY
        if usual and not tools and not arguments and not self.template.marks_answers:
            kind = self._scan.kind_of(messages)
        if kind is not None and self._scan.trusts(kind):
            text = self.template.render(messages)
            found = self._scan.spans(text, kind)
            if found is not None:
                return Rendered(text, found)
        text, spans, weights = answer_spans(
            self.template, messages, self._turn_ends, tools, arguments, loss, role_weights
        )
        self._scan.learn(text, kind, spans)
        return Rendered(text, spans, weights=weights)

    def render_text(self, text: str) -> Rendered:
        """A plain text, all of it trained; where it begins as the tokenizer would, nothing is added."""
        bos = self.special_tokens.get("bos_token")
        return Rendered(text, [(0, len(text))], begins=not (bos and text.startswith(bos)))

    def encode(
        self, messages: Sequence[Message], *, tools: Sequence[Any] | None = None
    ) -> EncodedRow:
        """The conversation as token ids and loss mask.

        Raises:
            TemplateRefusalError: the template does not take this conversation.
        """
        return self.encode_batch([self.render_answers(messages, tools=tools)])[0]

    def encode_batch(self, batch: Sequence[Rendered]) -> list[EncodedRow]:
        """Token ids and masks of many rendered rows; one call costs less than one a row."""
        words = self._words
        quick = [
            None
            if words is None or rendered.begins
            else words.encode(rendered.text, rendered.spans)
            for rendered in batch
        ]
        slow = [
            at
            for at, found in enumerate(quick)
            if found is None or words is None or words.wants_proof()
        ]
        rows = [EncodedRow([], b"") if found is None else EncodedRow(*found) for found in quick]
        for at, row in zip(slow, self._encode_by_library([batch[at] for at in slow]), strict=True):
            if words is not None and quick[at] is not None and not words.proven(row == rows[at]):
                return self._encode_by_library(batch)
            rows[at] = row
        return rows

    def _encode_by_library(self, batch: Sequence[Rendered]) -> list[EncodedRow]:
        begins = any(rendered.begins for rendered in batch)
        if begins and not all(rendered.begins for rendered in batch):
            return [row for rendered in batch for row in self._encode_by_library([rendered])]
        encodings = self._tokenizer.encode_batch(
            [rendered.text for rendered in batch], add_special_tokens=begins
        )
        return [
            EncodedRow(encoding.ids, mask_of(encoding, rendered.spans))
            for encoding, rendered in zip(encodings, batch, strict=True)
        ]

    def token_weights(self, rendered: Rendered) -> "array.array[float] | None":
        """How much each token of a row weighs in the loss; None where each is its mask's 0 or 1."""
        if rendered.weights is None:
            return None
        encoding = self._tokenizer.encode(rendered.text, add_special_tokens=rendered.begins)
        found = array.array("f", bytes(4 * len(encoding.ids)))
        for span, weight in zip(rendered.spans, rendered.weights, strict=True):
            for place, mark in enumerate(mask_of(encoding, [span])):
                found[place] = max(found[place], weight * mark)
        return found

    def beginning_of(self, text: str, limit: int) -> str:
        """The first characters of a plain text that make at most `limit` tokens; at least one."""
        encoding = self._tokenizer.encode(text, add_special_tokens=self.render_text(text).begins)
        if len(encoding.ids) <= limit:
            return text
        return text[: max(1, encoding.offsets[limit][0])]

    def pieces(self, rendered: Rendered, limit: int | None = None) -> tuple[tuple[str, bool], ...]:
        """The text of a row cut at `limit` tokens, in runs of tokens that are trained or not."""
        encoding = self._tokenizer.encode(rendered.text, add_special_tokens=rendered.begins)
        mask = mask_of(encoding, rendered.spans)[:limit]
        offsets = encoding.offsets[: len(mask)]
        borders = [at for at in range(1, len(mask)) if mask[at] != mask[at - 1]]
        starts, stops = [0, *borders], [*borders, len(mask)]
        return tuple(
            (
                rendered.text[offsets[start][0] if start else 0 : border(offsets, stop)],
                bool(mask[start]),
            )
            for start, stop in zip(starts, stops, strict=True)
            if start < len(mask)
        )

    def may_hold_control_token(self, text: str) -> bool:
        """Whether a letter occurs that begins one: a search for it is far cheaper than for all tokens."""
        for start in self._control_starts:  # noqa: SIM110 - a generator takes longer than the search
            if start in text:
                return True
        return False

    def control_token_in(self, text: str) -> str | None:
        """The first control token that is written in a text, or None."""
        if not self.may_hold_control_token(text):
            return None
        found = self._control.search(text)
        return found.group() if found else None

    def encode_text(self, text: str) -> list[int]:
        """Token ids of a text, nothing added."""
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def decode(self, ids: Sequence[int], *, skip_special_tokens: bool = False) -> str:
        """The text of token ids."""
        text: str = self._tokenizer.decode(list(ids), skip_special_tokens=skip_special_tokens)
        return text

    def _token_id(self, text: str) -> int | None:
        number: int | None = self._tokenizer.token_to_id(text)
        return number

    def _id_of(self, name: str) -> int | None:
        text = self.special_tokens.get(name)
        return None if text is None else self._token_id(text)

    def _probe(self, *messages: Message) -> str:
        """A conversation as text, in the form that the template prints."""
        shown = [_in_parts(message) for message in messages] if self.takes_parts_only else messages
        return self.template.render(shown)

    def _end_behind_answer(self, *, followed: bool) -> str | None:
        """The first control token behind an answer, seen in a probe conversation."""
        probe = "surefit probe"
        question = {"role": "user", "content": "question"}
        messages = [question, {"role": "assistant", "content": probe}, *[question] * followed]
        try:
            text = self._probe(*messages)
        except TemplateRefusalError:
            return None if followed else self.special_tokens.get("eos_token")
        tail = text[text.rfind(probe) + len(probe) :]
        found = [(at, token) for token in self.control_tokens if (at := tail.find(token)) >= 0]
        return min(found)[1] if found else None

    def _answer_header(self) -> str:
        """What the generation prompt adds behind a question."""
        question = {"role": "user", "content": "question"}
        try:
            asked = self._probe(question)
            prompted = self.template.render(
                [_in_parts(question) if self.takes_parts_only else question],
                add_generation_prompt=True,
            )
        except TemplateRefusalError:
            return ""
        return prompted[len(asked) :] if prompted.startswith(asked) else ""


def load_chat_tokenizer(folder: Path, *, lazily: bool = False) -> ChatTokenizer:
    """Read a model folder's tokenizer and chat template.

    Args:
        folder: the model's files.
        lazily: leave vocabulary and template unread until something asks for more than the hash; what
            is broken in them is then refused only when they are used.

    Raises:
        Refused: the folder has no tokenizer.json, or that or the chat template is broken.
        OutsideError: a file cannot be read.
    """
    parts = read_tokenizer_folder(folder)
    template = ChatTemplate(parts.chat_template, parts.special_tokens)
    tokenizer = ChatTokenizer(parts, template)
    if not lazily:
        template.compile()
        tokenizer.open()
    return tokenizer


def _in_parts(message: Message) -> Message:
    content = message.get("content")
    if not isinstance(content, str):
        return message
    return {**message, "content": [{"type": "text", "text": content}]}


def _load_tokenizer(parts: TokenizerFolder) -> tokenizers.Tokenizer:
    try:
        tokenizer = tokenizers.Tokenizer.from_str(parts.tokenizer_json)
    except Exception as error:  # the library raises nothing narrower
        raise Refused(
            f"tokenizer.json of the model in {parts.folder} cannot be read",
            f"the tokenizers library says: {error}",
            "copy tokenizer.json from the model's original folder again, or run "
            "`pip install -U tokenizers`",
        ) from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer
