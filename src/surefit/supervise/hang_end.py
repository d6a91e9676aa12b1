"""The end of a hung worker: stacks first, then the words, then everything it has started."""

from surefit.errors import WorkerExit
from surefit.launch import Job, LocalLauncher
from surefit.runs import Problem, RunFolder
from surefit.supervise.hangs import Hang
from surefit.supervise.stacks import main_stack, ranks_with_stacks, stack_sizes, wait_for_stacks
from surefit.units import plural, seconds_text


def end_hang(run: RunFolder, launcher: LocalLauncher, job: Job, hang: Hang) -> None:
    """Keep the stacks of all ranks, say what hangs, and kill the group. Takes about two seconds.

    Raises:
        OutsideError: the problem could not be written down; the worker is ended all the same.
    """
    before = stack_sizes(run)
    if launcher.ask_for_stacks(run, job):
        wait_for_stacks(run, before)
    try:
        run.append(hang_problem(run, hang))
    finally:
        launcher.cancel(run, job, firm=True)


def hang_problem(run: RunFolder, hang: Hang) -> Problem:
    """A hang in words, with the calls in which the rank that is behind stands."""
    who = f"rank {hang.rank}" if hang.ranks > 1 else "the worker"
    since = f" since step {hang.step:,}" if hang.step else ""
    frames = main_stack(run, hang.rank) if hang.rank is not None else []
    told = ranks_with_stacks(run)
    stands = (
        f"it stands in {frames[0].call}; the stacks of {plural(len(told), 'rank')} are in log/"
        if frames
        else "no stack could be had: it does not answer even signals"
    )
    limit = seconds_text(hang.limit_seconds)
    return Problem(
        what=f"{who} has made no progress for {seconds_text(hang.silent_seconds)}{since} "
        f"(phase {hang.phase}), and still lived",
        why=f"{stands}; {limit} of silence are allowed in this phase",
        next=f"look at log/stacks_rank{hang.rank or 0}.txt, then go on with `surefit resume {run.id}`; "
        "where a step only takes long, raise `limits.silent_minutes`",
        exit_code=WorkerExit.HANG,
        details={
            "class": "HANG",
            "phase": hang.phase,
            "step": hang.step,
            "rank": hang.rank,
            "silent_seconds": round(hang.silent_seconds, 1),
            "limit_seconds": hang.limit_seconds,
            "evidence": [
                {"file": one.shown_in, "line": one.shown_at, "text": one.text.strip()}
                for one in frames
            ],
        },
    )
