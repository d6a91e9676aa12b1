"""Which of some texts nearly repeat one of many others, in memory for the few and one look at the many."""

import array
import re
import zlib

_LETTERS = re.compile(r"[\W_]+")
_RUN = 12  # characters of a run that is looked up
_STEP = 3  # runs of the many are looked at from every third character
_SHARE = 0.6  # of the runs that must be known
_SKETCH = 16  # values that stand for a text
_ALIKE = 15  # of them that two near copies share
_WORDS = 3  # in a row, that make a value


class NearCopies:
    """Watches a few texts (an evaluation set) while many (the training set) pass by once."""

    def __init__(self) -> None:
        self._places: list[str] = []
        self._by_letters: dict[str, list[int]] = {}
        self._by_run: dict[str, list[int]] = {}
        self._lengths: list[int] = []
        self._copies: set[int] = set()
        self._texts: list[str] = []

    def watch(self, place: str, text: str) -> None:
        """Remember one of the few."""
        letters = _bare(text)
        number = len(self._places)
        self._places.append(place)
        self._texts.append(text)
        self._lengths.append(len(letters))
        self._by_letters.setdefault(letters, []).append(number)
        for at in range(max(0, len(letters) - _RUN + 1)):
            self._by_run.setdefault(letters[at : at + _RUN], []).append(number)

    def compare(self, text: str) -> None:
        """Look whether one of the many nearly repeats any of the few; word for word is no near copy."""
        letters = _bare(text)
        self._copies.update(
            number for number in self._by_letters.get(letters, ()) if self._texts[number] != text
        )
        known: dict[int, int] = {}
        runs = range(0, len(letters) - _RUN + 1, _STEP)
        for at in runs:
            for number in self._by_run.get(letters[at : at + _RUN], ()):
                known[number] = known.get(number, 0) + 1
        for number, count in known.items():
            like_long = 0.5 < len(letters) / max(1, self._lengths[number]) < 2
            if self._texts[number] != text and like_long and count >= _SHARE * len(runs):
                self._copies.add(number)

    def found(self) -> list[str]:
        """The places of those of the few that were nearly repeated."""
        return [self._places[number] for number in sorted(self._copies)]


def _bare(text: str) -> str:
    """Letters and digits only, in small letters."""
    return _LETTERS.sub("", text).lower()


def letters_mark(text: str) -> int | None:
    """64 bits of a hash of a text's letters and digits; None where it has none."""
    letters = _bare(text)
    return hash(letters) if letters else None


class Sketches:
    """Finds near copies between two sides of one stream, whichever comes first, in 64 bytes a row.

    A text stands for the sixteen smallest hashes of its runs of three words. Two texts that share
    most of their runs share most of these (Broder 1997, doi:10.1109/SEQUEN.1997.666900).
    """

    def __init__(self) -> None:
        self._trained = array.array("I")
        self._held: list[tuple[str, frozenset[int]]] = []

    def add(self, place: str, text: str, *, held_back: bool) -> None:
        """Take a text of either side; one of fewer than 18 words is too short to tell."""
        values = _sketch(text)
        if len(values) < _SKETCH:
            return
        if held_back:
            self._held.append((place, frozenset(values)))
        else:
            self._trained.extend(values)

    def found(self) -> list[str]:
        """The places of texts held back that nearly repeat a trained one."""
        known: dict[int, list[int]] = {}
        for number, (_, values) in enumerate(self._held):
            for value in values:
                known.setdefault(value, []).append(number)
        copies: set[int] = set()
        for start in range(0, len(self._trained), _SKETCH):
            shared: dict[int, int] = {}
            for value in self._trained[start : start + _SKETCH]:
                for number in known.get(value, ()):
                    shared[number] = shared.get(number, 0) + 1
            copies.update(number for number, count in shared.items() if count >= _ALIKE)
        return [self._held[number][0] for number in sorted(copies)]


def _sketch(text: str) -> list[int]:
    """The smallest hashes of a text's runs of words: the same in every process."""
    words = _LETTERS.sub(" ", text.casefold()).split()
    runs = {" ".join(words[at : at + _WORDS]) for at in range(len(words) - _WORDS + 1)}
    return sorted({zlib.crc32(run.encode()) for run in runs})[:_SKETCH]
