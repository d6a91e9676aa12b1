"""Why a run ended: evidence gathered once, signatures as one file each, a diagnosis in words."""

from surefit.diagnose.decide import diagnose
from surefit.diagnose.diagnosis import Diagnosis, EvidenceLine, Repair
from surefit.diagnose.evidence import Evidence
from surefit.diagnose.gather import gather_evidence, gather_from_stream
from surefit.diagnose.signatures import SIGNATURES

__all__ = [
    "SIGNATURES",
    "Diagnosis",
    "Evidence",
    "EvidenceLine",
    "Repair",
    "diagnose",
    "gather_evidence",
    "gather_from_stream",
]
