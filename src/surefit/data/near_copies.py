"""Which of some texts nearly repeat one of many others, in memory for the few and one look at the many."""

import re

_LETTERS = re.compile(r"[\W_]+")
_RUN = 12  # characters of a run that is looked up
_STEP = 3  # runs of the many are looked at from every third character
_SHARE = 0.6  # of the runs that must be known


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
