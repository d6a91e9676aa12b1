"""SF601 NAN."""

import math
import re

from surefit.diagnose.diagnosis import Diagnosis, Repair
from surefit.diagnose.evidence import Evidence, MetricLine
from surefit.diagnose.signatures.signature import Signature

_SAID = (
    r"\bloss is (?:nan|inf)|returned nan values|contains either `?inf`?, `?nan`?"
    r"|[Nn]on-?finite (?:loss|grad)|(?:loss|grad\w*|grad_norm) (?:is |became |was )?not finite"
    r"|Current loss scale already at minimum|NaN or Inf found|nan loss|loss (?:is|became|=) "
    r"?(?:nan|NaN)"
    r"|total norm (?:for gradients|of order).*is non-finite"
)


class NotANumber(Signature):
    """Loss or gradient is no longer a number.

    ## What happened
    The loss or the gradient norm became nan or infinite and stayed so. From then on nothing is
    learned, and the weights are ruined, even when the process goes on and ends with code 0.

    ## Why
    A learning rate that is too high, fp16 where a value exceeds 65,504, or a row with an empty
    answer. transformers' `logging_nan_inf_filter` hides it: it logs a loss of 0 instead of nan,
    only `grad_norm` tells.

    ## Example
        {'loss': '0', 'grad_norm': 'nan', 'learning_rate': '2.571e+37'}

    ## What to do
    Start again from the base model or the last good checkpoint, with bf16 or fp32 instead of fp16,
    a lower learning rate and a warm-up. Look at the rows near the first bad step.
    """

    code = "SF601"
    failure_class = "NAN"
    title = "Loss or gradient is not a number"

    def match(self, evidence: Evidence) -> Diagnosis | None:
        """Figures that stopped being numbers for good, or an error that says so."""
        failure = evidence.root.failure
        said = failure is not None and re.search(_SAID, failure.text)
        first = _first_of_the_end(evidence.metrics)
        if not said and (first is None or failure is not None):
            return None
        rate = next((m.learning_rate for m in evidence.metrics if m.learning_rate), None)
        used = f" (it began at {rate:g})" if rate else ""
        lines = [first.line, evidence.metrics[-1].line] if first else []
        lines += list(failure.last.lines[:6]) if said and failure else []
        spoken = None if said else evidence.find(_SAID, evidence.closing)
        hidden = first is not None and first.loss == 0
        masked = "; the logged loss of 0 only hides it" if hidden or _zeros(evidence) else ""
        return self.answer(
            evidence,
            what=f"loss or gradient became nan or infinite{_where(evidence, first)}",
            why=f"the numbers overflowed or a row has nothing to learn{masked}: too high a "
            f"learning "
            f"rate{used}, fp16, or an empty answer; the weights are of no use from there on",
            next_step="start from the base model or the last good checkpoint with bf16 or fp32 "
            "and a "
            f"lower learning rate{used}, and look at the rows near that step",
            lines=[*lines, *([spoken] if spoken else [])],
            phase="train",
            repair=(Repair(change=f"goal.learning_rate: {rate / 10:g}", same_result=False),)
            if rate
            else (),
        )


def _first_of_the_end(metrics: tuple[MetricLine, ...]) -> MetricLine | None:
    """The first line of the run of bad figures that lasts to the end; a single overflow is normal."""
    if all(metric.loss == 0 for metric in metrics):
        return None  # no token carries loss: a mean over nothing, not an overflow
    first, length = None, 0
    for metric in reversed(metrics):
        if metric.is_finite:
            break
        first, length = metric, length + 1
    lost = first is not None and any(not math.isfinite(m.loss or 0.0) for m in metrics[-length:])
    return first if length >= 2 or lost else None


def _zeros(evidence: Evidence) -> bool:
    return any(m.loss == 0 and not m.is_finite for m in evidence.metrics)


def _where(evidence: Evidence, first: MetricLine | None) -> str:
    """The step of the first bad line, from the counter or the step number near it."""
    if first is None:
        return ""
    near = [
        line
        for line in evidence.lines
        if line.file == first.line.file and 0 <= first.line.position - line.position <= 3
    ]
    for line in reversed(near):
        step = re.search(r"\bstep[: =]+(\d+)|\| *(\d+)/\d+ \[", line.text)
        if step:
            return f" at or before step {step[1] or step[2]}"
    return ""
