"""SD104: a compressed file is cut off."""

from surefit.data.checks.file_problem import FileProblemCheck


class FileCut(FileProblemCheck):
    """A compressed file is cut off.

    ## What it does
    Reads every compressed file to its end-of-stream mark.

    ## Why it is bad
    Rows are missing, and nobody knows how many.

    ## Example
    A download of `train.jsonl.gz` that broke off.

    ## What to do
    Fetch the file again and compare its size.
    """

    code = "SD104"
    title = "file is cut off"
    problem = "cut"
    message = "{place} is cut off: {value}"
    why = "rows at its end are missing, and nobody knows how many"
    next_step = "fetch {place} again and compare its size"
