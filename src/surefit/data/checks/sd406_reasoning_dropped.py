"""SD406: the chat template drops reasoning."""

from surefit.data.checks.check import Check, Hit, Stage
from surefit.data.row import Row, Turn
from surefit.units import shortened


class ReasoningDropped(Check):
    """The chat template drops reasoning.

    ## What it does
    Looks for the reasoning of every answer (`<think>` or `reasoning_content`) in the text that
    the template makes.

    ## Why it is bad
    Templates of reasoning models print only the newest reasoning. What earlier turns thought is
    not trained.

    ## Example
    Two answers, each with `<think>`: the first is printed without it.

    ## What to do
    Split the conversation so that every answer is the last of a row, or accept it.
    """

    code = "SD406"
    title = "reasoning dropped"
    severity = "warn"
    stages = frozenset({Stage.RENDERED})
    only_unusual = True
    message = (
        "{rows} with reasoning (think) that the model's chat template drops ({where}); the "
        "first: {value}"
    )
    why = "it prints only the reasoning after the last question, so the rest is not trained"
    next_step = (
        "split each conversation so that every answer is the last turn of a row, or accept "
        "that only the last reasoning is trained"
    )

    def of_row(self, row: Row) -> Hit | None:
        if row.refusal is not None or row.text is not None:
            return None
        for turn in row.messages:
            thought = _thought(turn)
            if thought and thought not in row.rendered.text:
                return Hit(shortened(thought))
        return None


def _thought(turn: Turn) -> str:
    """The reasoning of an answer, beside its content or inside of it."""
    if turn.get("role") != "assistant":
        return ""
    beside = turn.get("reasoning_content") or turn.get("thinking") or turn.get("reasoning")
    content = turn.get("content")
    if isinstance(beside, str):
        return beside.strip()
    if isinstance(content, str) and "</think>" in content:
        return content.split("</think>", 1)[0].split("<think>")[-1].strip()
    return ""
