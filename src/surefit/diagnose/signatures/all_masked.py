"""SF504 ALL_MASKED."""

import re

from surefit.diagnose.diagnosis import Diagnosis
from surefit.diagnose.evidence import Evidence
from surefit.diagnose.signatures.signature import Found, TextSignature

_DROPPED = (
    r"[Dd]ropp\w+ .{0,30}(?:fully )?masked .{0,60}?(?P<rows>\d+)/(?P=rows)\b|[Dd]ropp\w+ "
    r".{0,30}masked"
)
_EMPTY = (
    r"num_samples=0|dataset is empty|empty dataset|no (?:rows|samples|examples) (?:left|remain)"
)


class AllMasked(TextSignature):
    """No token carries loss, so nothing is learned.

    ## What happened
    Every label is masked. The run may look well and end with code 0: the loss is exactly 0 from
    the first step, and so is the gradient.

    ## Why
    Every answer was cut off at the maximal length, the marker that separates question and answer
    was not found, or the masking is inverted. Newer trl drops such rows while preparing and then
    has none left.

    ## Example
        {'loss': '0', 'grad_norm': '0', 'learning_rate': '4.75e-05'}

    ## What to do
    Raise the maximal length above the length of the prompts, or correct the marker. surefit's
    `check` counts the tokens with loss before anything is loaded.
    """

    code = "SF504"
    failure_class = "ALL_MASKED"
    title = "No token carries loss"
    patterns = (
        r"(?:masked|set|all|every).{0,40}labels?.{0,40}-100|[Aa]ll labels.{0,60}-100",
        r"[Rr]esponse (?:marker|template|key|part).{0,80}(?:was not found|not found|could not "
        r"find)",
        r"[Cc]ould not find (?:response|instruction) (?:key|template)",
        r"(?:no|zero|0) (?:trainable|supervised|unmasked) tokens|nothing to train on",
        r"(?:all|every) (?:token|example|row|sample)s? (?:is|are|was|were) (?:fully )?masked",
        _EMPTY,
    )
    what = "no token carries loss: every label is masked"
    why = "{text}{dropped}"
    next_step = (
        "raise the maximal length{length} above the length of the prompts, or correct the "
        "marker that "
        "separates question and answer; then count the tokens with loss before training"
    )
    context = (_DROPPED,)

    def match(self, evidence: Evidence) -> Diagnosis | None:
        """An error that says so, or a loss of exactly zero with a gradient of zero from the start."""
        return super().match(evidence) or self._silent(evidence)

    def accepts(self, found: Found) -> bool:
        """An empty set counts only when rows were there and were dropped because of their masks."""
        if not re.search(_EMPTY, found.text):
            return True
        dropped = found.evidence.find(_DROPPED)
        packed = found.evidence.find(r"^Packing|Grouping texts|block")
        return dropped is not None and (packed is None or packed.position < dropped.position)

    def words(self, found: Found) -> dict[str, str]:
        """What was dropped, and the length."""
        dropped = found.evidence.find(_DROPPED)
        told = f"; the log shows: {dropped.text.split('|')[0].strip()}" if dropped else ""
        limit = found.evidence.plan.max_length
        return {
            **super().words(found),
            "dropped": told,
            "length": f" (now {limit})" if limit else "",
        }

    def phase_of(self, found: Found) -> str | None:
        """Masks are made while preparing."""
        return "prepare_data"

    def _silent(self, evidence: Evidence) -> Diagnosis | None:
        metrics = evidence.metrics
        zero = [m for m in metrics if m.loss == 0 and not (m.gradient_norm or 0) > 0]
        if len(metrics) < 2 or len(zero) != len(metrics) or evidence.root.failure is not None:
            return None
        return self.answer(
            evidence,
            what="no token carries loss: loss and gradient are exactly 0 in every step",
            why=f"all {len(metrics)} logged steps show a loss of 0, so every label is masked "
            f"(-100) and "
            "nothing was learned, however the run ended",
            next_step="correct the masking (the marker of the answers, or a maximal length that "
            "cuts them "
            "all off), and train again; the saved weights equal the base model's",
            lines=[metrics[0].line, metrics[-1].line],
            phase="train",
        )
