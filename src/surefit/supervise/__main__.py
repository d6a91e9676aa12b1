"""`python -m surefit.supervise RUN_FOLDER`: watch one run to its end. Started by `start`, not by hand."""

import contextlib
import signal
import sys
from pathlib import Path

from surefit.errors import SurefitError
from surefit.runs import RunFolder
from surefit.supervise.life import supervise
from surefit.supervise.listing import register


def main(arguments: list[str]) -> int:
    """Watch the run of the first argument; further ones replace the worker's command (tests)."""
    signal.pthread_sigmask(signal.SIG_SETMASK, [])  # a mask is inherited from whoever started us
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    run = RunFolder(Path(arguments[0]).absolute())
    try:
        supervise(run, tuple(arguments[1:]) or None)
    except SurefitError as error:
        sys.stderr.write(error.as_text() + "\n")
        return int(error.exit_code)
    with contextlib.suppress(SurefitError):  # the index may be made again at any time
        register(run)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
