"""SF000 NONE."""

from surefit.diagnose.diagnosis import Diagnosis
from surefit.diagnose.evidence import Evidence
from surefit.diagnose.signatures.signature import Signature

_FINISHED = (
    r"\bdone\b|\bsaved\b|[Ff]inished|train_runtime|completed|[Ss]aving (?:to|model)|"
    r"reloaded and compared"
)


class Succeeded(Signature):
    """The run succeeded. Warnings in its log are only warnings.

    ## What happened
    It ended with code 0 and its result is on the disk.

    ## Why
    Libraries warn loudly about things that do no harm: retries that worked, a network card that is
    not there, semaphores left at the end, an out-of-memory error that a smaller batch got past.

    ## Example
        result.json is there, adapter_model.safetensors has 83,945,312 bytes

    ## What to do
    Nothing.
    """

    code = "SF000"
    failure_class = "NONE"
    title = "Success"

    def match(self, evidence: Evidence) -> Diagnosis | None:
        """Code 0 with the result on the disk, or verified by surefit itself."""
        ended_well = evidence.exit.code == 0 and evidence.exit.signal is None
        if not evidence.verified and not (ended_well and self._result_is_there(evidence)):
            return None
        lines = [line for line in [evidence.find(_FINISHED)] if line is not None]
        paths = sorted(evidence.weights)[:3]
        return self.answer(
            evidence,
            what="the run succeeded",
            why=f"its result is there: {', '.join(paths)}" if paths else "its result was verified",
            next_step="nothing to do",
            lines=lines,
        )

    def _result_is_there(self, evidence: Evidence) -> bool:
        if evidence.files is None:
            return (
                evidence.root.failure is None
                and evidence.find(_FINISHED, evidence.lines[-40:]) is not None
            )
        return bool(evidence.weights)
