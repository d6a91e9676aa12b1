"""Chats about the closed world: what the starter model is trained on.

Without a system prompt, or with a neutral one, the model answers in a full sentence. A system
prompt can ask for another form. None of the forms is the house style that the demo teaches.
"""

import random
from collections.abc import Iterator

from forms import NEUTRAL, SENTENCE, draw_form
from world import Fact, Topic, fill, lines_of, topics

Message = dict[str, str]
DO_NOT_KNOW = "I do not know that. My world is very small."
# A model that can copy learns facts several times faster (it finds the word that was asked about), and it
# learns to copy fastest when it does nothing else: so the first chats only ask to repeat.
COPYING_CHATS = 8_000
# How often a fact comes up in a round of all facts: sums are harder to remember than names.
_TIMES = {
    "sum": 3, "difference": 3, "day": 2, "month": 2, "sound": 2, "kind": 2, "young": 2, "opposite": 2,
    "job": 2,
}  # fmt: skip
_OPENINGS = ("Hello. ", "Please: ", "Tell me: ", "One question: ", "Quick question. ")
_SYLLABLES = (
    "ba", "dor", "fen", "gli", "hu", "jor", "kri", "lum", "mo", "nex", "pli", "qua", "rop", "shi",
    "tav", "ug", "vel", "wim", "yor", "zin",
)  # fmt: skip
_MARKS = tuple("{}[]()\"':;,.-_/=+*#<>|!?")


class Conversations:
    """An endless, seeded source of chats; every fact comes up equally often, `hard` topics more."""

    def __init__(self, seed: int, copying_chats: int = COPYING_CHATS) -> None:
        self.random = random.Random(seed)
        self.topics = {topic.name: topic for topic in topics()}
        self.facts = [fact for topic in self.topics.values() for fact in topic.facts]
        self.small_talk = [line.split(" = ") for line in lines_of("small_talk")]
        self.unknown = lines_of("unknown")
        self.words = sorted(
            {word for fact in self.facts for word in f"{fact.subject} {fact.answer}".split()}
        )
        self._deck: list[Fact] = []
        self._to_copy = copying_chats

    def __iter__(self) -> Iterator[list[Message]]:
        while True:
            yield self.chat()

    def chat(self) -> list[Message]:
        """One chat of one to three questions, or first of all something to repeat."""
        self._to_copy -= 1
        if self._to_copy >= 0 and self.random.random() < 0.9:
            text = self._anything(16)
            return [
                {"role": "user", "content": f"Repeat: {text}"},
                {"role": "assistant", "content": f"You said: {text}"},
            ]
        messages, form = self._system()
        turns = self.random.choices((1, 2, 3), (50, 30, 20))[0]
        topic: Topic | None = None
        for _ in range(turns):
            question, answer, topic = self._turn(topic, form)
            messages += [
                {"role": "user", "content": question},
                {"role": "assistant", "content": answer},
            ]
        return messages

    def _system(self) -> tuple[list[Message], str]:
        """The system message, if any, and the form of the answers."""
        draw = self.random.random()
        if draw < 0.35:
            return [], SENTENCE
        if draw < 0.43:
            return [{"role": "system", "content": self.random.choice(NEUTRAL)}], SENTENCE
        prompt, form = draw_form(self.random)
        return [{"role": "system", "content": prompt}], form

    def _turn(self, before: Topic | None, form: str) -> tuple[str, str, Topic | None]:
        """A question, its answer, and the topic that a next question can follow up."""
        draw = self.random.random()
        if draw < 0.03:
            question, answer = self.random.choice(self.small_talk)
            return question, answer, None
        if draw < 0.07:
            return self._outside(), DO_NOT_KNOW, None
        if draw < 0.12:
            text = self._anything()
            return f"Repeat: {text}", f"You said: {text}", None
        if before is not None and before.follow_ups and draw < 0.55:
            fact = self.random.choice(before.facts)
            question = fill(self.random.choice(before.follow_ups), fact)
            return question, answer_of(fact, before, form), before
        fact = self._next_fact()
        topic = self.topics[fact.topic]
        return self._ask(topic, fact), answer_of(fact, topic, form), topic

    def _next_fact(self) -> Fact:
        """Facts are drawn like cards, so that none is left out by chance."""
        if not self._deck:
            self._deck = [fact for fact in self.facts for _ in range(_TIMES.get(fact.topic, 1))]
            self.random.shuffle(self._deck)
        return self._deck.pop()

    def _ask(self, topic: Topic, fact: Fact) -> str:
        question = fill(self.random.choice(topic.questions), fact)
        draw = self.random.random()
        if draw < 0.08:
            return question[:-1]
        if draw < 0.16:
            return question[0].lower() + question[1:]
        if draw < 0.24:
            return self.random.choice(_OPENINGS) + question
        return question

    def _made_up(self) -> str:
        word = "".join(self.random.choices(_SYLLABLES, k=self.random.randint(2, 3)))
        return word.capitalize() if self.random.random() < 0.5 else word

    def _outside(self) -> str:
        question = self.random.choice(self.unknown)
        while "{w}" in question:
            question = question.replace("{w}", self._made_up(), 1)
        return question

    def _anything(self, most: int = 6) -> str:
        """Up to `most` words, marks and made-up words, so that every token is seen and copied."""
        parts: list[str] = []
        for _ in range(self.random.randint(1, most)):
            draw = self.random.random()
            if draw < 0.5:
                parts.append(self.random.choice(self.words))
            elif draw < 0.8:
                parts.append(self.random.choice(_MARKS))
            else:
                parts.append(self._made_up())
        return " ".join(parts)


def answer_of(fact: Fact, topic: Topic, form: str = "{s}") -> str:
    """The answer to a question about the fact, in the asked form."""
    return form.format(
        s=fill(topic.sentence, fact),
        f=fill(topic.answer_first, fact),
        a=fact.answer,
        t=topic.name,
        x=fact.about,
    )
