"""SD512: a row of the evaluation file nearly repeats a row of the training data."""

from surefit.data.checks.check import Check, Hit, Stage, Terms, Totals
from surefit.data.near_copies import NearCopies
from surefit.data.row import Row


class EvalNearCopy(Check):
    """A row of the evaluation file nearly repeats a row of the training data.

    ## What it does
    Compares the evaluation rows with all training rows by their letters and digits, and by runs
    of twelve characters.

    ## Why it is bad
    The model has all but seen the answer, so the evaluation praises its memory.

    ## Example
    The same question in capitals, or with another full stop.

    ## What to do
    Take the rows out of one of the two files.
    """

    code = "SD512"
    title = "evaluation nearly trained"
    severity = "warn"
    stages = frozenset({Stage.TEXTS, Stage.SET})
    message = (
        "{count} of {eval_rows} evaluation rows nearly repeat rows of the training data, a "
        "leak ({where})"
    )
    why = "the evaluation would praise what is only memory"
    next_step = "take them out of one of the two files"

    def __init__(self, terms: Terms) -> None:
        super().__init__(terms)
        self._wanted = terms.spec.eval is not None and terms.spec.eval_share is None
        self._copies = NearCopies()

    def looks_at(self, stage: Stage) -> bool:
        """Only where there is an evaluation file."""
        return self._wanted and super().looks_at(stage)

    def of_row(self, row: Row) -> Hit | None:
        if not self._wanted:
            return None
        if row.side == "eval":
            self._copies.watch(row.place, row.all_text)
        else:
            self._copies.compare(row.all_text)
        return None

    def of_set(self, totals: Totals) -> Hit | None:
        places = self._copies.found()
        return Hit(count=len(places), place="\n".join(places)) if places else None
