"""SF811 TIME_LIMIT."""

from surefit.diagnose.diagnosis import Diagnosis
from surefit.diagnose.evidence import Evidence
from surefit.diagnose.root import is_victim
from surefit.diagnose.signatures.signature import Signature, again

_STATES = (
    "TIMEOUT",
    "DEADLINE",
    "DEADLINEEXCEEDED",
    "TIME_LIMIT",
    "TIMELIMIT",
    "JOB_TIMEOUT",
    "WALLTIME",
)
_SAID = (
    r"DUE TO TIME LIMIT|[Jj]ob timeout|job timed out|TIMEOUT: job|DeadlineExceeded"
    r"|walltime.{0,30}exceeded|exceeded (?:the )?(?:wall|run|time)[ -]?(?:time|limit)|TERM_RUNLIMIT"
    r"|[Tt]ime limit (?:reached|exceeded)|active longer than specified deadline|max(?:imum)? "
    r"(?:run)?time (?:reached|exceeded)"
)
_WRAPPER = r"\btimeout (?:-\S+ )*\d+[smhd]?\b"


class TimeLimit(Signature):
    """A limit of time ended the run.

    ## What happened
    The scheduler, the platform or a `timeout` command stopped the run because its time was up.

    ## Why
    The limit was shorter than the training. Platforms have short defaults: 30 minutes for Hugging
    Face Jobs.

    ## Example
        slurmstepd: error: *** JOB 60817 ON gpu-b02 CANCELLED AT ... DUE TO TIME LIMIT ***

    ## What to do
    Ask for a longer limit and start again from the last checkpoint. surefit's plan gives an
    estimate of the time.
    """

    code = "SF811"
    failure_class = "TIME_LIMIT"
    title = "The time limit was reached"
    retryable = True

    def match(self, evidence: Evidence) -> Diagnosis | None:
        """The scheduler's word, its line in the log, or code 124 of `timeout`."""
        end, failure = evidence.exit, evidence.root.failure
        if failure is not None and not is_victim(failure):
            return None
        state = (end.scheduler or "").upper().replace(" ", "")
        said = evidence.find(_SAID, evidence.closing) if end.failed or not end.known else None
        wrapper = evidence.find(_WRAPPER) if end.code == 124 else None
        if not (any(state.startswith(s) for s in _STATES) or said or end.code == 124):
            return None
        beat = evidence.beat(None)
        at = f" at step {beat.step}" if beat and beat.step else ""
        if end.code == 124 and not said:
            command = f" (`{wrapper.text.strip(' +')}`)" if wrapper else ""
            who = f"the wrapper `timeout`{command}"
        else:
            who = f"the scheduler ({end.scheduler})" if end.scheduler else "the platform"
        reason = (
            said.text.strip()
            if said
            else f"{end.text} is what `timeout` returns when its time is up"
        )
        return self.answer(
            evidence,
            what=f"{who} stopped the run{at} because its time was up",
            why=reason,
            next_step=f"raise the limit and go on from the last checkpoint: {again(evidence)}",
            lines=[line for line in (said, wrapper) if line] or evidence.closing[-2:],
        )
