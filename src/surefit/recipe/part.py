"""What every part of a recipe is made of: numbers as people write them, and a frozen model without extra keys."""

import re
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

_DIGITS_AFTER_ZERO = re.compile(r"\s*[-+]?0[0-9]+\s*")
_IN_THOUSANDS = re.compile(r"\s*[-+]?[1-9][0-9]{0,2}(_[0-9]{3})+(\.[0-9]*)?\s*")


def _number_from_text(value: Any) -> Any:
    """Read `3e-5` and `10_000` as numbers; YAML calls them text. `010` could be eight and is refused."""
    if not isinstance(value, str):
        return value
    if _DIGITS_AFTER_ZERO.fullmatch(value):
        raise PydanticCustomError("ambiguous_number", "two readings")
    if "_" in value and not _IN_THOUSANDS.fullmatch(value):
        raise PydanticCustomError("no_number", "an underscore that parts no thousands")
    try:
        return float(value.replace("_", ""))
    except ValueError:
        return value


def _refuse_bool(value: Any) -> Any:
    """Keep YAML's `yes` and `true` from becoming the number 1."""
    if isinstance(value, bool):
        raise ValueError("a number is needed here, not true or false")
    return value


# Far beyond any run: a number above is a slip of the hand, and would only show up in figures without sense.
MOST_EPOCHS = 100_000
MOST_ROWS = 1_000_000  # of a batch
MOST_TOKENS = 2**24  # of a row; the longest context of a published model is 10 million tokens
MOST_HOURS = 10_000

Number = Annotated[
    float,
    Field(allow_inf_nan=False),
    BeforeValidator(_number_from_text),
    BeforeValidator(_refuse_bool),
]
Whole = Annotated[int, BeforeValidator(_number_from_text), BeforeValidator(_refuse_bool)]


def contradiction(what: str, why: str, next_step: str) -> PydanticCustomError:
    """An error in words of its own: see `recipe.problems`."""
    return PydanticCustomError("in_words", "{what}", {"what": what, "why": why, "next": next_step})


class Part(BaseModel):
    """A part of a recipe: frozen, and an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)
