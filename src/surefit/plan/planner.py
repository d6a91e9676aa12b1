"""make_plan: from what a person wants and what there is, to every number that the worker uses."""

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from surefit.data.report import DatasetReport
from surefit.hardware.machine import Device, Hardware
from surefit.models.facts import ModelFacts
from surefit.plan.candidates import Candidate, candidates, choose, choose_device
from surefit.plan.decisions import explain
from surefit.plan.disk import disk_account
from surefit.plan.lengths import Lengths, planned_lengths
from surefit.plan.memory import verify_rows
from surefit.plan.plan import AccountItem, Plan, Range, TrainingPlan
from surefit.plan.refusals import USUAL_MAX_LENGTH, refuse_impossible, refuse_length
from surefit.plan.schedule import (
    checkpoint_interval,
    count_steps,
    count_warmup,
    evaluation_interval,
)
from surefit.plan.setup import Setup
from surefit.plan.spending import evaluations_for, first_limit, refuse_limits
from surefit.plan.strategy import refuse_ranks, resolve_ranks
from surefit.plan.verdict import Judgement, judge
from surefit.plan.way_out import find_ways_out
from surefit.plan.work import run_seconds
from surefit.recipe.schema import AdapterMethod, Recipe

_LORA_RATE, _FULL_RATE = 2e-4, 2e-5
_KEPT_CHECKPOINTS = 2
_TOLERANCE: dict[str, float] = {"float32": 1e-4, "bfloat16": 1e-2}


@dataclass(frozen=True)
class Draft:
    """A plan before it is put into words."""

    recipe: Recipe
    device: Device
    lengths: Lengths
    chosen: Candidate
    others: tuple[Candidate, ...]
    training: TrainingPlan
    disk: tuple[AccountItem, ...]
    seconds: Range | None
    judgement: Judgement


def make_plan(recipe: Recipe, facts: ModelFacts, hardware: Hardware, report: DatasetReport) -> Plan:
    """Decide how to run a recipe, and whether it fits. Arithmetic only, a few milliseconds.

    A plan that does not fit is returned, with its verdict and the ways out, not raised.

    Raises:
        RecipeError: fields contradict each other, the model or the data; names the field.
        Refused: there is no row to train.
    """
    draft = draft_plan(recipe, facts, hardware, report)
    memory = draft.chosen.memory

    def judged_again(changed: Recipe) -> tuple[Judgement, int]:
        again = draft_plan(changed, facts, hardware, report)
        return again.judgement, again.chosen.memory.peak

    ways = () if draft.judgement.verdict == "fits" else find_ways_out(recipe, draft, judged_again)
    return Plan(
        verdict=draft.judgement.verdict,
        verdict_reason=draft.judgement.reason,
        strategy=draft.training.strategy,
        devices=(draft.device.name,),
        peak_bytes=memory.peak,
        low_bytes=memory.low,
        high_bytes=memory.high,
        budget_bytes=draft.device.free_bytes,
        account=tuple(part.as_item() for part in memory.parts),
        peak_moment=memory.moment,
        decisions=explain(draft, facts, hardware, report),
        way_out=ways,
        disk=draft.disk,
        disk_free_bytes=hardware.disk_free_bytes,
        seconds=draft.seconds,
        limit_seconds=recipe.limits.hours * 3600 if recipe.limits.hours is not None else None,
        limit_dollars=recipe.limits.dollars,
        dollars_per_hour=recipe.limits.dollars_per_hour,
        silent_seconds=recipe.limits.silent_minutes and recipe.limits.silent_minutes * 60,
        training=draft.training,
        model=facts,
        hardware=hardware,
        surefit_version=_own_version(),
    )


