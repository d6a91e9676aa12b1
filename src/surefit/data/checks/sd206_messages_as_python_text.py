"""SD206: messages are Python text instead of a list."""

from surefit.data.checks.file_problem import NoteCheck


class MessagesAsPythonText(NoteCheck):
    """Messages are stored as Python text.

    ## What it does
    Reads what Python prints for a list (single quotes, None), as data and never as a program.

    ## Why it is bad
    It was a guess; nobody else reads this.

    ## Example
    `{"messages": "[{'role': 'user', ...}]"}`

    ## What to do
    Look at the samples. Better, write JSON.
    """

    code = "SD206"
    title = "messages as Python text"
    note = "python_text"
    message = "{rows} whose {value} are Python text; it was read as Python literals ({where})"
    why = "the quotes and constants of Python are no JSON, so other programs refuse the rows"
    next_step = "look at the samples; to be rid of the warning, write real JSON lists"
