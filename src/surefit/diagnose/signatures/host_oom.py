"""SF202 HOST_OOM."""

import re

from surefit.diagnose.diagnosis import Diagnosis
from surefit.diagnose.evidence import Evidence, LogLine
from surefit.diagnose.root import is_victim
from surefit.diagnose.signatures.signature import Signature

# The kernel, the container's owner and the scheduler each have their own words for it.
_PROOFS = (
    r"Memory cgroup out of memory: Killed process",
    r"Out of memory: Killed process",
    r"oom-kill(?:er)?(?: event|:|\b.*constraint=)",
    r"[Dd]etected \d+ oom[-_ ]kill",
    r"\bOOMKilled\b",
    r"Exceeded (?:job|step) memory limit|exceeded memory limit",
    r"tasks? [\d,-]+: Out [Oo]f [Mm]emory",
    r"\bState[=:] ?OUT_OF_MEMORY",
    r"worker was killed due to (?:the node running low on memory|memory pressure)|"
    r"OutOfMemoryError: Task was killed",
)
_REFUSED = (
    r"DefaultCPUAllocator: (?:can't|not enough memory).{0,40}(?:tried to allocate "
    r"(?P<wanted>\d+) bytes)?",
    r"Unable to allocate (?P<size>[\d.]+ [KMGT]iB) for an array",
    r"\[Errno 12\] Cannot allocate memory|\(os error 12\)",
    r"Task was killed due to the node running low on memory|memory pressure",
    r"std::bad_alloc|^MemoryError\b",
)
_PROCESS_DIED = re.compile(
    r"abruptly died|exited unexpectedly|is killed by signal: Killed|terminated abruptly"
    r"|BrokenProcessPool|worker process.*died|SIGKILL|WorkerCrashedError|ActorDiedError"
)
_WORDS = {"OUT_OF_MEMORY", "OOMKILLED", "OOM", "OUTOFMEMORY", "OUT OF MEMORY", "OOM_KILLED"}


class HostOutOfMemory(Signature):
    """The machine's main memory ran out and the kernel ended a process for it.

    ## What happened
    A process of the run asked for more main memory (RAM, not GPU memory) than its machine,
    container or job may use. The kernel killed it with signal 9, so that there is no traceback; or
    the allocation was refused and an exception says so.

    ## Why
    Every rank loads its own full copy of the weights; data sets are copied by each loader process
    and by each `num_proc` worker of a tokenisation; a merge needs the whole model twice. The proof
    is the counter `oom_kill` of the memory group, the scheduler's state OUT_OF_MEMORY, or the
    kernel's line.

    ## Example
        exit.json  {"code": 137, "oom_kill": 1}
        Memory cgroup out of memory: Killed process 30821 (python) total-vm:71303168kB

    ## What to do
    Use fewer loader processes and fewer ranks on the machine, let one rank load and send the
    weights to the others, stream the data, or take a machine with more memory. The same run on the
    same machine would die again.
    """

    code = "SF202"
    failure_class = "HOST_OOM"
    title = "Out of main memory (RAM)"

    def match(self, evidence: Evidence) -> Diagnosis | None:
        """The counter rose, the scheduler or the kernel says so, or an allocation was refused."""
        proof = self._proof(evidence)
        if proof is None:
            return None
        because, lines = proof
        rank = evidence.root.rank
        who = f"rank {rank}" if rank is not None else "the run"
        return self.answer(
            evidence,
            what=f"{who} ran out of main memory (RAM) and was ended for it",
            why=because,
            next_step="use less memory: fewer data workers (num_workers, num_proc) and fewer "
            "ranks on "
            "this machine, or take one with more RAM; unchanged it would die again",
            lines=lines,
            rank=rank,
        )

    def _proof(self, evidence: Evidence) -> tuple[str, list[LogLine]] | None:
        end, root = evidence.exit, evidence.root
        text = root.failure.text if root.failure else ""
        done = end.code == 0 and end.signal is None and bool(evidence.weights)
        if (
            end.oom_kill
            and not done
            and (
                root.failure is None
                or is_victim(root.failure)
                or _PROCESS_DIED.search(text)
                or 9 in (end.signal, root.signal)
            )
        ):
            times = "once" if end.oom_kill == 1 else f"{end.oom_kill} times"
            lines = list(root.failure.last.lines[:3]) if root.failure else []
            lines += [root.signal_line] if root.signal_line else []
            return (
                f"the kernel killed a process of this run for its memory ({times}: the oom_kill "
                f"counter rose by {end.oom_kill})",
                lines,
            )
        if (end.scheduler or "").upper() in _WORDS:
            return f"the scheduler says {end.scheduler}", list(evidence.closing[-3:])
        for pattern in _PROOFS if end.failed or not end.known else ():
            line = evidence.find(pattern, evidence.closing)
            if line is not None and (root.failure is None or is_victim(root.failure)):
                return f"the system says: {line.text.strip()}", [line]
        for pattern in _REFUSED:
            if root.failure is not None and re.search(pattern, root.failure.text, re.MULTILINE):
                first = root.failure.last.text.splitlines()[0]
                return f"an allocation in main memory was refused: {first}", list(
                    root.failure.last.lines[:4]
                )
        return None
