"""SD312: the question already holds its answer."""

import re

from surefit.data.checks.check import Check, Hit, Stage, Terms, Totals
from surefit.data.row import Row
from surefit.units import shortened

_LONGEST = 200  # characters of an answer that is looked for


class AnswerInQuestion(Check):
    """The question already holds its answer.

    ## What it does
    Looks for a line such as `Label: positive` in the question that gives the whole answer, in
    most rows.

    ## Why it is bad
    The model learns to copy the line. In use, where the line is not there, it has learned
    nothing.

    ## Example
    Question: `... Label: positive. Is this positive or negative?`, answer: `positive`

    ## What to do
    Take the line out of the questions.
    """

    code = "SD312"
    title = "answer in the question"
    severity = "warn"
    stages = frozenset({Stage.TURNS, Stage.SET})
    message = (
        "the prompt already contains the answer in {count} of {total} rows; the first: {value}"
    )
    why = "the model learns to copy the label from the prompt, and in use it is not there"
    next_step = "take that line out of the prompts"

    def __init__(self, terms: Terms) -> None:
        super().__init__(terms)
        self._count = 0
        self._first: Hit | None = None

    def of_row(self, row: Row) -> Hit | None:
        if len(row.messages) < 2 or row.messages[-1].get("role") != "assistant":
            return None
        answer, question = row.messages[-1].get("content"), row.messages[-2].get("content")
        if isinstance(answer, str) and isinstance(question, str) and len(answer) <= _LONGEST:
            found = _given_away(answer.strip(), question)
            if found is not None:
                self._count += 1
                self._first = self._first or Hit(shortened(found), place=row.place)
        return None

    def of_set(self, totals: Totals) -> Hit | None:
        if self._first is None or self._count < 3 or self._count * 2 < totals.usable:
            return None
        return Hit(self._first.value, count=self._count, place=self._first.place)


def _given_away(answer: str, question: str) -> str | None:
    """The line of the question that is a name and the whole answer."""
    if not answer or answer not in question:
        return None
    line = rf"(?m)^\s*[\w ]{{2,20}}[:=]\s*{re.escape(answer)}\s*$"
    found = re.search(line, question)
    return found.group() if found else None
