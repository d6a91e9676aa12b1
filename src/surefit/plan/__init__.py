"""What was decided, and why: arithmetic over a recipe, a model, a machine and the data."""

from surefit.plan.not_fitting import NotFitting, why_not_fitting
from surefit.plan.plan import AccountItem, Decision, Plan, Range, TrainingPlan, Verdict, WayOut
from surefit.plan.planner import make_plan, planned_max_length
from surefit.plan.view import Bar, PlanView, view_plan

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
