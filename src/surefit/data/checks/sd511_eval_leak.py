"""SD511: rows to evaluate on that are trained too."""

from surefit.data.checks.check import Check, Hit, Stage, Terms, Totals
from surefit.data.row import Row


class EvalLeak(Check):
    """A row of the evaluation file is in the training data too.

    ## What it does
    Compares every conversation of the evaluation file with those of the training data, word for
    word. Where a share of one file is held back, copies stay on one side and cannot leak.

    ## Why it is bad
    The model has seen the answer. The evaluation then praises what is only memory.

    ## Example
    An evaluation file that was sampled from the training file and not taken out of it.

    ## What to do
    Delete the rows from one of the two files.
    """

    code = "SD511"
    title = "evaluation rows are trained"
    severity = "warn"
    stages = frozenset({Stage.TEXTS, Stage.SET})
    message = (
        "{count} of {eval_rows} evaluation rows are in the training data too, a leak ({where})"
    )
    why = "the model has seen these answers, so the evaluation would praise its memory"
    next_step = "delete {where}, or the same rows of the training data"

    def __init__(self, terms: Terms) -> None:
        super().__init__(terms)
        self._wanted = terms.spec.eval is not None and terms.spec.eval_share is None
        self._places: dict[int, list[str]] = {}
        self._trained: set[int] = set()

    def looks_at(self, stage: Stage) -> bool:
        """Only where there is an evaluation file."""
        return self._wanted and super().looks_at(stage)

    def of_row(self, row: Row) -> Hit | None:
        """The evaluation rows come first, so that only their hashes are kept."""
        if not self._wanted:
            return None
        mark = row.fingerprint
        if row.side == "eval":
            self._places.setdefault(mark, []).append(row.place)
        elif mark in self._places:
            self._trained.add(mark)
        return None

    def of_set(self, totals: Totals) -> Hit | None:
        places = [place for mark in self._trained for place in self._places[mark]]
        return Hit(count=len(places), place="\n".join(sorted(places))) if places else None
