"""SD205: messages are JSON text instead of a list."""

from surefit.data.checks.file_problem import NoteCheck


class MessagesAsJsonText(NoteCheck):
    r"""Messages are stored as JSON text.

    ## What it does
    Parses a list of turns that was written as text.

    ## Why it is bad
    It was a guess, and other programs will take the text for one long message.

    ## Example
    `{"messages": "[{\"role\": \"user\", ...}]"}`

    ## What to do
    Look at the samples. Better, write real lists.
    """

    code = "SD205"
    title = "messages as JSON text"
    note = "json_text"
    message = "{rows} whose {value} are text; it was parsed as JSON ({where})"
    why = "other programs will take the text for one long message"
    next_step = "look at the samples; to be rid of the warning, write a real list"
