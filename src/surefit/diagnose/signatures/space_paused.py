"""SF815 SPACE_PAUSED."""

from surefit.diagnose.diagnosis import Diagnosis
from surefit.diagnose.evidence import Evidence
from surefit.diagnose.signatures.signature import Signature

_PAUSED = (
    r"has been paused by its owner|stage PAUSED|[Ss]pace (?:is |was )?paused|PAUSED\b|"
    r"pausing (?:the )?space"
)
_GONE = r"Failed to load logs: .*|[Ll]ogs? (?:are|is) (?:not available|gone|persisted).*"


class SpacePaused(Signature):
    """The Space paused itself, and the cause is not in the log.

    ## What happened
    The training in a Hugging Face Space stopped, and its code then paused the Space. The log went
    with it.

    ## Why
    Some trainers pause the machine when the training fails, so that it costs nothing more. What
    failed is only in the container's log, which is kept for a while or not at all.

    ## Example
        This Space has been paused by its owner

    ## What to do
    Look for the container's log on the Space's page. Run where the log is kept (on your machine,
    or as a Job), so that the cause can be seen.
    """

    code = "SF815"
    failure_class = "SPACE_PAUSED"
    title = "Paused, and the cause is not in the log"

    def match(self, evidence: Evidence) -> Diagnosis | None:
        """Paused, and no error anywhere."""
        said = evidence.find(_PAUSED)
        paused = (evidence.exit.scheduler or "").upper() == "PAUSED" or said is not None
        if not paused or evidence.root.failure is not None:
            return None
        gone = evidence.find(_GONE)
        return self.answer(
            evidence,
            what="the Space was paused by its own code after the training stopped; the cause is "
            "not in this log",
            why=f"{gone.text.strip()}"
            if gone
            else "the log holds no error, and ends with the pause",
            next_step="open the container's log on the Space's page; run where the log is kept "
            "(on your own "
            "machine or as a Job) to see the cause",
            lines=[line for line in (said, gone) if line],
            phase="unknown",
        )
