"""Ways out of a plan that does not surely fit: changes, each planned again for real."""

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from surefit.errors import SurefitError
from surefit.plan.plan import Verdict, WayOut
from surefit.plan.spending import first_limit
from surefit.plan.verdict import Judgement
from surefit.recipe.schema import AdapterMethod, FullMethod, LoraMethod, Recipe

if TYPE_CHECKING:
    from surefit.plan.planner import Draft

PlanAgain = Callable[[Recipe], tuple[Judgement, int]]
_RANKING: dict[Verdict, int] = {"fits": 0, "tight": 1, "unknown": 2, "does_not_fit": 3}
_SHORTEST = 64
_MOST_SHOWN = 6


def find_ways_out(recipe: Recipe, draft: "Draft", plan_again: PlanAgain) -> tuple[WayOut, ...]:
    """Changes that give a better verdict, those with the same result first."""
    before = _RANKING[draft.judgement.verdict]
    found = []
    for change, same_result, changed in _changes(recipe, draft):
        try:
            judgement, peak = plan_again(changed)
        except SurefitError:
            continue
        if _RANKING[judgement.verdict] < before:
            found.append(
                WayOut(
                    change=change,
                    same_result=same_result,
                    verdict=judgement.verdict,
                    peak_bytes=peak,
                )
            )
    found.sort(key=lambda way: (_RANKING[way.verdict], not way.same_result))
    return tuple(found[:_MOST_SHOWN])


def _changes(recipe: Recipe, draft: "Draft") -> Iterator[tuple[str, bool, Recipe]]:
    """(what to set, whether the result stays the same, the changed recipe)."""
    yield from _same_result(recipe, draft)
    yield from _other_result(recipe, draft)


def _same_result(recipe: Recipe, draft: "Draft") -> Iterator[tuple[str, bool, Recipe]]:
    how = recipe.how
    if how.micro_batch is not None and how.micro_batch > 1:
        yield "how.micro_batch: 1", True, _set(recipe, "how", micro_batch=1)
    if how.gradient_checkpointing is False:
        changed = _set(recipe, "how", gradient_checkpointing=True)
        yield "how.gradient_checkpointing: true", True, changed
        if how.micro_batch is not None and how.micro_batch > 1:
            both = _set(recipe, "how", gradient_checkpointing=True, micro_batch=1)
            yield "how.micro_batch: 1 and how.gradient_checkpointing: true", True, both
    if how.layout is not None:
        other = "flat" if how.layout == "padded" else "padded"
        if other == "padded" or draft.chosen.setup.facts.isolates_flat_rows:
            yield f"how.layout: {other}", True, _set(recipe, "how", layout=other)
    if how.keep_checkpoints is not None and how.keep_checkpoints > 1:
        yield "how.keep_checkpoints: 1", True, _set(recipe, "how", keep_checkpoints=1)
    if how.keep_checkpoints is None:
        yield "how.keep_checkpoints: 1", True, _set(recipe, "how", keep_checkpoints=1)
    if how.threads is not None:
        yield "leave out how.threads", True, _set(recipe, "how", threads=None)


def _other_result(recipe: Recipe, draft: "Draft") -> Iterator[tuple[str, bool, Recipe]]:
    if isinstance(recipe.method, FullMethod):
        lora = recipe.model_copy(update={"method": LoraMethod(type="lora")})
        yield "method: {type: lora}", False, lora
    length = min(draft.training.max_length, draft.lengths.longest) // 2
    while length >= _SHORTEST:
        changed = _set(recipe, "goal", max_length=length)
        yield f"goal.max_length: {length}", False, changed
        length //= 2
    if isinstance(recipe.method, AdapterMethod) and recipe.method.rank > 4:
        for rank in (recipe.method.rank // 2, 4):
            method = recipe.method.model_copy(update={"rank": rank})
            yield f"method.rank: {rank}", False, recipe.model_copy(update={"method": method})
    if draft.seconds is not None:
        yield from _larger_limits(recipe, draft.seconds.high)


def _larger_limits(recipe: Recipe, seconds: float) -> Iterator[tuple[str, bool, Recipe]]:
    """Limits that the whole run surely stays in, or fewer epochs for the limit as it is."""
    limit, limits = first_limit(recipe), recipe.limits
    if limit is None:
        return
    larger: dict[str, float] = {}
    if limits.hours is not None and limits.hours * 3600 < seconds:
        larger["hours"] = math.ceil(seconds / 360) / 10
    if limits.dollars is not None and limits.dollars_per_hour is not None:
        needed = limits.dollars_per_hour * seconds / 3600
        if limits.dollars < needed:
            larger["dollars"] = math.ceil(needed * 100) / 100
    if larger:
        changes = ", ".join(f"limits.{name}: {value:g}" for name, value in larger.items())
        yield changes, True, _set(recipe, "limits", **larger)
    epochs = round(recipe.goal.epochs * limit[0] / seconds * 0.9, 2)
    if epochs > 0:
        yield f"goal.epochs: {epochs}", False, _set(recipe, "goal", epochs=epochs)


def _set(recipe: Recipe, part: str, **values: Any) -> Recipe:
    """The recipe with fields of one part changed."""
    changed = getattr(recipe, part).model_copy(update=values)
    return recipe.model_copy(update={part: changed})
