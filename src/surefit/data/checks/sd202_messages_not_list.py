"""SD202: `messages` holds something else than turns."""

from surefit.data.checks.check import Check, Hit, Stage, Tally, Words
from surefit.data.row import Row
from surefit.units import shortened

_NAMES = {"str": "text", "dict": "an object", "NoneType": "null", "int": "a number"}


class MessagesNotList(Check):
    """`messages` is not a list of turns.

    ## What it does
    Checks that `messages` is a list and that each turn in it is an object.

    ## Why it is bad
    Turns that cannot be told apart cannot be put into the model's chat template.

    ## Example
    `{"messages": "user: hi"}` or `{"messages": ["hi", "hello"]}`

    ## What to do
    Write a list of `{"role": ..., "content": ...}`.
    """

    code = "SD202"
    title = "messages is not a list of turns"
    severity = "refuse"
    stages = frozenset({Stage.COLUMNS})
    drops_row = True

    def of_row(self, row: Row) -> Hit | None:
        if "messages" not in row.value:
            return None
        messages = row.value["messages"]
        if not isinstance(messages, list):
            return Hit(f"{_type_name(messages)}: {shortened(str(messages), 40)}")
        for turn in messages:
            if not isinstance(turn, dict):
                return Hit(f"a turn that is {_type_name(turn)}: {shortened(str(turn), 40)}")
        return None

    def words(self, tally: Tally) -> Words:
        return Words(
            f"{tally.rows_text()} whose 'messages' is not a list of turns ({tally.where_text()}); "
            f"the first is {tally.first.value}",
            "turns that cannot be told apart cannot be put into the chat template",
            'write "messages": [{"role": "user", "content": "..."}, ...]',
        )


def _type_name(value: object) -> str:
    return _NAMES.get(type(value).__name__, f"a {type(value).__name__}")
