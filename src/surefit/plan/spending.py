"""Limits of time and money, as a plan takes them from a recipe."""

import math

from surefit.data.report import DatasetReport
from surefit.errors import RecipeError
from surefit.recipe.schema import Recipe
from surefit.units import dollars_text, seconds_text

_EVALUATIONS_FOR_PATIENCE = 10  # too few evaluations could not tell that nothing gets better


def refuse_limits(recipe: Recipe, report: DatasetReport) -> None:
    """Check the limits against each other and the data.

    Raises:
        RecipeError: money without a price, or patience without eval rows.
    """
    limits = recipe.limits
    if limits.dollars is not None and limits.dollars_per_hour is None:
        raise RecipeError(
            f"a limit of {dollars_text(limits.dollars)} needs a price",
            "surefit does not know what an hour of this machine costs",
            "set `limits.dollars_per_hour` to the price of the machine with all its devices",
            where="limits.dollars",
        )
    if limits.no_improvement is not None and not report.eval_rows:
        raise RecipeError(
            "`limits.no_improvement` needs rows to evaluate on",
            "the loss on rows that are trained says nothing about getting better; `data.eval` is "
            + (f"{recipe.data.eval!r} and holds no rows" if recipe.data.eval else "not set"),
            "set `data.eval: 5%`, or leave `limits.no_improvement` out",
            where="limits.no_improvement",
        )


def first_limit(recipe: Recipe) -> tuple[float, str] | None:
    """Seconds after which the first limit stops the run, and that limit in words."""
    limits, found = recipe.limits, []
    if limits.hours is not None:
        seconds = limits.hours * 3600
        found.append((seconds, f"`limits.hours` allows {seconds_text(seconds)}"))
    if limits.dollars is not None and limits.dollars_per_hour is not None:
        seconds = limits.dollars / limits.dollars_per_hour * 3600
        words = f"`limits.dollars: {limits.dollars:g}` pays for {seconds_text(seconds)}"
        found.append((seconds, words))
    return min(found, default=None)


def evaluations_for(recipe: Recipe, steps: int, every: int | None) -> int | None:
    """Steps between two evaluations, often enough for `limits.no_improvement` to mean something."""
    if recipe.limits.no_improvement is None:
        return every
    often = max(1, math.ceil(steps / _EVALUATIONS_FOR_PATIENCE))
    return min(every or often, often)
