"""Forms of an answer: what a system prompt can ask the starter model for.

A form is text with {s} (the full sentence), {f} (the sentence that begins with the answer), {a}
(the bare answer), {x} (what was asked about) or {t} (the topic). Most forms are made up and shown in
the system prompt with the words ANSWER, SUBJECT and TOPIC in it. So the model learns to find an answer
whatever stands around it, which is what makes a new style easy to teach. The demo's own style is never
among them.
"""

import random

SENTENCE = "{s}"
NEUTRAL = (
    "You are a helpful assistant.",
    "You are a friendly assistant.",
    "You are a teacher.",
    "You answer questions.",
    "Answer in a full sentence.",
    "Be helpful and clear.",
)
_NAMED = (
    ("It is {a}.", ("Be very short.", "Answer in three words.", "Give only the answer.")),
    ("{f}", ("Begin with the answer.", "Say the answer first.")),
    ("The topic is {t}. {s}", ("Begin with the topic.", "Say the topic first.")),
    ("{s} The topic is {t}.", ("End with the topic.", "Say the topic last.")),
    ("With pleasure. {s}", ("Be polite.", "Answer politely.")),
)
_ASKED = ("Write: {}", "Use this form: {}", "Answer like this: {}", "Form: {}")
_MARKS = ("#", "*", "-", ">", "/", "|", "=", "+", "[", "]", "(", ")", "<", "!")
_ENDS = (" ", ", ", "; ", " / ", " | ", " - ", " # ", "\n", " > ", ". ")
_LABELS = ("answer", "Answer", "result", "Result", "reply", "Reply", "it is", "value", "Value")
_TOPIC_LABELS = ("topic", "Topic", "field", "Field", "subject", "kind", "Kind")
_SUBJECT_LABELS = ("word", "Word", "of", "Of", "for", "For", "name", "Name", "thing", "question")
_AFTER_LABEL = (": ", " = ", " - ", " ", " > ", " is ")


def draw_form(draw: random.Random) -> tuple[str, str]:
    """A system prompt, and the form of answer it asks for."""
    if draw.random() < 0.3:
        form, prompts = draw.choice(_NAMED)
        return draw.choice(prompts), form
    form = _made_up_form(draw)
    shown = form.format(a="ANSWER", x="SUBJECT", t="TOPIC")
    return draw.choice(_ASKED).format(shown), form


def _made_up_form(draw: random.Random) -> str:
    """An answer, most times after what it is about, perhaps with the topic at some place."""
    parts = [_part("{a}", _LABELS, draw)]
    if draw.random() < 0.65:
        parts.insert(0, _part("{x}", _SUBJECT_LABELS, draw))
    if draw.random() < 0.5:
        parts.insert(draw.randint(0, len(parts)), _part("{t}", _TOPIC_LABELS, draw))
    return draw.choice(_ENDS).join(parts) + draw.choice(("", "", ".", ";", " ]", " )", " #"))


def _part(slot: str, labels: tuple[str, ...], draw: random.Random) -> str:
    """The slot after a label or a mark. Always a space before it: so a word is one and the same token."""
    if draw.random() < 0.6:
        return draw.choice(labels) + draw.choice(_AFTER_LABEL) + slot
    return draw.choice(_MARKS) + " " + slot
