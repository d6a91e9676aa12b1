"""Decisions about what is saved and proved."""

from typing import TYPE_CHECKING

from surefit.data.report import DatasetReport
from surefit.models.facts import ModelFacts
from surefit.plan.decisions.deciding import asked, decide
from surefit.plan.disk import checkpoint_size
from surefit.plan.plan import Decision
from surefit.units import bytes_text, plural, seconds_text

if TYPE_CHECKING:
    from surefit.plan.planner import Draft


def explain_saving(draft: "Draft", report: DatasetReport) -> list[Decision]:
    """Checkpoints and evaluations."""
    training, seconds = draft.training, draft.seconds
    size = bytes_text(checkpoint_size(draft.chosen.setup))
    often = ""
    if seconds is not None:
        each = (seconds.low + seconds.high) / 2 / training.steps
        often = f", about every {seconds_text(each * training.checkpoint_every_steps)}"
    if report.eval_rows == 0:
        evaluating = "no rows are held back, so nothing is evaluated"
    elif training.eval_every_steps is None:
        evaluating = (
            f"{plural(report.eval_rows, 'row')} are evaluated at the end only: more often "
            "would take "
            "over a tenth of the time"
        )
    elif training.no_improvement is not None:
        evaluating = (
            f"{plural(report.eval_rows, 'row')} are evaluated at least ten times, so that it can "
            "be told when nothing gets better"
        )
    else:
        evaluating = (
            f"{plural(report.eval_rows, 'row')} are evaluated about four times, which takes less "
            "than a tenth of the time"
        )
    patience = training.no_improvement
    return [
        decide(
            draft,
            "checkpoint_every_steps",
            f"{size} each{often}: what a crash can cost",
            asked(draft, "how", "checkpoint_every_steps"),
        ),
        decide(
            draft,
            "keep_checkpoints",
            "the newest are kept; one more exists while the next is written",
            asked(draft, "how", "keep_checkpoints"),
        ),
        decide(draft, "eval_every_steps", evaluating),
        decide(
            draft,
            "no_improvement",
            "every step is made, whatever the loss on the eval rows does"
            if patience is None
            else f"training ends after {plural(patience, 'evaluation')} without a lower loss; the "
            "weights of the best one are the result",
            asked(draft, "limits", "no_improvement"),
        ),
    ]


def explain_proving(draft: "Draft", facts: ModelFacts) -> list[Decision]:
    """The rehearsal, the check of the result, and what is unusual about the model."""
    decisions = [
        decide(
            draft,
            "rehearse",
            "the largest batch, saving and reloading are proved before the first step",
        ),
        decide(draft, "only_rehearse", "training follows the rehearsal"),
        decide(draft, "heartbeat_seconds", "how often the worker says that it lives"),
        decide(
            draft,
            "verify_rows",
            "rows on which the saved files, loaded again, must answer as the trained model does",
        ),
        decide(
            draft,
            "verify_tolerance",
            f"largest difference of a logit allowed in {draft.training.precision}",
        ),
    ]
    if facts.ignored_code:
        decisions.append(
            Decision(
                field="model code",
                value=list(facts.ignored_code),
                reason="config.json asks for these Python classes; they are never run: the "
                f"library's own {facts.architecture} is used",
            )
        )
    if not facts.known_family:
        decisions.append(
            Decision(
                field="architecture",
                value=facts.architecture,
                reason="its rules are not known: parameters are counted from the headers, and "
                "every estimate of memory is widened",
            )
        )
    return decisions
