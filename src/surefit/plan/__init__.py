"""What was decided, and why: arithmetic over a recipe, a model, a machine and the data.

Names are loaded when they are first used: a supervisor reads plans and makes none.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from surefit.plan.not_fitting import NotFitting, why_not_fitting
    from surefit.plan.plan import AccountItem, Decision, Plan, Range, TrainingPlan, Verdict, WayOut
    from surefit.plan.planner import make_plan, planned_max_length
    from surefit.plan.view import Bar, PlanView, view_plan

_PLACES = {
    "AccountItem": "plan",
    "Bar": "view",
    "Decision": "plan",
    "NotFitting": "not_fitting",
    "Plan": "plan",
    "PlanView": "view",
    "Range": "plan",
    "TrainingPlan": "plan",
    "Verdict": "plan",
    "WayOut": "plan",
    "make_plan": "planner",
    "planned_max_length": "planner",
    "view_plan": "view",
    "why_not_fitting": "not_fitting",
}

__all__ = [
    "AccountItem",
    "Bar",
    "Decision",
    "NotFitting",
    "Plan",
    "PlanView",
    "Range",
    "TrainingPlan",
    "Verdict",
    "WayOut",
    "make_plan",
    "planned_max_length",
    "view_plan",
    "why_not_fitting",
]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_PLACES[name]}"), name)
    globals()[name] = value
    return value
