"""The starter model's closed world: topics, their facts, and the ways to ask and to answer.

Everything here was written for surefit (Apache-2.0). A fact is a subject and an answer; a topic holds
its facts and the sentences around them. `conversations.py` and `samples.py` draw from the same world.
"""

from dataclasses import dataclass
from pathlib import Path

FACTS = Path(__file__).parent / "facts"
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip


@dataclass(frozen=True)
class Fact:
    """One thing the model knows."""

    topic: str
    subject: str
    answer: str


@dataclass(frozen=True)
class Topic:
    """A kind of question. In the sentences {x} is the subject, {a} the answer, {ax} and {aa} the same
    with their article, {m} and {n} the first and the last word of the subject."""

    name: str
    facts: tuple[Fact, ...]
    questions: tuple[str, ...]
    sentence: str
    answer_first: str
    follow_ups: tuple[str, ...]


def with_article(noun: str) -> str:
    """The noun with `a` or `an`."""
    return f"an {noun}" if noun[0].lower() in "aeiou" else f"a {noun}"


def fill(sentence: str, fact: Fact) -> str:
    """The sentence with the fact's words in it, its first letter large unless the subject begins it."""
    words = fact.subject.split(" ")
    text = sentence.format(
        x=fact.subject,
        a=fact.answer,
        ax=with_article(fact.subject),
        aa=with_article(fact.answer),
        m=words[0],
        n=words[-1],
    )
    return text[0].upper() + text[1:]


def _read(topic: str) -> list[tuple[str, str]]:
    """The (subject, answer) lines of a facts file."""
    lines = (FACTS / f"{topic}.txt").read_text(encoding="utf-8").splitlines()
    pairs = [line.split(" = ") for line in lines if line and not line.startswith("#")]
    return [(subject, answer) for subject, answer in pairs]


def _both_ways(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return pairs + [(answer, subject) for subject, answer in pairs]


def _neighbours(names: tuple[str, ...]) -> list[tuple[str, str]]:
    """What comes after and before each name of a round."""
    count = len(names)
    after = [(f"after {names[i]}", names[(i + 1) % count]) for i in range(count)]
    return after + [(f"before {names[i]}", names[i - 1]) for i in range(count)]


def _sums() -> list[tuple[str, str]]:
    return [(f"{m} plus {n}", str(m + n)) for m in range(1, 11) for n in range(1, 11)]


def _differences() -> list[tuple[str, str]]:
    return [(f"{m} minus {n}", str(m - n)) for m in range(2, 13) for n in range(1, m)]


def _topic(name: str, pairs: list[tuple[str, str]], sentence: str, first: str, asked: str) -> Topic:
    """A topic from its sentences; `asked` holds a question a line, follow-ups marked by `+`."""
    lines = [line.strip() for line in asked.strip().splitlines()]
    return Topic(
        name=name,
        facts=tuple(Fact(name, subject, answer) for subject, answer in pairs),
        questions=tuple(line for line in lines if not line.startswith("+")),
        sentence=sentence,
        answer_first=first,
        follow_ups=tuple(line[1:].strip() for line in lines if line.startswith("+")),
    )


def topics() -> tuple[Topic, ...]:
    """The whole world."""
    return (
        _topic(
            "capital",
            _read("capital"),
            "The capital of {x} is {a}.",
            "{a} is the capital of {x}.",
            """What is the capital of {x}?
            Which city is the capital of {x}?
            Name the capital of {x}.
            Tell me the capital of {x}.
            What is the capital city of {x}?
            Do you know the capital of {x}?
            + And the capital of {x}?
            + And of {x}?
            + What about {x}?""",
        ),
        _topic(
            "continent",
            _read("continent"),
            "{x} is in {a}.",
            "{a} is the continent of {x}.",
            """On which continent is {x}?
            Which continent is {x} on?
            Name the continent of {x}.
            What continent does {x} belong to?
            Where in the world is {x}?
            + And where is {x}?
            + What about {x}?""",
        ),
        _topic(
            "opposite",
            _both_ways(_read("opposite")),
            "The opposite of {x} is {a}.",
            "It is {a}, the opposite of {x}.",
            """What is the opposite of {x}?
            Which word is the opposite of {x}?
            Name the opposite of {x}.
            Give me the opposite of {x}.
            Tell me the opposite of {x}.
            + And the opposite of {x}?
            + And of {x}?""",
        ),
        _topic(
            "plural",
            _read("plural"),
            "The plural of {x} is {a}.",
            "It is {a}, the plural of {x}.",
            """What is the plural of {x}?
            Name the plural of {x}.
            Give me the plural of {x}.
            How do you write more than one {x}?
            One {x}, many what?
            + And the plural of {x}?
            + And of {x}?""",
        ),
        _topic(
            "past",
            _read("past"),
            "The past tense of {x} is {a}.",
            "It is {a}, the past tense of {x}.",
            """What is the past tense of {x}?
            Name the past tense of {x}.
            Give me the past tense of {x}.
            How do you write {x} in the past tense?
            + And the past tense of {x}?
            + And of {x}?""",
        ),
        _topic(
            "young",
            _read("young"),
            "A young {x} is called {aa}.",
            "It is {aa}, the young of {ax}.",
            """What is a young {x} called?
            What do you call a young {x}?
            What is the name for a young {x}?
            What is the young of {ax} called?
            + And a young {x}?""",
        ),
        _topic(
            "kind",
            _read("kind"),
            "{ax} is {aa}.",
            "It is {aa}, as every {x} is.",
            """What kind of animal is {ax}?
            Which kind of animal is {ax}?
            Is {ax} a bird, a fish or something else?
            To which group of animals does {ax} belong?
            + And {ax}?
            + What about {ax}?""",
        ),
        _topic(
            "sound",
            _read("sound"),
            "{ax} {a}.",
            "It {a}, as every {x} does.",
            """What sound does {ax} make?
            What does {ax} do with its voice?
            Which sound comes from {ax}?
            + And {ax}?""",
        ),
        _topic(
            "colour",
            _read("colour"),
            "The colour of {x} is {a}.",
            "It is {a}, the colour of {x}.",
            """What colour is {x}?
            Which colour is {x}?
            Name the colour of {x}.
            What is the usual colour of {x}?
            Tell me the colour of {x}.
            + And {x}?
            + What about {x}?""",
        ),
        _topic(
            "sum",
            _sums(),
            "{x} is {a}.",
            "It is {a}, the sum of {m} and {n}.",
            """What is {x}?
            How much is {x}?
            What is {m} + {n}?
            Add {m} and {n}.
            What is the sum of {m} and {n}?
            + And {x}?""",
        ),
        _topic(
            "difference",
            _differences(),
            "{x} is {a}.",
            "It is {a}, which is {x}.",
            """What is {x}?
            How much is {x}?
            What is {m} - {n}?
            Take {n} from {m}.
            + And {x}?""",
        ),
        _topic(
            "day",
            _neighbours(DAYS),
            "The day {x} is {a}.",
            "{a} is the day {x}.",
            """Which day comes {x}?
            What is the day {x}?
            Name the day {x}.
            + And {x}?""",
        ),
        _topic(
            "month",
            _neighbours(MONTHS),
            "The month {x} is {a}.",
            "{a} is the month {x}.",
            """Which month comes {x}?
            What is the month {x}?
            Name the month {x}.
            + And {x}?""",
        ),
        _topic(
            "job",
            _read("job"),
            "{aa} {x}.",
            "It is {aa} who {x}.",
            """Who {x}?
            Which person {x}?
            What do you call somebody who {x}?
            What is the job of a person who {x}?
            + And who {x}?""",
        ),
    )
