"""SD610: an answer runs on into the next question."""

import re

from surefit.data.checks.check import Hit
from surefit.data.checks.pattern import PatternCheck
from surefit.data.row import Row


class NextTurnInAnswer(PatternCheck):
    r"""An answer runs on into the next question.

    ## What it does
    Looks for the marks of a next turn at the beginning of a line in answers: `###
    Instruction:`, `Human:`, `<|user|>`.

    ## Why it is bad
    The model learns to answer and then to ask itself.

    ## Example
    `It is blue.\n### Instruction:\nWhat is red?`

    ## What to do
    Cut the answers where they end.
    """

    code = "SD610"
    title = "next turn in the answer"
    severity = "warn"
    looks_in = "answers"
    hints = ("###", "Human", "USER", "<|")
    pattern = re.compile(
        r"(?m)^(?:### ?(?:Instruction|Human|User|Input)\s*:|(?:Human|USER)\s*:\s|"
        r"<\|(?:user|im_start|start_header_id)\|>)"
    )
    message = "{rows} whose answer runs on into a next turn ({where}); the first: {value}"
    why = "the model would learn to answer and then to ask itself"
    next_step = "cut the answers of {where} where they end"

    def of_row(self, row: Row) -> Hit | None:
        """Plain text holds whole dialogues on purpose."""
        return super().of_row(row) if row.text is None else None
