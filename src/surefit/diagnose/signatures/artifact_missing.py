"""SF901 ARTIFACT_MISSING."""

from surefit.diagnose.diagnosis import Diagnosis
from surefit.diagnose.evidence import Evidence, LogLine
from surefit.diagnose.signatures.signature import Signature, again
from surefit.units import plural

_SAVE_TROUBLE = (
    r"[Ss]av(?:e|ing)\b.{0,60}(?:fail|error|skip|retr)|(?:fail|could not|cannot|"
    r"unable)\w*.{0,30}\bsave"
    r"|(?:upload|push)\w*.{0,40}(?:fail|error)|[Ff]ailed to (?:write|upload|push)"
)
_STEP_FAILED = (
    r"Exited with exit code (?!0\b)\d+|returned non-zero exit status|exit (?:code|"
    r"status):? (?!0\b)\d+|\bFAILED\b"
)
_WHERE = r">>? ?(\S+\.(?:out|log|txt))|log(?:s)? (?:is |are )?(?:in|at) (\S+)"


class ArtifactMissing(Signature):
    """The run was reported as a success, but its result is not there.

    ## What happened
    The exit code is 0 or the scheduler says COMPLETED, and no trained weights were left behind.

    ## Why
    An exception was caught and only logged, the save or the upload failed, the output went
    elsewhere, or the job's last command was something harmless such as `echo`, whose success the
    scheduler reported.

    ## Example
        exit.json   {"code": 0, "scheduler": "COMPLETED"}
        files.json  {"out/training_args.json": 3110}

    ## What to do
    Treat it as a failure. Read the log around the save, save again from the last checkpoint, and
    let the batch script end with the training's own status (`set -e`).
    """

    code = "SF901"
    failure_class = "ARTIFACT_MISSING"
    title = "Reported as success, but the result is missing"

    def match(self, evidence: Evidence) -> Diagnosis | None:
        """Success is claimed, and neither weights nor a verified result are there."""
        claimed = evidence.exit.code == 0 and evidence.exit.signal is None
        if not claimed or evidence.verified:
            return None
        if evidence.missing is not None:
            return self._unproven(evidence, evidence.missing)
        if evidence.files is None or evidence.weights:
            return None
        trouble = evidence.find(_SAVE_TROUBLE) or evidence.find(_STEP_FAILED)
        inner = evidence.find(_WHERE) if trouble else None
        empty = [path for path, size in evidence.files.items() if size == 0]
        left = plural(len(evidence.files), "other file") if evidence.files else "nothing at all"
        said = f"; the log says: {trouble.text.strip()}" if trouble else ""
        word = f" ({evidence.exit.scheduler})" if evidence.exit.scheduler else ""
        return self.answer(
            evidence,
            what=f"the run was reported as a success{word}, but it left no trained weights",
            why=f"on the disk is {left}{', empty: ' + ', '.join(empty[:3]) if empty else ''}{said}",
            next_step=self._next(inner),
            lines=[line for line in (trouble, inner) if line] or evidence.closing[-3:],
        )

    def _unproven(self, evidence: Evidence, missing: str) -> Diagnosis:
        return self.answer(
            evidence,
            what=f"the worker ended with code 0, but its success is not proven: {missing}",
            why="success is the files of the result with their hashes, and an adapter that was "
            "loaded again "
            "and compared; never an exit code",
            next_step=f"do not use this result; {again(evidence)}",
            lines=evidence.closing[-5:],
        )

    def _next(self, inner: LogLine | None) -> str:
        if inner is not None:
            return (
                f"read the training's own output ({inner.text.strip()}), and end the batch "
                f"script with its status (`set -e`)"
            )
        return "save again, or continue from the last checkpoint; check where the output went"
