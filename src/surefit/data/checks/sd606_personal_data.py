"""SD606: a text holds personal data."""

from surefit.data.checks.check import Check, Hit, Stage
from surefit.data.checks.personal import personal_data_in
from surefit.data.row import Row


class PersonalData(Check):
    """A text holds personal data.

    ## What it does
    Looks for payment card numbers and bank accounts that pass their check digits. The message
    never shows them.

    ## Why it is bad
    A model repeats what it has learned, to anybody who asks.

    ## Example
    `My card is 4111 1111 1111 1111.`

    ## What to do
    Replace them by placeholders.
    """

    code = "SD606"
    title = "personal data"
    severity = "warn"
    stages = frozenset({Stage.TEXTS})
    message = "{rows} with what looks like {value} ({where})"
    why = "a model repeats what it has learned to anybody who asks"
    next_step = "replace the numbers in {where} by placeholders"

    def of_row(self, row: Row) -> Hit | None:
        kind = personal_data_in(row.all_text)
        return None if kind is None else Hit(kind)
