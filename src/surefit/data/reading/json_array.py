"""A JSON array of rows, read element by element: the whole array is never in memory."""

import codecs
import json
from collections.abc import Iterator
from typing import IO

from surefit.data.reading.lines import half_character, too_many_digits
from surefit.data.reading.sniff import BYTE_ORDER_MARK, open_unpacked
from surefit.data.row import Broken, DataFile, Row

_CHUNK_BYTES = 1 << 18
_SPACE = " \t\r\n"


def read_array(file: DataFile) -> Iterator[Row]:
    """The elements of an array as rows, counted from 1."""
    number = 0
    try:
        with open_unpacked(file) as handle:
            for value in _elements(handle):
                number += 1
                yield Row(file, number, b"", value)
    except EOFError:
        file.problem = "cut"
        file.detail = "the compressed file ends before its end-of-stream mark"
    except UnicodeDecodeError as error:
        broken = Broken(f"byte 0x{error.object[error.start]:02X} is not UTF-8", 0, "utf8")
        yield Row(file, number + 1, b"", broken)


def _elements(handle: IO[bytes]) -> Iterator[object]:
    """Each element, or `Broken` at the first that cannot be read, which ends the reading."""
    text = _Text(handle)
    text.take("[")
    decoder = json.JSONDecoder()
    while True:
        start = text.skip(_SPACE + ",")
        if start == "]":
            return
        if start == "":
            yield Broken("the array ends in the middle", 0, "cut")
            return
        value = text.value(decoder)
        yield value
        if isinstance(value, Broken) and value.kind != "utf8":
            return


class _Text:
    """A window onto the text of a file that grows where an element is long."""

    def __init__(self, handle: IO[bytes]) -> None:
        self._handle = handle
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._first = True
        self._text, self._at, self._ended = "", 0, False

    def take(self, character: str) -> None:
        """Step over a character that is known to come."""
        if self.skip(_SPACE) == character:
            self._at += 1

    def skip(self, characters: str) -> str:
        """The next character that is none of these; empty at the end."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in characters:
                self._at += 1
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def value(self, decoder: json.JSONDecoder) -> object:
        """The JSON value at the present place."""
        size = _CHUNK_BYTES
        while True:
            try:
                value, end = decoder.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if self._more(size):
                    size *= 2  # a long element is parsed again a logarithmic number of times
                    continue
                return _broken(error, self._ended and error.pos >= len(self._text) - 1)
            except RecursionError:
                return Broken("a value is nested too deeply to be read", 0, "deep")
            except ValueError:  # Python reads no whole number of more than 4,300 digits
                return too_many_digits(self._text[self._at :])
            if end == len(self._text) and self._more():
                continue  # a number may go on in the next chunk
            written = self._text[self._at : end]
            self._text, self._at = self._text[end:], 0
            return half_character(written, value) or value

    def _more(self, size: int = _CHUNK_BYTES) -> bool:
        """Read on; False at the end of the file."""
        if self._ended:
            return False
        chunk = self._handle.read(size)
        if self._first:
            chunk, self._first = chunk.removeprefix(BYTE_ORDER_MARK), False
        self._ended = not chunk
        self._text = self._text[self._at :] + self._decoder.decode(chunk, final=self._ended)
        self._at = 0
        return not self._ended


def _broken(error: json.JSONDecodeError, at_end: bool) -> Broken:
    cut = at_end or error.msg.startswith("Unterminated")
    return Broken(error.msg, 0, "cut" if cut else "json")
