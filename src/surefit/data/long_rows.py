"""Rows over the longest length, split into several: a conversation between its turns, a text anywhere.

A part is a row of its own: it is rendered, tokenized and checked like any other, so that the preview
shows what is trained. A conversation keeps its system turn in every part; an exchange that is too
long by itself is not taken apart, and is cut like any long row.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from surefit.data.row import Row, Turn
from surefit.tokens import ChatTokenizer

Encode = Callable[[Row], None]
_SPARED = 8  # tokens that a piece of text is made shorter by when its border made it longer


def split_row(row: Row, limit: int, tokenizer: ChatTokenizer, encode: Encode) -> list[Row]:
    """The parts of a row, each of at most `limit` tokens where the row can be split so.

    Args:
        row: a usable row over the limit.
        limit: tokens.
        tokenizer: the model's.
        encode: renders and tokenizes a row.
    """
    if row.text is not None:
        return _split_text(row, limit, tokenizer, encode)
    if row.rejected is not None or row.label is not None:
        return [row]
    return _split_turns(row, limit, encode)


def _split_turns(row: Row, limit: int, encode: Encode) -> list[Row]:
    head, exchanges = _exchanges(row.messages)
    parts: list[Row] = []
    taken: list[Turn] = []
    best: Row | None = None
    for exchange in exchanges:
        tried = _part(row, [*head, *taken, *exchange], encode)
        if best is not None and (tried.refusal or len(tried.encoded.ids) > limit):
            parts.append(best)
            taken, tried = [], _part(row, [*head, *exchange], encode)
        taken += exchange
        best = tried
    return [*parts, best] if best is not None and parts else [row]


def _exchanges(turns: Sequence[Turn]) -> tuple[list[Turn], list[list[Turn]]]:
    """The system turns in front, and the rest in groups that each begin with a question."""
    start = next((n for n, turn in enumerate(turns) if turn.get("role") != "system"), len(turns))
    groups: list[list[Turn]] = []
    for turn in turns[start:]:
        answered = groups and groups[-1][-1].get("role") != "user"
        if not groups or (turn.get("role") == "user" and answered):
            groups.append([])
        groups[-1].append(turn)
    return list(turns[:start]), groups


def _part(row: Row, turns: list[Turn], encode: Encode) -> Row:
    part = replace(row, messages=turns, turn_names=[], weights=None, _answers=None, _all_text=None)
    part._fingerprint = row.fingerprint  # all parts of a row are trained, or all are held back
    encode(part)
    return part


def _split_text(row: Row, limit: int, tokenizer: ChatTokenizer, encode: Encode) -> list[Row]:
    parts: list[Row] = []
    rest = row.text or ""
    while rest:
        size = limit
        while True:
            piece = tokenizer.beginning_of(rest, size)
            part = replace(row, text=piece, _answers=None, _all_text=None)
            part._fingerprint = row.fingerprint
            encode(part)
            if len(part.encoded.ids) <= limit or size <= _SPARED:
                break
            size -= _SPARED
        parts.append(part)
        rest = rest[len(piece) :]
    return parts
