"""The starter model's closed world: topics, their facts, and the ways to ask and to answer.

The facts stand in facts/, the sentences in sentences.toml; both were written for surefit
(Apache-2.0).
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path

FACTS = Path(__file__).parent / "facts"
SENTENCES = Path(__file__).parent / "sentences.toml"
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
Pairs = list[tuple[str, str]]


@dataclass(frozen=True)
class Fact:
    """One thing the model knows."""

    topic: str
    subject: str
    answer: str

    @property
    def about(self) -> str:
        """The subject without its article."""
        return self.subject.removeprefix("a ").removeprefix("an ")


@dataclass(frozen=True)
class Topic:
    """A kind of question: its facts, and the sentences of sentences.toml around them."""

    name: str
    facts: tuple[Fact, ...]
    questions: tuple[str, ...]
    sentence: str
    answer_first: str
    follow_ups: tuple[str, ...]


def topics() -> tuple[Topic, ...]:
    """The whole world."""
    sentences = tomllib.loads(SENTENCES.read_text(encoding="utf-8"))
    return tuple(
        Topic(
            name=name,
            facts=tuple(Fact(name, subject, answer) for subject, answer in _pairs(name)),
            questions=tuple(said["questions"]),
            sentence=said["sentence"],
            answer_first=said["answer_first"],
            follow_ups=tuple(said["follow_ups"]),
        )
        for name, said in sentences.items()
    )


def fill(sentence: str, fact: Fact) -> str:
    """The sentence with the fact's words in it, its first letter large."""
    words = fact.subject.split(" ")
    text = sentence.format(
        x=fact.subject,
        a=fact.answer,
        ax=_with_article(fact.subject),
        aa=_with_article(fact.answer),
        m=words[0],
        n=words[-1],
    )
    return text[0].upper() + text[1:]


def lines_of(name: str) -> list[str]:
    """The lines of a facts file, without its comments."""
    lines = (FACTS / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def _with_article(noun: str) -> str:
    return f"an {noun}" if noun[0].lower() in "aeiou" else f"a {noun}"


def _pairs(topic: str) -> Pairs:
    """(subject, answer) of every fact of a topic: counted out, or read from its file."""
    if topic == "sum":
        return [(f"{m} plus {n}", str(m + n)) for m in range(1, 10) for n in range(1, 11 - m)]
    if topic == "difference":
        return [(f"{m} minus {n}", str(m - n)) for m in range(2, 11) for n in range(1, m)]
    if topic in ("day", "month"):
        return _neighbours(DAYS if topic == "day" else MONTHS)
    pairs = [
        (subject, answer) for subject, answer in (line.split(" = ") for line in lines_of(topic))
    ]
    return pairs + [(b, a) for a, b in pairs] if topic == "opposite" else pairs


def _neighbours(names: tuple[str, ...]) -> Pairs:
    """What comes after and before each name of a round."""
    count = len(names)
    after = [(f"after {names[i]}", names[(i + 1) % count]) for i in range(count)]
    return after + [(f"before {names[i]}", names[i - 1]) for i in range(count)]
