"""SD115: a value is nested too deeply."""

from surefit.data.checks.file_problem import BrokenCheck


class NestedTooDeep(BrokenCheck):
    """A value is nested too deeply.

    ## What it does
    Reads values up to the depth that JSON parsers take (about a thousand levels).

    ## Why it is bad
    No parser reads it; such rows are made by a loop that went wrong.

    ## Example
    `[[[[...]]]]` with 50,000 levels.

    ## What to do
    Remove the value.
    """

    code = "SD115"
    title = "nested too deeply"
    kind = "deep"
    message = "{rows} with a value nested too deeply to be read ({where})"
    why = "no parser takes such a depth; a loop that went wrong writes such rows"
    next_step = "remove the value from {where}"
