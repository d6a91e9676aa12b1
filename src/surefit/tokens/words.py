"""Byte-level BPE word by word: the ids that the tokenizers library gives, at a fraction of its cost.

Such a tokenizer cuts a text at its added tokens, then into words by a regular expression, and the model
sees one word at a time. So the ids of a word never depend on its neighbours, and most words come again:
a table of words replaces most of the work. It is used only where every step is known and has one meaning
in both programs; everything else goes to the library (`WordTokens.encode` gives None):

- a BPE model without dropout, no normalizer or NFC, byte level without a space put in front, words cut by
  expressions of classes that `unicode_classes` knows, added tokens that swallow no neighbours;
- texts of characters whose class has been compared with the library's, one by one, by a test;
- spans that begin and end between words.

Rows are compared with the library all the same, the first ones and then some of each thousand.
"""

import json
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import accumulate, chain
from typing import Any

import tokenizers

from surefit.tokens.template import Span
from surefit.tokens.unicode_classes import KNOWN_TEXT, python_pattern

WORDS_KEPT = 1 << 15  # with their ids some 8 MB
_LONGEST_KEPT = 64  # characters
# Between added tokens the same stands again and again: line ends, the system turn.
_LONGEST_PART, _PARTS_KEPT = 256, 1 << 10
_PROOFS, _PROOF_EVERY = 32, 256  # rows
_GPT2_WORDS = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_ONE_DIGIT, _DIGITS = r"\p{N}|[^\p{N}]+", r"\p{N}+|[^\p{N}]+"

Cut = Callable[[str], list[str]]


class WordTokens:
    """Ids and loss masks of rendered texts, by a table of words. See `word_tokens`.

    Args:
        model: encodes a word that is new.
        cuts: how a text between added tokens becomes words, one after another.
        added: the added tokens, text to id.
        composed: whether the tokenizer brings texts into the form NFC first.
        trims: whether the library leaves white space out of a token's place in the text.
    """

    def __init__(
        self,
        model: Any,
        cuts: Sequence[Cut],
        added: dict[str, int],
        *,
        composed: bool,
        trims: bool,
    ) -> None:
        self._table = _WordTable(model, {text: (number,) for text, number in added.items()})
        self._repeated: dict[str, list[str]] = {}
        self._rows = self._agreed = 0
        self._gave_up = False
        self._cuts, self._composed, self._trims = cuts, composed, trims
        # Of added tokens that begin alike the library takes the longest.
        longest_first = sorted(added, key=len, reverse=True)
        self._split = re.compile("(" + "|".join(map(re.escape, longest_first)) + ")").split

    def encode(self, text: str, spans: Sequence[Span]) -> tuple[list[int], bytes] | None:
        """The ids of a text, nothing added, and a byte of 1 for each that has a part in a span.

        None where only the library can tell.
        """
        if self._gave_up or not (text.isascii() or self._is_known(text)):
            return None
        words = self._words(text)
        pieces = list(map(self._table.__getitem__, words))
        ids = list(chain.from_iterable(pieces))
        ends = list(accumulate(map(len, words)))
        if not ids or ends[-1] != len(text):
            return None
        tokens = list(accumulate(map(len, pieces)))
        mask = bytearray(len(ids))
        for start, end in spans:
            first, last = _tokens_before(start, ends, tokens), _tokens_before(end, ends, tokens)
            if first is None or last is None or (self._trims and _is_spaced(text, start, end)):
                return None
            mask[first:last] = b"\x01" * (last - first)
        return ids, bytes(mask)

    def wants_proof(self) -> bool:
        """Whether the library shall encode the next row too: the first ones, then one of 256."""
        self._rows += 1
        return self._rows <= _PROOFS or self._rows % _PROOF_EVERY == 0

    def proven(self, same: bool) -> bool:
        """Take note of a comparison. False: this tokenizer does something else, and is left alone.

        Raises:
            RuntimeError: rows like this one have already been encoded in another way: our error.
        """
        if same:
            self._agreed += 1
        elif self._agreed >= _PROOFS:
            raise RuntimeError("the table of words and the tokenizer disagree about a row")
        else:
            self._gave_up = True
        return same

    def _is_known(self, text: str) -> bool:
        if KNOWN_TEXT.fullmatch(text) is None:
            return False
        return not self._composed or unicodedata.is_normalized("NFC", text)

    def _words(self, text: str) -> list[str]:
        words: list[str] = []
        for at, part in enumerate(self._split(text)):
            if at % 2:
                words.append(part)
            elif part:
                words += self._cut(part)
        return words

    def _cut(self, part: str) -> list[str]:
        words = self._repeated.get(part)
        if words is not None:
            return words
        words = self._cuts[0](part)
        for cut in self._cuts[1:]:
            words = [word for piece in words for word in cut(piece)]
        if len(part) <= _LONGEST_PART and len(self._repeated) < _PARTS_KEPT:
            self._repeated[part] = words
        return words


