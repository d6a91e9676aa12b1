"""Decisions about how the model learns."""

from typing import TYPE_CHECKING

from surefit.plan.decisions.deciding import asked, decide
from surefit.plan.plan import Decision
from surefit.recipe.schema import AdapterMethod
from surefit.units import plural

if TYPE_CHECKING:
    from surefit.plan.planner import Draft


def explain_learning(draft: "Draft") -> list[Decision]:
    """The learning rate and everything around it."""
    training = draft.training
    lora = isinstance(training.method, AdapterMethod)
    rate = (
        "as asked"
        if asked(draft, "goal", "learning_rate")
        else (
            "usual for adapters, which start at zero"
            if lora
            else "usual for full training: larger ones erase what the model knows"
        )
    )
    shapes = {
        "cosine": "falls to zero along a cosine",
        "linear": "falls to zero in a straight line",
        "constant": "stays the same after the warm-up",
    }
    return [
        decide(draft, "learning_rate", rate, asked(draft, "goal", "learning_rate")),
        decide(
            draft,
            "schedule",
            f"the rate {shapes[training.schedule]}",
            asked(draft, "goal", "schedule"),
        ),
        decide(
            draft,
            "warmup_steps",
            f"the rate rises over {plural(training.warmup_steps, 'step')} "
            f"({draft.recipe.goal.warmup:.0%} of all), so that "
            "the first steps do no harm"
            if training.warmup_steps
            else "none: the run is too short or none was asked for",
            asked(draft, "goal", "warmup"),
        ),
        decide(
            draft,
            "weight_decay",
            "none"
            if not training.weight_decay
            else "AdamW pulls weights towards zero by this share of the rate",
            asked(draft, "goal", "weight_decay"),
        ),
        decide(draft, "optimizer", "AdamW, two numbers of state a trained parameter"),
        decide(draft, "betas", "torch's own values"),
        decide(draft, "epsilon", "torch's own value"),
        decide(
            draft,
            "max_gradient_norm",
            "longer gradients are shortened to this length, so that one odd batch does no harm",
        ),
        decide(
            draft,
            "seed",
            "same seed, same data, same machine: same losses",
            asked(draft, "goal", "seed"),
        ),
    ]