def draft_plan(
    recipe: Recipe, facts: ModelFacts, hardware: Hardware, report: DatasetReport
) -> Draft:
    """Decide everything, without the reasons and the ways out."""
    _refuse(recipe, facts, hardware, report)
    ranks = resolve_ranks(recipe, hardware)
    device = choose_device(hardware, ranks.number)
    max_length = planned_max_length(recipe, facts)
    lengths = planned_lengths(recipe, report, max_length)
    found = candidates(recipe, facts, device, lengths, ranks)
    chosen = choose(found, device.free_bytes)
    setup = chosen.setup
    threads = recipe.how.threads or max(1, free_cores(hardware) // ranks.number)
    steps = count_steps(lengths.rows, recipe.goal.batch, recipe.goal.epochs)
    eval_tokens = float(report.eval_tokens.total) if report.eval_tokens else 0.0
    eval_every = _evaluate_every(recipe, steps, lengths, eval_tokens)
    share = _evaluating_share(lengths, eval_tokens, eval_every, steps, recipe.goal.epochs)
    seconds = run_seconds(setup, device, threads, hardware.cpu_cores, steps, share)
    interval = _checkpoint_every(recipe, setup, steps, seconds)
    keep = recipe.how.keep_checkpoints or _KEPT_CHECKPOINTS
    training = TrainingPlan(
        method=recipe.method,
        targets=setup.targets,
        device=device.kind,
        precision=setup.precision,
        attention=facts.attention,
        layout=setup.layout,
        gradient_checkpointing=setup.checkpointing,
        threads=threads,
        strategy=ranks.strategy,
        ranks=ranks.number,
        offload=recipe.how.offload,
        batch=recipe.goal.batch,
        micro_batch=setup.micro_batch,
        accumulation=setup.rank_batch // setup.micro_batch,
        max_length=max_length,
        rows=report.usable,
        packing=setup.packing,
        sequences=lengths.rows if setup.packing else None,
        by_length=setup.by_length,
        template_arguments=dict(recipe.data.template_arguments or {}),
        steps=steps,
        epochs=recipe.goal.epochs,
        learning_rate=recipe.goal.learning_rate or _usual_rate(recipe),
        schedule=recipe.goal.schedule,
        warmup_steps=count_warmup(steps, recipe.goal.warmup),
        weight_decay=recipe.goal.weight_decay,
        seed=recipe.goal.seed,
        checkpoint_every_steps=interval,
        keep_checkpoints=keep,
        eval_every_steps=eval_every,
        no_improvement=recipe.limits.no_improvement,
        verify_rows=verify_rows(setup),
        verify_tolerance=_TOLERANCE[setup.precision],
        allocator=allocator_environment(setup),
    )
    disk = disk_account(setup, keep, lengths.tokens + eval_tokens)
    free, limit = hardware.disk_free_bytes, first_limit(recipe)
    judgement = judge(chosen.memory, device, disk, free, seconds, limit, lengths.known)
    return Draft(recipe, device, lengths, chosen, tuple(found), training, disk, seconds, judgement)


def _refuse(recipe: Recipe, facts: ModelFacts, hardware: Hardware, report: DatasetReport) -> None:
    """Everything that no search could make fit."""
    refuse_impossible(recipe, facts, report)
    refuse_ranks(recipe, hardware, report)
    refuse_limits(recipe, report)


def planned_max_length(recipe: Recipe, facts: ModelFacts) -> int:
    """The longest row in tokens: as asked, else 2,048 or what the model was made for if less.

    Raises:
        RecipeError: the model cannot read rows as long as asked.
    """
    refuse_length(recipe, facts)
    return recipe.goal.max_length or min(USUAL_MAX_LENGTH, facts.max_positions or USUAL_MAX_LENGTH)


def free_cores(hardware: Hardware) -> int:
    """Cores that nobody else uses now, at least one.

    A thread that waits for a core held by another program holds up all its partners: measured,
    2 threads on 2 busy cores were up to 20 times slower than 1.
    """
    return max(1, hardware.cpu_cores - round(hardware.load))


def allocator_environment(setup: Setup) -> dict[str, str]:
    """The environment of the worker's memory allocator.

    A CPU keeps big blocks for the next step where that surely fits: measured 1.4 times faster with
    a small model (page faults a step 95,000 to 2), and equal with a larger one. Where it does not,
    blocks from 256 KiB go back to the system as soon as they are free.
    """
    if setup.device == "cuda":
        return {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}
    trim = {"MALLOC_TRIM_THRESHOLD_": str(8 * 2**30)}
    if setup.allocator == "return":
        return {"MALLOC_MMAP_THRESHOLD_": str(256 * 2**10), **trim}
    return {
        "MALLOC_MMAP_THRESHOLD_": str(8 * 2**30),
        **trim,
        "MALLOC_TOP_PAD_": str(256 * 2**20),
    }


def _evaluate_every(recipe: Recipe, steps: int, lengths: Lengths, eval_tokens: float) -> int | None:
    usual = evaluation_interval(steps, lengths.tokens, eval_tokens, recipe.goal.epochs)
    return evaluations_for(recipe, steps, usual)


def _checkpoint_every(recipe: Recipe, setup: Setup, steps: int, seconds: Range | None) -> int:
    mean = (seconds.low + seconds.high) / 2 if seconds else None
    return recipe.how.checkpoint_every_steps or checkpoint_interval(setup, steps, mean)


def _usual_rate(recipe: Recipe) -> float:
    return _LORA_RATE if isinstance(recipe.method, AdapterMethod) else _FULL_RATE


def _evaluating_share(
    lengths: Lengths, eval_tokens: float, every: int | None, steps: int, epochs: float
) -> float:
    """Time of all evaluations as a share of the training's."""
    times = steps // every if every else 1
    return times * eval_tokens / 2 / max(1.0, lengths.tokens * epochs) if eval_tokens else 0.0


def _own_version() -> str:
    try:
        return version("surefit")
    except PackageNotFoundError:
        return "0+unknown"
