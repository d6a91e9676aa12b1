"""Before the training: what the plan pinned on the Hub is fetched, by this process and no other.

It is the only part of a worker that talks to the network and the only one that has the token. When
all is there the process starts itself again, offline and without the token.
"""

import os
import sys
from typing import NoReturn

from surefit.errors import OutsideError, WorkerExit
from surefit.hub import fetch_weights, find_token, missing_files
from surefit.plan.plan import Plan
from surefit.runs.folder import RunFolder
from surefit.train.environment import prepare_process
from surefit.train.failures import WorkerEnd
from surefit.train.journal import Journal
from surefit.train.stop import StopSignal

TOKENS = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_TOKEN_PATH")
_FETCHED = "SUREFIT_WEIGHTS_FETCHED"


def is_complete(plan: Plan) -> bool:
    """Whether everything that the plan reads of its model is on this machine."""
    return not missing_files(plan.model)


def download(run: RunFolder, plan: Plan) -> int:
    """Fetch what is missing, then start this process again; returns only when that failed.

    Returns:
        The worker's exit code.
    """
    # The library reads it when it is loaded; the training itself runs offline.
    os.environ.pop("HF_HUB_OFFLINE", None)
    StopSignal().listen()
    prepare_process(run.log)
    journal = Journal(run, plan.training.heartbeat_seconds)
    with WorkerEnd(journal) as end:
        journal.start()
        with journal.phase("download"):
            refuse_second_time(plan)
            fetch_weights(
                plan.model,
                find_token(),
                progress=lambda done, total: journal.progress(done, total, "bytes"),
                say=lambda text: tell(journal, text),
            )
    if end.code == WorkerExit.DONE:
        start_again()
    return end.code


def tell(journal: Journal, text: str) -> None:
    """Say what is tried again, in the log and in the events."""
    print(text, flush=True)  # noqa: T201 - the run's log
    journal.note("hub", text)


def refuse_second_time(plan: Plan) -> None:
    """Fail where files are missing although they were all fetched a moment ago.

    Raises:
        OutsideError: names one.
    """
    if os.environ.get(_FETCHED):
        file = missing_files(plan.model)[0]
        raise OutsideError(
            f"{file.path} was fetched and is gone again",
            f"{plan.model.folder} does not hold it any more: something empties the cache",
            "set HF_HUB_CACHE to a folder that nobody cleans up, and start again",
        )


def start_again() -> NoReturn:
    """Replace this process by itself, offline and without a token in its environment."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = {name: value for name, value in os.environ.items() if name not in TOKENS}
    os.execve(sys.executable, sys.orig_argv, {**kept, "HF_HUB_OFFLINE": "1", _FETCHED: "1"})  # noqa: S606
