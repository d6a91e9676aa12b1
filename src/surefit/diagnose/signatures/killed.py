"""SF201 KILLED."""

from surefit.diagnose.diagnosis import Diagnosis
from surefit.diagnose.evidence import Evidence
from surefit.diagnose.signatures.signature import Signature, again


class Killed(Signature):
    """The process was killed by signal 9, and nothing shows that memory was the reason.

    ## What happened
    Signal 9 (SIGKILL) ended the process at once. It could print nothing, write no checkpoint and
    leave no traceback. Shells report it as exit code 137, Python as -9, Slurm as `0:9`.

    ## Why
    Signal 9 always comes from outside: a person or a script (`kill -9`), a container that was
    removed, a scheduler after its grace period, or the kernel when memory ran out. surefit says
    `HOST_OOM` when the memory counter of the run's group rose or the scheduler said so. Here
    neither did, or nobody counted, so the sender is not known and is not guessed.

    ## Example
        exit.json  {"code": 137, "signal": 9, "oom_kill": 0}

    ## What to do
    Ask who sent it: the scheduler's record of the job (`sacct -j`), the container's events
    (`docker inspect`, `kubectl describe pod`), the kernel's log (`dmesg -T | grep -i kill`). Then
    start again; what was done up to the last checkpoint is kept.
    """

    code = "SF201"
    failure_class = "KILLED"
    title = "Killed by signal 9, not for memory"
    retryable = True

    def match(self, evidence: Evidence) -> Diagnosis | None:
        """Signal 9 for the run or for the rank that ended first."""
        root = evidence.root
        if 9 not in (evidence.exit.signal, root.signal) or root.failure is not None:
            return None
        who = f"rank {root.rank}" if root.rank is not None else "the process"
        counted = evidence.exit.oom_kill is not None
        why = (
            "the memory counter of its group did not rise, so it was not the memory limit: a "
            "person, "
            "a scheduler or the container's owner sent the signal"
            if counted
            else "signal 9 comes from outside and leaves no message; no memory counter was "
            "kept, so "
            "the kernel (out of memory), a scheduler or a person may have sent it"
        )
        return self.answer(
            evidence,
            what=f"{who} was killed by signal 9 (SIGKILL)",
            why=why,
            next_step="ask who sent it: the scheduler's record of the job, the container's "
            "events, or "
            f"`dmesg -T | grep -i kill` on that machine; then {again(evidence)}",
            lines=[root.signal_line] if root.signal_line else evidence.closing[-2:],
        )
