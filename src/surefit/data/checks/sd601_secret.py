"""SD601: a text contains a key or a password."""

from surefit.data.checks.check import Check, Hit, Stage
from surefit.data.checks.secrets import secret_in
from surefit.data.row import Row


class Secret(Check):
    """A text contains a key or a password.

    ## What it does
    Looks for the forms of access keys, private keys and passwords in addresses. The message
    never shows them.

    ## Why it is bad
    A model repeats what it has learned, to anybody who asks.

    ## Example
    `git clone https://ghp_...@github.com/acme/tools.git`

    ## What to do
    Replace them by placeholders and revoke them: they were in a file that was handed about.
    """

    code = "SD601"
    title = "secret"
    severity = "warn"
    stages = frozenset({Stage.TEXTS})
    message = "{rows} with what looks like a secret ({where}); the first is {value}"
    why = "a model repeats what it has learned to anybody who asks"
    next_step = "replace them in {where} by placeholders, and revoke the keys"

    def of_row(self, row: Row) -> Hit | None:
        kind = secret_in(row.all_text)
        return None if kind is None else Hit(kind)
