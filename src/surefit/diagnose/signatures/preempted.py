"""SF812 PREEMPTED."""

from surefit.diagnose.diagnosis import Diagnosis
from surefit.diagnose.evidence import Evidence
from surefit.diagnose.root import is_victim
from surefit.diagnose.signatures.signature import Signature, again

_STATES = (
    "PREEMPT",
    "NODE_FAIL",
    "NODEFAIL",
    "BOOT_FAIL",
    "EVICTED",
    "REVOKED",
    "SPOT",
    "HOST_MAINTENANCE",
    "NODELOST",
    "NODE_LOST",
    "SHUTDOWN",
)
_SAID = (
    r"DUE TO (?:PREEMPTION|NODE FAIL\w*|JOB REQUEUE)|[Ss]pot .{0,20}(?:interruption|termination|reclaim|notice)"
    r"|[Ii]nstance .{0,30}(?:terminat|reclaim|interrupt|preempt)\w*|\b[Pp]reempted\b|"
    r"[Pp]reemption notice"
    r"|[Nn]ode (?:failure|is being drained|\S+ (?:failed|is down|not responding))|NODE_FAIL|"
    r"[Ee]victed\b"
    r"|rebalance recommendation|host maintenance|pod .{0,40}was (?:evicted|deleted)|[Ss]pot "
    r"instance"
)
_CHECKPOINT = (
    r"checkpoint[-_]?\d+ (?:written|saved|complete)|[Ss]aved checkpoint|written "
    r"checkpoint|writing checkpoint"
)


class Preempted(Signature):
    """The machine was taken away, or it failed.

    ## What happened
    A job of higher priority took the node, a spot machine was reclaimed, or the node itself died.
    Nothing is wrong with the run.

    ## Why
    Cheap capacity is lent until somebody else wants it.

    ## Example
        slurmstepd: error: *** JOB 71003 ON gpu-b11 CANCELLED AT ... DUE TO PREEMPTION ***

    ## What to do
    Start again unchanged; it goes on from the last checkpoint.
    """

    code = "SF812"
    failure_class = "PREEMPTED"
    title = "The machine was taken away"
    retryable = True

    def match(self, evidence: Evidence) -> Diagnosis | None:
        """The scheduler's word, or the line that announces it."""
        end, failure = evidence.exit, evidence.root.failure
        if failure is not None and not is_victim(failure):
            return None
        state = (end.scheduler or "").upper().replace(" ", "_")
        told = any(state.startswith(name) for name in _STATES)
        said = evidence.find(_SAID, evidence.closing) if end.failed or not end.known else None
        if not told and said is None:
            return None
        kept = evidence.find(_CHECKPOINT, evidence.closing)
        saved = f"; a checkpoint was written: {kept.text.strip()}" if kept else ""
        word = f" ({end.scheduler})" if end.scheduler else ""
        return self.answer(
            evidence,
            what=f"the machine was taken away or failed{word}",
            why=f"{said.text.strip() if said else f'the scheduler says {end.scheduler}'}{saved}",
            next_step=f"nothing is wrong with the run: {again(evidence)}, unchanged; it goes on "
            f"from the last checkpoint",
            lines=[line for line in (said, kept) if line] or evidence.closing[-2:],
        )
