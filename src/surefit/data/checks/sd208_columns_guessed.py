"""SD208: columns were read under another name."""

from surefit.data.checks.check import Check, Hit, Stage, Totals


class ColumnsGuessed(Check):
    """Columns were read under another name.

    ## What it does
    Reads `question` and `answer`, `response` and the like as the columns they stand for, and
    says so.

    ## Why it is bad
    It was a guess. If it is wrong, the wrong column is trained.

    ## Example
    `question,answer`

    ## What to do
    Look at the samples, and name the columns under `data.columns`.
    """

    code = "SD208"
    title = "columns guessed"
    severity = "warn"
    stages = frozenset({Stage.SET})
    message = "columns read under another name: {value}"
    why = "it was a guess; if it is wrong, the wrong column is trained"
    next_step = "look at the samples; to be rid of the warning, map the columns: {fix}"

    def of_set(self, totals: Totals) -> Hit | None:
        guessed = totals.guessed_columns
        if not guessed or not totals.rows:
            return None
        read = ", ".join(f"{name!r} as {need}" for name, need in guessed.items())
        return Hit(
            read, " ".join(f"--map {need}={name}" for name, need in guessed.items()), totals.rows
        )
