"""SD308: tool arguments were filled up with nulls."""

from surefit.data.checks.check import Stage
from surefit.data.checks.file_problem import NoteCheck


class NullArguments(NoteCheck):
    """Tool arguments were filled up with nulls.

    ## What it does
    Drops null arguments of tool calls in Parquet and Arrow files, which give every call the
    arguments of all calls.

    ## Why it is bad
    Trained as they are, the model would learn to call tools with arguments that do not exist.

    ## Example
    `{"city": "Lima", "amount": null, "minutes": null}`

    ## What to do
    Store the arguments as JSON text.
    """

    code = "SD308"
    title = "null tool arguments"
    stages = frozenset({Stage.TURNS})
    only_unusual = True
    note = "null_arguments"
    message = "{rows} whose tool calls have null arguments ({where}); in the first: {value}"
    why = "a table format gives every call the arguments of all calls; the nulls were dropped"
    next_step = "store the arguments as JSON text; arguments that are really null are lost as it is"
