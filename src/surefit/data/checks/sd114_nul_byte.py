"""SD114: a line holds a NUL byte."""

from surefit.data.checks.file_problem import BrokenCheck


class NulByte(BrokenCheck):
    r"""A line holds a NUL byte.

    ## What it does
    Looks for raw zero bytes in lines that cannot be read.

    ## Why it is bad
    A zero byte is no text. It is left by programs that crashed while they wrote.

    ## Example
    A line with 0x00 inside a word.

    ## What to do
    Remove it (`tr -d "\000"`) and find out what wrote it.
    """

    code = "SD114"
    title = "NUL byte"
    kind = "nul"
    message = "{rows} with a NUL byte, 0x00 ({where})"
    why = "a zero byte is no text; a program that crashed while it wrote leaves such bytes"
    next_step = "remove it: tr -d '\\000' < old.jsonl > new.jsonl, and find out what wrote it"
