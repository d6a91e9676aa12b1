"""A number that is equal for rows of equal conversation."""

import hashlib

import orjson

from surefit.data.row import Row


def fingerprint(row: Row) -> int:
    """64 bits of a hash over roles and contents; other columns of the row do not matter."""
    if row.text is not None:
        content: object = row.text
    else:
        turns = row.messages if row.rejected is None else [*row.messages, *row.rejected]
        content = [
            (turn.get("role"), turn.get("content"), turn.get("tool_calls")) for turn in turns
        ]
    digest = hashlib.blake2b(orjson.dumps(content), digest_size=8).digest()
    return int.from_bytes(digest, "little")
