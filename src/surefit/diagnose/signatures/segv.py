"""SF204 SEGV."""

from surefit.diagnose.diagnosis import Diagnosis
from surefit.diagnose.evidence import Evidence
from surefit.diagnose.signatures.signature import Signature


class NativeCrash(Signature):
    """Native code crashed: signal 11, a segmentation fault.

    ## What happened
    Compiled code read or wrote memory that it does not own, and the kernel ended the process with
    signal 11 (SIGSEGV; shells report 139). Python printed no traceback. Other ranks then report a
    lost connection: they are victims.

    ## Why
    Usually a compiled extension that was built for another torch or CUDA (flash-attn, bitsandbytes,
    fused kernels), sometimes a broken file in a cache, rarely the machine's memory.

    ## Example
        Fatal Python error: Segmentation fault

    ## What to do
    Run once with `PYTHONFAULTHANDLER=1`: Python then prints which call crashed. Switch the compiled
    extensions off one by one. One more try is fair; a second crash at the same place is no
    accident.
    """

    code = "SF204"
    failure_class = "SEGV"
    title = "Crash in native code (signal 11)"
    retryable = True

    def match(self, evidence: Evidence) -> Diagnosis | None:
        """Signal 11 for the run or for the rank that ended first."""
        root = evidence.root
        if 11 not in (evidence.exit.signal, root.signal) or root.failure is not None:
            return None
        who = f"rank {root.rank}" if root.rank is not None else "the process"
        crash = evidence.find(r"Fatal Python error: Segmentation fault")
        beat = evidence.beat(root.rank)
        after = f" after step {beat.step}" if beat else ""
        calls = [
            line
            for line in evidence.lines
            if crash
            and line.file == crash.file
            and 0 < line.position - crash.position < 40
            and line.text.lstrip().startswith('File "')
        ]
        printed = "the stack below shows where" if calls else "it printed no stack"
        return self.answer(
            evidence,
            what=f"{who} crashed in native code (signal 11, SIGSEGV){after}",
            why=f"compiled code touched memory that is not its own; {printed}. Extensions built "
            f"for "
            "another torch or CUDA are the usual reason",
            next_step="run once more with `PYTHONFAULTHANDLER=1` to get the stack, and with "
            "compiled "
            "extensions (flash-attn, fused kernels, bitsandbytes) off",
            lines=[line for line in (crash, *calls[:4], root.signal_line) if line]
            or evidence.closing[-2:],
        )
