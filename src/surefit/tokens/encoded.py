"""A row as text with the spans that carry loss, and as tokens with the mask that follows from them."""

from collections.abc import Sequence
from dataclasses import dataclass

import tokenizers

from surefit.tokens.template import Span


@dataclass(frozen=True, slots=True)
class EncodedRow:
    """A row as it is trained.

    `ids` and `mask` have the same length; a mask byte of 1 marks a token that carries loss.
    """

    ids: list[int]
    mask: bytes


@dataclass(frozen=True, slots=True)
class Rendered:
    """A conversation as text, with the character spans that carry loss."""

    text: str
    spans: list[Span]
    begins: bool = False
    """Whether the tokenizer shall add its own tokens, such as the one that begins a text."""
    weights: list[float] | None = None
    """How much each span weighs in the loss; None: all of them 1."""


def mask_of(encoding: tokenizers.Encoding, spans: Sequence[Span]) -> bytes:
    """1 for every token that shares a character with a span."""
    mask = bytearray(len(encoding.ids))
    for start, end in spans:
        first = _token_at(encoding, range(start, end))
        last = _token_at(encoding, range(end - 1, start - 1, -1))
        if first is not None and last is not None:
            # A letter beyond ASCII may have several tokens, and the library names its first one.
            while (place := encoding.token_to_chars(last + 1)) and place[0] < end:
                last += 1
            mask[first : last + 1] = b"\x01" * (last + 1 - first)
    return bytes(mask)


def border(offsets: Sequence[Span], stop: int) -> int:
    """Where the text of a run ends: where the next one begins, so that no character is lost."""
    return offsets[stop][0] if stop < len(offsets) else offsets[-1][1]


def _token_at(encoding: tokenizers.Encoding, characters: range) -> int | None:
    """The token of the first character that has one; trimmed white space has none."""
    for character in characters:
        token: int | None = encoding.char_to_token(character)
        if token is not None:
            return token
    return None
