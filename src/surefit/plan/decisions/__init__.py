"""Every number of the plan with its reason: what it means for this run, in plain words."""

from typing import TYPE_CHECKING

from surefit.data.report import DatasetReport
from surefit.hardware.machine import Hardware
from surefit.models.facts import ModelFacts
from surefit.plan.decisions.batch import (
    explain_batch,
    explain_lengths,
    explain_memory_choices,
    explain_packing,
)
from surefit.plan.decisions.learning import explain_learning
from surefit.plan.decisions.method import explain_device, explain_method
from surefit.plan.decisions.origin import explain_origin
from surefit.plan.decisions.proof import explain_proving, explain_saving
from surefit.plan.plan import Decision

if TYPE_CHECKING:
    from surefit.plan.planner import Draft


def explain(
    draft: "Draft", facts: ModelFacts, hardware: Hardware, report: DatasetReport
) -> tuple[Decision, ...]:
    """A decision for every field of the training plan, in the order in which a person asks."""
    return (
        *explain_origin(facts),
        *explain_method(draft, facts),
        *explain_device(draft, hardware),
        *explain_batch(draft),
        *explain_memory_choices(draft, facts),
        *explain_lengths(draft, facts, report),
        *explain_packing(draft, report),
        *explain_learning(draft),
        *explain_saving(draft, report),
        *explain_proving(draft, facts),
    )
