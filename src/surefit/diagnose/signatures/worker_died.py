"""SF206 WORKER_DIED."""

from typing import ClassVar

from surefit.diagnose.signatures.signature import Found, TextSignature


class LoaderDied(TextSignature):
    """A process that loads or prepares data died.

    ## What happened
    A data loader's process, or one of the processes of a tokenisation, ended without a message. The
    training only noticed that it was gone.

    ## Why
    Usually main memory: every worker holds its own copy of the data set. surefit says `HOST_OOM`
    when the memory counter proves it. Otherwise a crash in native code.

    ## Example
        RuntimeError: DataLoader worker (pid 31102) is killed by signal: Killed.

    ## What to do
    Use fewer workers, or stream the data. With 0 workers the error appears in the training's own
    process, with its traceback.
    """

    code = "SF206"
    failure_class = "WORKER_DIED"
    title = "A data process died"
    patterns = (
        r"DataLoader worker \(pid(?:\(s\))? (?P<pid>[\d, ]+)\) (?:exited unexpectedly|is killed "
        r"by signal)",
        r"(?:subprocess(?:es)?|process) (?:has|have) abruptly died",
        r"process in the process pool was terminated abruptly|BrokenProcessPool",
        r"worker (?:process )?.{0,20}(?:died|was killed|exited) (?:unexpectedly|abruptly)",
    )
    defaults: ClassVar[dict[str, str]] = {"pid": "unknown"}
    what = "a process that loads data died (pid {pid}){place}"
    why = "{text}; usually main memory ran out, but no counter proves it here"
    next_step = (
        "use fewer data workers or stream the data; with num_workers 0 the error shows "
        "its own traceback"
    )

    def accepts(self, found: Found) -> bool:
        """A worker that was told to stop died of the stop, not by itself."""
        return "signal: Terminated" not in found.text
