"""SD512: a row of the evaluation file nearly repeats a row of the training data."""

from surefit.data.checks.check import Check, Hit, Stage, Terms, Totals
from surefit.data.near_copies import NearCopies, Sketches
from surefit.data.row import Row


class EvalNearCopy(Check):
    """A row of the evaluation file nearly repeats a row of the training data.

    ## What it does
    Compares the evaluation rows with all training rows by their letters and digits, and by runs
    of twelve characters. Where a share of one file is held back, rows with the same letters and
    digits stay on one side, and the others are compared by runs of three words.

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
    stages = frozenset({Stage.TEXTS, Stage.SIDED, Stage.SET})
    message = (
        "{count} of {eval_rows} evaluation rows nearly repeat rows of the training data, a "
        "leak ({where})"
    )
    why = "the evaluation would praise what is only memory"
    next_step = (
        "take them out, or set data.eval to a file that shares nothing with the training data"
    )

    def __init__(self, terms: Terms) -> None:
        super().__init__(terms)
        self._share = terms.spec.eval_share is not None
        self._wanted = terms.spec.eval not in (None, "none")
        self._copies, self._sketches = NearCopies(), Sketches()

    def looks_at(self, stage: Stage) -> bool:
        """A file to evaluate on is read first; a share is known only when its rows are taken."""
        unwanted = Stage.TEXTS if self._share else Stage.SIDED
        return self._wanted and stage is not unwanted and super().looks_at(stage)

    def of_row(self, row: Row) -> Hit | None:
        if self._share:
            self._sketches.add(row.place, row.all_text, held_back=row.held_back)
        elif row.side == "eval":
            self._copies.watch(row.place, row.all_text)
        else:
            self._copies.compare(row.all_text)
        return None

    def of_set(self, totals: Totals) -> Hit | None:
        places = self._sketches.found() if self._share else self._copies.found()
        return Hit(count=len(places), place="\n".join(places)) if places else None
