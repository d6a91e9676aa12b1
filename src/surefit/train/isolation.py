"""Whether rows in one line see each other: two proofs on the live model.

The first changes every other row's tokens and looks whether a row's own predictions move. Line and
kernels keep their shape, so a row that sees only itself gives the same bits in any precision, and
the smallest leak shows. The second compares each row alone with the same row in the line: that
finds positions that go on where they should restart, but the products have other shapes then, and
bfloat16 rounds them differently.

Measured with random rows of 70, 30 and 110 tokens on SmolLM2-135M (transformers 5.24, SDPA on a
CPU; log-probabilities): an attention mask of ones moves a row by 8.0 in float32 and 8.2 in
bfloat16, restarting positions without a mask by 0.0 in both. Alone against among others the largest
difference is 5.9e-5 in float32 and 1.0 in bfloat16 (mean 0.06) without a leak, 21 to 23 (mean 1.0)
with one.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import torch

from surefit.plan.plan import TrainingPlan
from surefit.train.batches import Collate, collate_flat
from surefit.train.loss import model_inputs
from surefit.train.proof import largest_difference, probe_logits
from surefit.train.rows import Row

INFLUENCE_LIMIT = 1e-3
# An expert's share of the tokens follows all rows of a line, and with it the shape of its products:
# what a row gets from it then differs by rounding.
_ROUNDED_INFLUENCE_LIMIT = {"float32": 1e-3, "bfloat16": 2.0}
# Of the largest difference in float32, of the mean one in bfloat16: single logits are off by one
# there for rounding alone.
_ALONE_LIMIT = {"float32": 1e-3, "bfloat16": 0.5}


class Isolation(NamedTuple):
    """How far rows in one line are from rows alone, in log-probabilities."""

    influence: float
    influence_limit: float
    alone: float
    alone_limit: float

    @property
    def holds(self) -> bool:
        """Whether each row sees only itself."""
        return self.influence <= self.influence_limit and self.alone <= self.alone_limit


@torch.no_grad()
def measure_isolation(
    model: Any,
    rows: Sequence[Row],
    device: torch.device,
    training: TrainingPlan,
    collate: Collate = collate_flat,
    **inputs: torch.Tensor,
) -> Isolation:
    """Measure both on rows of different content; two rows or more.

    `collate` makes the one line; `inputs` go into the model beside the line's own: the tests show
    what they break.
    """
    alone = [logits.log_softmax(-1) for logits in probe_logits(model, rows, device)]

    def in_one_line(line: Sequence[Row]) -> list[torch.Tensor]:
        batch = {name: value.to(device) for name, value in collate(line).items()}
        logits = model(**model_inputs(batch), **inputs, use_cache=False)["logits"][0]
        return list(logits.float().cpu().log_softmax(-1).split([len(row.ids) for row in line]))

    together = in_one_line(rows)
    influence = 0.0
    for place in range(len(rows)):
        among_others = in_one_line(_with_other_neighbours(rows, place))
        moved = largest_difference([together[place]], [among_others[place]])
        influence = max(influence, moved)
    return Isolation(
        influence,
        _ROUNDED_INFLUENCE_LIMIT[training.precision] if has_experts(model) else INFLUENCE_LIMIT,
        _distance(alone, together, training.precision),
        _ALONE_LIMIT[training.precision],
    )


def has_experts(model: Any) -> bool:
    """Whether tokens are sent to experts: a mixture, as its configuration says."""
    return any(getattr(model.config, name, None) for name in ("num_experts", "num_local_experts"))


def _with_other_neighbours(rows: Sequence[Row], place: int) -> list[Row]:
    """The rows with other tokens in all but one: mirrored within the ids that occur."""
    highest = max(int(row.ids.max()) for row in rows)
    return [
        row if number == place else replace(row, ids=highest - row.ids)
        for number, row in enumerate(rows)
    ]


def _distance(
    alone: Sequence[torch.Tensor], together: Sequence[torch.Tensor], precision: str
) -> float:
    if precision == "float32":
        return largest_difference(alone, together)
    means = [float((a - b).abs().mean()) for a, b in zip(alone, together, strict=True)]
    return max(value if value == value else float("inf") for value in means)
