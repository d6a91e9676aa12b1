"""`python -m surefit.train RUN_FOLDER`: train what the run folder's plan says, and nothing else."""

import logging
import os
import sys
from pathlib import Path
from typing import NoReturn

from surefit.errors import OutsideError, WorkerExit
from surefit.plan.plan import Plan
from surefit.runs.folder import RunFolder
from surefit.train.download import download, is_complete
from surefit.train.environment import (
    hide_unused_libraries,
    prepare_process,
    restart_in,
    worker_environment,
)
from surefit.train.failures import WorkerEnd
from surefit.train.journal import Journal
from surefit.train.place import STOP_SIGNAL, Place
from surefit.train.rank_processes import run_ranks
from surefit.train.stop import StopSignal


def main(arguments: list[str]) -> int:
    """Run the worker; returns its exit code."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m surefit.train RUN_FOLDER\n")
        return 64
    run = RunFolder(Path(arguments[0]).absolute())
    plan = run.read(run.plan, Plan) if run.path.is_dir() else None
    if plan is None:
        sys.stderr.write(no_plan(run).as_text() + "\n")
        return WorkerExit.INPUT_MISSING
    place = Place.here()
    if not place.is_rank and not is_complete(plan):
        return download(run, plan)
    restart_in(worker_environment(plan.training))
    if plan.training.ranks > 1 and not place.is_rank:
        prepare_process(run.log)
        return run_ranks(run, plan)
    place.die_with_parent()
    stop = StopSignal()
    if place.parent is None:
        stop.listen()
    else:
        stop.listen_to_parent(STOP_SIGNAL)
    prepare_process(run.log, place.rank)
    journal = Journal(run, plan.training.heartbeat_seconds, place)
    with WorkerEnd(journal) as end:
        journal.start()
        # Which of its kernels bitsandbytes has found is of no use to whoever reads the log.
        logging.getLogger("bitsandbytes").setLevel(logging.ERROR)
        hide_unused_libraries(plan.training)
        with journal.phase("import"):
            from surefit.train.run import train
        train(plan, journal, stop)
    return end.code


def no_plan(run: RunFolder) -> OutsideError:
    """The folder cannot be worked on."""
    return OutsideError(
        f"{run.path} holds no plan that can be read",
        f"{run.plan.name} is missing or damaged",
        "start a run with `surefit train recipe.yaml`; it writes the folder and starts this worker",
    )


def leave(code: int) -> NoReturn:
    """End at once. All that matters is on the disk; taking torch apart takes a second, and may hang."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    leave(main(sys.argv[1:]))
