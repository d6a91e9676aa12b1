"""Why a run ended: evidence gathered once, signatures as one file each, a diagnosis in words.

Names are loaded when they are first used: a list of runs shows diagnoses and makes none.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from surefit.diagnose.decide import diagnose
    from surefit.diagnose.diagnosis import Diagnosis, EvidenceLine, Repair
    from surefit.diagnose.evidence import Evidence
    from surefit.diagnose.gather import gather_evidence, gather_from_stream
    from surefit.diagnose.signatures import SIGNATURES

_PLACES = {
    "Diagnosis": "diagnosis",
    "Evidence": "evidence",
    "EvidenceLine": "diagnosis",
    "Repair": "diagnosis",
    "SIGNATURES": "signatures",
    "diagnose": "decide",
    "gather_evidence": "gather",
    "gather_from_stream": "gather",
}

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


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_PLACES[name]}"), name)
    globals()[name] = value
    return value
