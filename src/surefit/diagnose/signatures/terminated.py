"""SF203 TERMINATED."""

import re

from surefit.diagnose.diagnosis import Diagnosis
from surefit.diagnose.evidence import Evidence
from surefit.diagnose.signatures.signature import Signature, again

_SAID = (
    r"KeyboardInterrupt|SignalException: .*got signal: (?:15|2)\b|Received (?:15|2|SIGTERM|"
    r"SIGINT) (?:death )?signal|received SIG(?:TERM|INT)|CANCELLED AT"
)
_WORDS = {"CANCELLED", "CANCELED", "STOPPED", "KILLED_BY_USER"}


class Terminated(Signature):
    """Somebody or something asked the run to stop.

    ## What happened
    The run received SIGTERM (signal 15) or SIGINT (signal 2, Ctrl-C). Shells report 143 and 130.

    ## Why
    A person cancelled it, `surefit stop` was used, a scheduler ended the job, or the machine shut
    down. Where the scheduler gives a better reason (a time limit, preemption), surefit names that
    instead.

    ## Example
        exit.json  {"code": 143}

    ## What to do
    If you did not stop it, ask the scheduler or whoever shares the machine. Start again: what was
    done up to the last checkpoint is kept.
    """

    code = "SF203"
    failure_class = "TERMINATED"
    title = "Stopped from outside"
    retryable = True

    def match(self, evidence: Evidence) -> Diagnosis | None:
        """SIGTERM or SIGINT for the whole run, and no error of its own before it."""
        end, root = evidence.exit, evidence.root
        said = evidence.find(_SAID, evidence.closing)
        word = (end.scheduler or "").upper()
        cancelled = any(word.startswith(name) for name in _WORDS)
        by_signal = end.signal in (2, 15) or (said is not None and not end.alive)
        if root.failure is not None or not (by_signal or cancelled or evidence.stop_requested):
            return None
        if not end.failed and end.known and not cancelled:
            return None
        name = (
            "SIGINT"
            if end.signal == 2 or (said and re.search("Keyboard", said.text))
            else "SIGTERM"
        )
        asked = evidence.stop_requested
        return self.answer(
            evidence,
            what=f"the run was told to stop ({name})",
            why="`surefit stop` asked it to"
            if asked
            else f"the request came from outside ({end.text}): "
            "a person, a scheduler or the machine's shutdown",
            next_step=f"to go on, {again(evidence)}"
            if asked
            else "if you did not stop it, ask the "
            f"scheduler or the machine's owner; to go on from the last checkpoint, "
            f"{again(evidence)}",
            lines=[said] if said else evidence.closing[-1:],
        )
