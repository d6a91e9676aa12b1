r"""Expressions that tokenizers cut words by, for Python's `re`, which has no \p{L} and \p{N}.

Only for texts of `KNOWN_TEXT`: characters whose class is the same in every version of Unicode that a
tokenizer may have been built with, and that no other class or case folding reaches.
"""

import re
import unicodedata
from collections.abc import Iterable

_LATIN_TO_CYRILLIC = range(0x530)
# Not among them: white space beyond ASCII, and the long s, which is an s where case does not matter.
_LEFT_OUT = frozenset({*range(0x80, 0xA1), 0x17F})
_LETTERS = ((0x3041, 0x3096), (0x30A1, 0x30FA), (0x4E00, 0x9FA5), (0xAC00, 0xD7A3))
"""Hiragana, Katakana, unified ideographs, Hangul syllables: letters throughout."""
_SIGNS = (
    (0x2010, 0x2027),
    (0x2030, 0x205E),
    (0x20A0, 0x20BF),
    (0x2190, 0x21FF),
    (0x2200, 0x22FF),
    (0x2500, 0x257F),
    (0x3001, 0x3003),
    (0x3008, 0x3011),
    (0xFF01, 0xFF0F),
    (0x1F300, 0x1F64F),
    (0x1F680, 0x1F6C5),
    (0x1F900, 0x1F9FF),
)
"""Dashes, quotes, currencies, arrows, mathematics, boxes, punctuation, pictures: neither letter nor number."""


def _ranges(classes: str) -> str:
    """The characters below U+0530 whose category begins with one of these, as the inside of a class."""
    return "".join(
        f"\\u{code:04x}"
        for code in _LATIN_TO_CYRILLIC
        if code not in _LEFT_OUT
        and unicodedata.category(chr(code)).startswith(tuple(classes.split()))
    )


def _shown(ranges: Iterable[tuple[int, int]]) -> str:
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges)


_INSIDES = {
    r"\p{L}": _ranges("L") + _shown(_LETTERS),
    r"\p{N}": _ranges("N"),
}
_ATOM = re.compile(r"\\p\{[A-Za-z]+\}|\\[srnS]|\\|\[\^?|\]")

KNOWN_TEXT = re.compile(f"[{_ranges('L M N P S Z Cc')}{_shown(_LETTERS)}{_shown(_SIGNS)}]*")


def python_pattern(pattern: str) -> str | None:
    """The same expression for `re` with the flag ASCII, or None where it has a class not known here."""
    inside = False
    parts: list[str] = []
    end = 0
    for atom in _ATOM.finditer(pattern):
        parts.append(pattern[end : atom.start()])
        end, text = atom.end(), atom.group()
        if text[0] == "[" or text == "]":
            inside = text != "]"
        elif text in _INSIDES:
            text = _INSIDES[text] if inside else f"[{_INSIDES[text]}]"
        elif text == "\\" or text[1] == "p":
            return None
        parts.append(text)
    parts.append(pattern[end:])
    return _without_captures("".join(parts))


def _without_captures(pattern: str) -> str | None:
    """`findall` gives whole matches only where nothing is captured."""
    try:
        return pattern if re.compile(pattern, re.ASCII).groups == 0 else None
    except re.error:
        return None
