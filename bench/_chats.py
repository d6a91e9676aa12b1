"""Chats of uneven length, made by a seed: what the measurements of data preparation read.

Common words come often and rare ones seldom (as Zipf found), names and numbers are new in almost every
row, and some rows hold lists, code and letters beyond ASCII, so that a tokenizer meets what it meets in
real chats. Half of the rows bring a system turn, one of a few that repeat, as they do in real sets; with
`alone`, every row has a system turn that no other row has.
"""

import itertools
import json
import math
import random
from collections.abc import Iterator
from pathlib import Path

_COMMON = (
    "the of and to a in is it you that he was for on are with as I his they be at one have this from "
    "or had by not but what some we can out other were all there when up use your how said an each she "
    "which do their time if will way about many then them write would like so these her long make thing "
    "see him two has look more day could go come did number sound no most people my over know water than "
    "call first who may down side been now find any new work part take get place made live where after "
    "back little only round man year came show every good me give our under name very through just form "
    "sentence great think say help low line differ turn cause much mean before move right boy old too "
    "same tell does set three want air well also play small end put home read hand port large spell add "
    "even land here must big high such follow act why ask men change went light kind off need house "
    "picture try us again animal point mother world near build self earth father"
)
_STEMS = (
    "account adjust answer apply arrange balance bake bear borrow branch breathe calculate carry cast "
    "collect combine compare compile compose compute connect consider contain contrast copy correct count "
    "cover cross decide declare deliver depend derive describe design detect develop direct discover "
    "discuss divide draft draw earn edit employ enter estimate examine exchange expand expect explain "
    "explore express extend filter finish fold forecast format gather grade group grow guess handle heat "
    "ignore imagine import improve include index infer inform inspect install interpret invent invest "
    "iterate join judge knead label launch learn lift limit link listen load locate measure melt mention "
    "merge migrate mix model notice observe obtain offer open operate order organise own paint parse "
    "perform plan plant point polish pour practise predict prefer prepare present press prevent print "
    "process produce promise protect prove provide publish pull question quote raise reach reason recall "
    "receive record reduce refer reflect refuse regard relate release remember remove repair repeat reply "
    "report request require rescue resolve respond rest return review roast sample save scale search select "
    "separate settle shape share shift simmer solve sort split start state stir store study suggest sum "
    "support taste teach test train transfer translate travel treat update value vary verify visit wander "
    "warm weigh whisk wonder wrap"
)
_ENDINGS = ("", "", "s", "ed", "ing", "er")
_SYLLABLES = (
    "ba ben bor ca cel dan del do el fa fen gar gil hal hem ir jo ka kel lan lin lo ma mar mir na "
    "nel nor o per qui ra ren ril sa sel sha ta ter tol u val ven wil xa yo zan"
)
_BEYOND_ASCII = (
    "café",
    "Zürich",
    "naïve",
    "Łódź",
    "São Paulo",
    "你好",
    "привет",
    "π ≈ 3.14",
    "→",
    "🙂",
)
_MARKS = (".", ".", ".", ".", "?", "!", ":", ";")
_SYSTEMS = (
    "Be brief.",
    "Answer kindly.",
    "You are a patient teacher.",
    "Reply in one paragraph.",
    "You help with recipes and household questions.",
    "You review code and explain every change.",
)


def write_chats(path: Path, rows: int, *, seed: int = 5, alone: bool = False) -> None:
    """Write `rows` chats as JSON lines of `messages`."""
    words = _Words(random.Random(seed))
    with path.open("w", encoding="utf-8") as handle:
        for number in range(rows):
            messages = _chat(words, number if alone else None)
            handle.write(json.dumps({"messages": messages}, ensure_ascii=False) + "\n")


def _chat(words: "_Words", number: int | None) -> list[dict[str, str]]:
    chance = words.chance
    length = min(240, max(4, int(math.exp(chance.gauss(3.46, 0.92)))))
    turns = 1 if length < 40 else chance.choice((1, 1, 2, 3))
    messages: list[dict[str, str]] = []
    if number is not None:
        messages.append({"role": "system", "content": f"You are {words.name()}, guest {number}."})
    elif chance.random() < 0.5:
        messages.append({"role": "system", "content": chance.choice(_SYSTEMS)})
    for _ in range(turns):
        asked = max(3, length // turns // chance.choice((2, 3, 4)))
        messages.append({"role": "user", "content": words.text(asked)})
        messages.append(
            {"role": "assistant", "content": words.text(max(3, length // turns - asked))}
        )
    return messages


class _Words:
    """Draws words; the r-th most common comes with a weight of 1 / r."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        made = [stem + ending for stem in _STEMS.split() for ending in _ENDINGS]
        chance.shuffle(made)
        self._known = [*_COMMON.split(), *made]
        weights = (1 / (rank + 3) for rank in range(len(self._known)))
        self._weights = list(itertools.accumulate(weights))
        self._stock = self._drawn()

    def _drawn(self) -> Iterator[str]:
        while True:
            yield from self.chance.choices(self._known, cum_weights=self._weights, k=4096)

    def name(self) -> str:
        """A name that was probably never there before."""
        return "".join(self.chance.choices(_SYLLABLES.split(), k=3)).capitalize()

    def text(self, count: int) -> str:
        """Sentences of `count` words together."""
        said, chance = list(itertools.islice(self._stock, count)), self.chance
        for at in range(0, count, 9):
            said[at] = said[at].capitalize()
            said[min(at + 8, count - 1)] += chance.choice(_MARKS)
        if count > 8:
            said[chance.randrange(count)] = self.name()
            said[chance.randrange(count)] = str(chance.randrange(10 ** chance.randint(1, 6)))
        if count > 30 and chance.random() < 0.2:
            said[chance.randrange(count)] = chance.choice(_BEYOND_ASCII)
        text = " ".join(said)
        if count > 40 and chance.random() < 0.2:
            text = text.replace(". ", ".\n- ")
        if count > 40 and chance.random() < 0.1:
            text += f"\n\n```python\nfor {said[1]} in range({count}):\n    print({said[2]!r})\n```"
        return text
