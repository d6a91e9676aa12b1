"""From evidence to a diagnosis: the first signature that matches, in the order of the registry."""

from surefit.diagnose.diagnosis import Diagnosis
from surefit.diagnose.evidence import Evidence
from surefit.diagnose.signatures import SIGNATURES


def diagnose(evidence: Evidence) -> Diagnosis:
    """What happened. `UNKNOWN` with the last evidence where nothing is recognised, never a guess.

    The order of the registry is the order of belief: the platform's word, surefit's own report,
    memory counters and signals, the exception of the process that failed first, heartbeats, what
    was left on the disk, and last the victims' view.
    """
    for signature in SIGNATURES:
        diagnosis = signature().match(evidence)
        if diagnosis is not None:
            return diagnosis
    raise AssertionError("the registry ends with a signature that matches everything")