def word_tokens(tokenizer: tokenizers.Tokenizer) -> WordTokens | None:
    """The table of words of a tokenizer, or None where one of its steps is not known here."""
    model, normalizer = tokenizer.model, tokenizer.normalizer
    cuts = _cuts(_state(tokenizer.pre_tokenizer))
    composed = normalizer is not None and _state(normalizer) == {"type": "NFC"}
    added = tokenizer.get_added_tokens_decoder()
    if (
        not isinstance(model, tokenizers.models.BPE)
        or model.dropout
        or cuts is None
        or not (normalizer is None or composed)
        or not added
        or any(one.lstrip or one.rstrip or one.single_word for one in added.values())
        # Tokens that are looked for after normalizing are looked for in a second pass.
        or len({one.normalized for one in added.values()}) > 1
    ):
        return None
    texts = {one.content: number for number, one in added.items()}
    trims = '"trim_offsets": true' in json.dumps(_state(tokenizer.post_processor))
    return WordTokens(model, cuts, texts, composed=composed, trims=trims)


class _WordTable(dict[str, tuple[int, ...]]):
    """Word to ids; a new word is looked up in the model, and when the table is full it begins anew."""

    def __init__(self, model: Any, added: dict[str, tuple[int, ...]]) -> None:
        super().__init__(added)
        self._model, self._added = model, added

    def __missing__(self, word: str) -> tuple[int, ...]:
        one_byte_each = word if word.isascii() else word.encode().decode("latin-1")
        letters = one_byte_each.translate(_BYTE_LETTERS)
        ids = tuple([token.id for token in self._model.tokenize(letters)])
        if len(self) >= WORDS_KEPT:
            self.clear()
            self.update(self._added)
        if len(word) <= _LONGEST_KEPT:
            self[word] = ids
        return ids


def _cuts(pre_tokenizer: dict[str, Any]) -> list[Cut] | None:
    """How the pre-tokenizer cuts a text, or None where a step of it is not known."""
    steps = pre_tokenizer.get("pretokenizers", [pre_tokenizer])
    if not steps or steps[-1].get("type") != "ByteLevel":
        return None
    patterns = [pattern for step in steps if (pattern := _pattern(step)) != ""]
    translated = [None if pattern is None else python_pattern(pattern) for pattern in patterns]
    if not translated or None in translated:
        return None
    return [re.compile(one, re.ASCII).findall for one in translated if one is not None]


def _pattern(step: dict[str, Any]) -> str | None:
    """The expression that a step cuts by; empty where it does not cut, None where it is not known."""
    kind = step.get("type")
    if kind == "ByteLevel" and not step.get("add_prefix_space"):
        return _GPT2_WORDS if step.get("use_regex") else ""
    if kind == "Digits":
        return _ONE_DIGIT if step.get("individual_digits") else _DIGITS
    if kind == "Split" and step.get("behavior") == "Isolated" and not step.get("invert"):
        pattern: str | None = step.get("pattern", {}).get("Regex")
        return pattern or None
    return None


def _state(part: Any) -> dict[str, Any]:
    """What tokenizer.json says about a part."""
    return {} if part is None else dict(json.loads(part.__getstate__()))


def _tokens_before(place: int, word_ends: Sequence[int], tokens_up_to: Sequence[int]) -> int | None:
    """The tokens before a place in the text, or None where it is inside of a word."""
    if place == 0:
        return 0
    word = bisect_left(word_ends, place)
    if word == len(word_ends) or word_ends[word] != place:
        return None
    return tokens_up_to[word]


def _is_spaced(text: str, start: int, end: int) -> bool:
    return end > start and (text[start].isspace() or text[end - 1].isspace())


def _byte_letters() -> dict[int, int]:
    """The letter that stands for each byte in a byte-level vocabulary (OpenAI's GPT-2 encoder)."""
    shown = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    letters = dict(zip(shown, shown, strict=True))
    hidden = [byte for byte in range(256) if byte not in letters]
    return letters | {byte: 256 + at for at, byte in enumerate(hidden)}


_BYTE_LETTERS = _byte_letters()
