"""SF604 NOTHING_TRAINED."""

import re

from surefit.diagnose.diagnosis import Diagnosis
from surefit.diagnose.evidence import Evidence, LogLine
from surefit.diagnose.metrics import last_counter
from surefit.diagnose.signatures.signature import Signature, again

_ZERO_STEPS = (
    r"(?:planned |[Tt]otal )?optimi[sz]ation steps ?[:=] ?0\b|optimizer steps ?[:=] ?0\b|"
    r"(?:max_steps|num_training_steps|total steps) ?[:=] ?0\b|\b0 optimizer steps"
)
_NO_WEIGHTS = r"trainable params: 0 \|\||[Tt]rainable parameters ?[:=] ?0\b|\b0 trainable param"
_FINISHED = (
    r"already (?:completed|finished|trained|at)|nothing (?:left )?to train|[Tt]raining "
    r"(?:is )?already complete"
)
_RESUME = r"resum\w*['\"]?[:=]? ?['\"]?\S*?checkpoint-(?P<step>\d+)"
_LIMIT = r"max_steps['\"]?[:=] ?['\"]?(?P<steps>\d+)"


class NothingTrained(Signature):
    """The run ended well, but no weight changed.

    ## What happened
    The process ended with code 0 and saved a model, and that model equals the one it began with.

    ## Why
    There were no optimizer steps (too few rows for the accumulation, or a checkpoint that was
    already at its last step), the learning rate was 0, or everything was frozen.

    ## Example
        [train] planned optimizer steps: 0

    ## What to do
    Correct the setting and train again. surefit refuses a plan without optimizer steps.
    """

    code = "SF604"
    failure_class = "NOTHING_TRAINED"
    title = "Ended well, but nothing was trained"

    def match(self, evidence: Evidence) -> Diagnosis | None:
        """Success is claimed, and the figures show that no weight can have changed."""
        claimed = evidence.exit.code == 0 and evidence.exit.signal is None
        if not claimed or evidence.root.failure is not None:
            return None
        for look in (self._no_steps, self._zero_rate, self._frozen, self._finished_before):
            found = look(evidence)
            if found is not None:
                why, next_step, lines = found
                return self.answer(
                    evidence,
                    what="the run ended well, but no weight changed",
                    why=why,
                    next_step=next_step,
                    lines=lines,
                    phase="train",
                )
        return None

    def _no_steps(self, evidence: Evidence) -> tuple[str, str, list[LogLine]] | None:
        line = evidence.find(_ZERO_STEPS)
        if line is None or evidence.metrics:
            return None
        rows = evidence.find(r"\b\d+ rows\b|[Nn]um examples")
        why = f"there was no optimizer step: {line.text.strip()}"
        return (
            why,
            "lower the accumulation or the batch, or add data, so that at least one step remains",
            [line, *([rows] if rows else [])],
        )

    def _zero_rate(self, evidence: Evidence) -> tuple[str, str, list[LogLine]] | None:
        rates = [m for m in evidence.metrics if m.learning_rate is not None]
        if not rates or any(m.learning_rate for m in rates):
            return None
        if (
            len(rates) < 2
            and last_counter(evidence.lines)
            and (last_counter(evidence.lines) or (2,))[0] > 1
        ):
            return None
        return (
            f"the learning rate is 0 in all {len(rates)} logged steps",
            "set a learning rate (2e-4 is usual for LoRA) and train again",
            [rates[0].line, rates[-1].line],
        )

    def _frozen(self, evidence: Evidence) -> tuple[str, str, list[LogLine]] | None:
        line = evidence.find(_NO_WEIGHTS)
        norms = [m.gradient_norm for m in evidence.metrics if m.gradient_norm is not None]
        losses = {m.loss for m in evidence.metrics}
        still = len(norms) > 1 and not any(norms) and losses != {0.0}
        if line is None and not still:
            return None
        said = line.text.strip() if line else "the gradient is 0 in every step"
        lines = [line] if line else [evidence.metrics[0].line, evidence.metrics[-1].line]
        return (
            f"nothing is trainable: {said}",
            "unfreeze the adapter or the weights to be trained",
            lines,
        )

    def _finished_before(self, evidence: Evidence) -> tuple[str, str, list[LogLine]] | None:
        said = evidence.find(_FINISHED)
        start = [(line, m) for line, m in evidence.find_all(_RESUME)]
        limit = [m for _, m in evidence.find_all(_LIMIT)]
        if said is not None:
            lines, why = [said], f"the checkpoint was already at its end: {said.text.strip()}"
        elif start and limit and int(start[-1][1]["step"]) >= int(limit[-1]["steps"]):
            lines = [start[-1][0]]
            why = (
                f"the checkpoint is already at step {start[-1][1]['step']} of "
                f"{limit[-1]['steps']}, so that "
                "no step was left to train"
            )
        else:
            return None
        if len(evidence.metrics) > 1:
            return None
        bar = evidence.find(r"^\d+it \[")
        return (
            why,
            f"raise the number of steps or epochs, then {again(evidence)}",
            [*lines, *([bar] if bar else [])],
        )


def says_zero_steps(text: str) -> bool:
    """Whether a line of a log announces that there is no optimizer step."""
    return re.search(_ZERO_STEPS, text) is not None
