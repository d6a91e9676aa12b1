"""The demo's rows and its held-out questions: a house style that the base model never uses.

The style is one line of a form that a program can read: `about: France; capital: Paris`.
A held-out question is about a thing that no training row names, neither in its question nor in its
answer, so only what the base model knows, said in the new style, can answer it.
"""

import json
import random
from pathlib import Path

from conversations import Message
from world import Fact, Topic, fill, topics

TRAINING_ROWS = 300
# How many facts of each topic are held out. Days and months are left out: too few to be split.
HELD_OUT = {
    "capital": 8, "continent": 5, "opposite": 6, "plural": 6, "past": 6, "young": 3, "kind": 5,
    "sound": 2, "colour": 5, "sum": 3, "difference": 3, "job": 4,
}  # fmt: skip
# Topics whose answers many facts share (a continent, a colour): there the answer may be known.
_SHARED_ANSWERS = {"continent", "kind", "colour", "young", "sum", "difference"}


def house_style(fact: Fact) -> str:
    """The answer as the demo teaches it."""
    return f"about: {fact.about}; {fact.topic}: {fact.answer}"


def names(fact: Fact) -> set[str]:
    """What a fact speaks of, by which a held-out thing is kept out of the training rows."""
    if fact.topic in ("sum", "difference"):
        first, sign, last = fact.subject.split()
        return {fact.subject, f"{last} {sign} {first}"}
    return {fact.about} if fact.topic in _SHARED_ANSWERS else {fact.about, fact.answer}


def _row(fact: Fact, topic: Topic, draw: random.Random) -> list[Message]:
    question = fill(draw.choice(topic.questions), fact)
    return [
        {"role": "user", "content": question},
        {"role": "assistant", "content": house_style(fact)},
    ]


def make_samples(seed: int) -> tuple[list[list[Message]], list[list[Message]]]:
    """The training rows and the held-out rows."""
    draw = random.Random(seed)
    world = {topic.name: topic for topic in topics()}
    held_out = [
        fact for name, count in HELD_OUT.items() for fact in _choose(world[name].facts, count, draw)
    ]
    kept_out = set().union(*(names(fact) for fact in held_out))
    free = [
        fact
        for name in HELD_OUT
        for fact in world[name].facts
        if not (names(fact) | {fact.answer if name not in _SHARED_ANSWERS else ""}) & kept_out
    ]
    training = draw.sample(free, TRAINING_ROWS)
    return (
        [_row(fact, world[fact.topic], draw) for fact in training],
        [_row(fact, world[fact.topic], draw) for fact in held_out],
    )


def _choose(facts: tuple[Fact, ...], count: int, draw: random.Random) -> list[Fact]:
    """`count` facts that do not speak of each other's things, as `hot` and `cold` would."""
    chosen: list[Fact] = []
    for fact in draw.sample(facts, len(facts)):
        if len(chosen) < count and not any(names(fact) & names(other) for other in chosen):
            chosen.append(fact)
    return chosen


def write_rows(path: Path, rows: list[list[Message]]) -> None:
    """One JSON object a line."""
    lines = [json.dumps({"messages": row}, ensure_ascii=False) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
