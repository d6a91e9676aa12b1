"""SD607: an answer is a placeholder."""

from surefit.data.checks.check import Check, Hit, Stage
from surefit.data.row import Row

_LONGEST = 16  # characters
_PLACEHOLDERS = frozenset(
    {"todo", "tbd", "n/a", "null", "nan", "undefined", "placeholder", "#n/a", "#ref", "answer here"}
)


class PlaceholderAnswer(Check):
    """An answer is a placeholder.

    ## What it does
    Looks for answers that say nothing but TODO, N/A, null, nan, undefined, lorem ipsum and the
    like.

    ## Why it is bad
    The model learns to write the placeholder.

    ## Example
    `{"role": "assistant", "content": "TODO"}`

    ## What to do
    Write the answer, or delete the row.
    """

    code = "SD607"
    title = "placeholder"
    severity = "warn"
    stages = frozenset({Stage.TURNS})
    message = "{rows} whose answer is a placeholder ({where}); the first: {value}"
    why = "the model would learn to write it"
    next_step = "write the answers of {where}, or delete these rows"

    def of_row(self, row: Row) -> Hit | None:
        for turn in row.messages:
            content = turn.get("content")
            if turn.get("role") == "assistant" and isinstance(content, str):
                said = content.strip()
                if len(said) <= _LONGEST and said.strip(".!?[]<>").lower() in _PLACEHOLDERS:
                    return Hit(said)
                if said.startswith("Lorem ipsum"):
                    return Hit(said[:_LONGEST])
        return None
