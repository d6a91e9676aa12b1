"""A decision of the plan, and whether the person took it."""

from typing import TYPE_CHECKING, Any

from surefit.plan.plan import Decision

if TYPE_CHECKING:
    from surefit.plan.planner import Draft


def decide(draft: "Draft", field: str, reason: str, by_user: bool = False) -> Decision:
    """A decision about a field of the training plan."""
    value: Any = getattr(draft.training, field)
    value = list(value) if isinstance(value, tuple) else value  # as JSON gives it back
    return Decision(field=field, value=value, reason=reason, fixed_by_user=by_user)


def asked(draft: "Draft", part: str, field: str) -> bool:
    """Whether the person wrote this field."""
    section = getattr(draft.recipe, part)
    return field in section.model_fields_set and getattr(section, field) is not None
