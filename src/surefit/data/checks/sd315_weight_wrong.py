"""SD315: a weight that is no share."""

from surefit.data.checks.check import Check, Hit, Stage
from surefit.data.row import Row
from surefit.units import shortened


class WeightWrong(Check):
    """The weight of a turn is not a number from 0 to 1.

    ## What it does
    Looks at `weight` in every turn. 0 takes a turn out of the loss, 0.5 lets it count half.

    ## Why it is bad
    A negative weight would teach the model to avoid the answer; a large one would drown the others.

    ## Example
    `{"role": "assistant", "content": "Yes.", "weight": 5}`

    ## What to do
    Write a number from 0 to 1. To make all others weigh less, lower theirs.
    """

    code = "SD315"
    title = "weight is no share"
    severity = "refuse"
    stages = frozenset({Stage.TURNS})
    only_unusual = True
    drops_row = True
    message = "{rows} with a weight that is not a number from 0 to 1 ({where}); the first: {value}"
    why = "a weight says how much of a turn's loss counts, from none of it (0) to all of it (1)"
    next_step = "write a number from 0 to 1 in {where}, or take the weight out"

    def of_row(self, row: Row) -> Hit | None:
        """The first weight that is none."""
        for index, turn in enumerate(row.turns()):
            weight = turn.get("weight")
            if weight is None:
                continue
            number = isinstance(weight, (int, float)) and not isinstance(weight, bool)
            if not number or not 0 <= weight <= 1:
                return Hit(f"{row.turn_name(index)} has {shortened(str(weight), 40)}")
        return None
