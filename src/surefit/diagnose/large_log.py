"""Read a log of any size in one pass and little memory: its beginning, its end, and what lies
between.

Of the middle only windows around landmarks are kept, the first ones and the last ones. Files and
pipes are read alike.
"""

from collections import deque
from collections.abc import Iterator
from typing import BinaryIO

HEAD_BYTES = 256 * 1024
BLOCK_BYTES = 512 * 1024
TAIL_BLOCKS = 1  # and the unfinished one
BEFORE_BYTES, AFTER_BYTES = 2 * 1024, 8 * 1024
WINDOWS = 16  # kept from the beginning of the middle, and as many from its end

# What is worth a look in the middle; plain texts, because they are found fast.
LANDMARKS = (
    b"Traceback (most recent call last)",
    b"Fatal Python error",
    b"out of memory",
    b"Watchdog caught",
    b"Assertion `",
)
Piece = tuple[int, bytes]


def read_pieces(stream: BinaryIO) -> list[Piece]:
    """The parts of a log worth reading, in order, each with the number of its first line (from 1)."""
    head: list[Piece] = []
    tail: deque[Piece] = deque()
    first: list[Piece] = []
    last: deque[Piece] = deque(maxlen=WINDOWS)
    for number, block in _blocks(stream):
        if not tail and sum(len(piece) for _, piece in head) < HEAD_BYTES:
            head.append((number, block))
            continue
        tail.append((number, block))
        if len(tail) > TAIL_BLOCKS + 1:
            for window in _windows(*tail.popleft()):
                (first if len(first) < WINDOWS else last).append(window)
    return [*head, *first, *last, *tail]


def _blocks(stream: BinaryIO) -> Iterator[Piece]:
    """Blocks that end where a line ends, with the number of their first line."""
    number, rest = 1, b""
    while data := stream.read(BLOCK_BYTES):
        block = rest + data
        cut = block.rfind(b"\n") + 1
        if not cut and len(block) < 8 * BLOCK_BYTES:
            rest = block
            continue
        cut = cut or len(block)  # a line without an end is cut somewhere
        yield number, block[:cut]
        number += block.count(b"\n", 0, cut)
        rest = block[cut:]
    if rest:
        yield number, rest


def _windows(number: int, block: bytes) -> Iterator[Piece]:
    """The surroundings of the landmarks in a block, overlaps joined."""
    end = counted = 0
    for hit in sorted(_hits(block)):
        if hit < end:
            continue
        start = max(end, block.rfind(b"\n", 0, max(0, hit - BEFORE_BYTES)) + 1)
        end = block.find(b"\n", min(hit + AFTER_BYTES, len(block) - 1)) + 1 or len(block)
        number += block.count(b"\n", counted, start)
        counted = start
        yield number, block[start:end]


def _hits(block: bytes) -> Iterator[int]:
    for landmark in LANDMARKS:
        hit = block.find(landmark)
        while hit >= 0:
            yield hit
            hit = block.find(landmark, hit + AFTER_BYTES)
