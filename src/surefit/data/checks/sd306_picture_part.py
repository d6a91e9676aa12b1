"""SD306: a turn that holds a picture, sound or file."""

from surefit.data.checks.check import Check, Hit, Stage
from surefit.data.checks.parts import picture_in
from surefit.data.row import Row


class PicturePart(Check):
    """A turn holds a picture, sound or file.

    ## What it does
    Looks for parts of a content list that are not text.

    ## Why it is bad
    This version trains text. Without its picture the question makes no sense.

    ## Example
    `{"type": "image_url", "image_url": {"url": "13.jpg"}}`

    ## What to do
    Leave the rows out, or use a program that trains models with pictures.
    """

    code = "SD306"
    title = "not text"
    severity = "refuse"
    stages = frozenset({Stage.TURNS})
    only_unusual = True
    drops_row = True
    message = "{rows} with parts that are not text ({where}); the first: {value}"
    why = "this version trains text only, and without its image or sound a question makes no sense"
    next_step = "leave {where} out"

    def of_row(self, row: Row) -> Hit | None:
        for index, turn in enumerate(row.messages):
            kind = picture_in(turn.get("content"))
            if kind is not None:
                return Hit(f"{row.turn_name(index)} holds {kind}")
        return None
