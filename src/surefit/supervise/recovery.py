"""What may be tried again by itself: the experiment stays the same, the tries are capped and recorded.

Memory: a smaller micro-batch with more accumulation trains the same rows in every optimizer step; at
micro-batch 1, recomputed activations. Network: the same again, later. Everything else stops at once.
"""

from dataclasses import dataclass

from surefit.errors import WorkerExit
from surefit.plan.plan import Decision, Plan, TrainingPlan
from surefit.runs import ExitStatus, Problem
from surefit.supervise.attempts import Retry

MEMORY_TRIES = 10  # 512 sequences down to 1
NETWORK_WAITS = (5.0, 20.0, 60.0, 180.0, 600.0)
_MEMORY_EXITS = frozenset({WorkerExit.GPU_MEMORY, WorkerExit.HOST_MEMORY})
_STEP_PHASES = frozenset({"rehearsal", "first_step", "train", "eval"})


@dataclass(frozen=True)
class Recovery:
    """The next try: its record, and the plan that it follows."""

    retry: Retry
    plan: Plan


@dataclass(frozen=True)
class GivenUp:
    """Why nothing is tried any more, where something would have been tried."""

    problem: Problem


def recovery_for(
    plan: Plan,
    status: ExitStatus,
    problem: Problem | None,
    phase: str,
    before: list[Retry],
) -> Recovery | GivenUp | None:
    """What to try after a worker's end; None: nothing, this is no failure of that kind.

    Args:
        plan: what the worker did.
        status: how it ended.
        problem: what it said.
        phase: where it ended.
        before: the tries so far.
    """
    code = status.code if problem is None or problem.exit_code is None else problem.exit_code
    killed_for_memory = status.signal == 9 and bool(status.oom_kill)
    if problem is not None and problem.details.get("class") == "SHM":
        return None  # a smaller micro-batch leaves shared memory as it is
    if killed_for_memory or code in _MEMORY_EXITS:
        return _less_memory(plan, code, phase, before) if phase in _STEP_PHASES else None
    lost_a_rank = problem is not None and "rank" in problem.details
    if code == WorkerExit.NETWORK and not lost_a_rank:
        return _later(plan, problem, before)
    return None


def _less_memory(
    plan: Plan, code: int | None, phase: str, before: list[Retry]
) -> Recovery | GivenUp:
    whose = "the GPU" if code == WorkerExit.GPU_MEMORY else "the machine"
    cause = f"{whose} ran out of memory in the phase {phase}"
    smaller = smaller_step(plan.training)
    if smaller is None or sum(one.kind == "memory" for one in before) >= MEMORY_TRIES:
        return GivenUp(_one_does_not_fit(plan, code, cause))
    field, training, change = smaller
    decision = Decision(
        field=field, value=getattr(training, field), reason=f"{cause} before: {change}"
    )
    others = [one for one in plan.decisions if one.field != field]
    changed = plan.model_copy(update={"training": training, "decisions": (*others, decision)})
    return Recovery(Retry(kind="memory", cause=cause, change=change), changed)


def smaller_step(training: TrainingPlan) -> tuple[str, TrainingPlan, str] | None:
    """The same optimizer step in less memory: field, plan, words; None: there is none.

    Micro-batch times accumulation stays, so each step trains the same rows.
    """
    rows = training.micro_batch * training.accumulation
    half = training.micro_batch // 2
    micro = next((size for size in range(half, 0, -1) if rows % size == 0), None)
    if micro is not None:
        change = (
            f"micro-batch {micro} x accumulation {rows // micro} instead of "
            f"{training.micro_batch} x {training.accumulation}, the same rows in every step"
        )
        update = {"micro_batch": micro, "accumulation": rows // micro}
        return "micro_batch", training.model_copy(update=update), change
    if not training.gradient_checkpointing:
        change = "activations are recomputed (`how.gradient_checkpointing: true`), the same result"
        changed = training.model_copy(update={"gradient_checkpointing": True})
        return "gradient_checkpointing", changed, change
    return None


def _one_does_not_fit(plan: Plan, code: int | None, cause: str) -> Problem:
    training = plan.training
    gpu = code == WorkerExit.GPU_MEMORY
    return Problem(
        what=f"one sequence at a time does not fit: {cause}",
        why=f"micro-batch {training.micro_batch} of up to {training.max_length:,} tokens, with "
        "recomputed activations, is the smallest step there is with the same result",
        next=f"set `goal.max_length: {max(8, training.max_length // 2)}` (changes the result: longer rows "
        "are cut), choose a smaller model, or a machine with more memory",
        exit_code=WorkerExit.GPU_MEMORY if gpu else WorkerExit.HOST_MEMORY,
        details={"class": "GPU_OOM_STEP" if gpu else "HOST_OOM"},
    )


def _later(plan: Plan, problem: Problem | None, before: list[Retry]) -> Recovery | None:
    tries = sum(one.kind == "network" for one in before)
    if tries >= len(NETWORK_WAITS):
        return None
    wait = NETWORK_WAITS[tries]
    cause = problem.what if problem else "the network failed"
    change = f"the same again after {wait:g} s, try {tries + 1} of {len(NETWORK_WAITS)}"
    return Recovery(Retry(kind="network", cause=cause, change=change, wait_seconds=wait), plan)
