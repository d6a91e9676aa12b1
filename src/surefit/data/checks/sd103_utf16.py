"""SD103: a file is UTF-16."""

from surefit.data.checks.file_problem import FileProblemCheck


class Utf16(FileProblemCheck):
    """A file is UTF-16.

    ## What it does
    Looks at the first bytes of every file.

    ## Why it is bad
    JSON lines and tables are read as UTF-8; in UTF-16 every second byte is a zero.

    ## Example
    A file saved as "Unicode" by a Windows program.

    ## What to do
    Save it as UTF-8, or convert it: `iconv -f UTF-16 -t UTF-8 old.jsonl > new.jsonl`.
    """

    code = "SD103"
    title = "file is UTF-16"
    problem = "utf16"
    message = "{place} is UTF-16: {value}"
    why = "rows are read as UTF-8"
    next_step = "save it as UTF-8: iconv -f UTF-16 -t UTF-8 {place} > train-utf8.jsonl"
