"""SF208 FD_LIMIT."""

from surefit.diagnose.signatures.signature import TextSignature


class TooManyOpenFiles(TextSignature):
    """The process may not open more files.

    ## What happened
    A file, a socket or a shared tensor could not be opened, because the limit of open files is
    reached.

    ## Why
    Loader processes pass every tensor as an open file. The usual limit is 1,024.

    ## Example
        RuntimeError: Too many open files. Communication with the workers is no longer possible.

    ## What to do
    Raise the limit (`ulimit -n 65535`), use fewer workers, or the sharing strategy `file_system`.
    """

    code = "SF208"
    failure_class = "FD_LIMIT"
    title = "Too many open files"
    patterns = (r"[Tt]oo many open files|\[Errno 24\]|os error 24\b|EMFILE", r"ancdata")
    what = "the process may not open more files{place}"
    why = "the limit of open files (ulimit -n) is reached: {text}"
    next_step = (
        "raise the limit in the shell that starts the run (`ulimit -n 65535`), or use "
        "fewer data workers"
    )
