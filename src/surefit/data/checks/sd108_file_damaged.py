"""SD108: a file is damaged."""

from surefit.data.checks.file_problem import FileProblemCheck


class FileDamaged(FileProblemCheck):
    """A file is damaged.

    ## What it does
    Opens Parquet, Arrow and compressed files with their own readers.

    ## Why it is bad
    Rows that cannot be read cannot be trained, and those before the damage may be wrong.

    ## Example
    A Parquet file whose end is missing.

    ## What to do
    Write or fetch the file again.
    """

    code = "SD108"
    title = "file is damaged"
    problem = "damaged"
    message = "{place} cannot be read to its end: {value}"
    why = "the file is not whole"
    next_step = "write or fetch {place} again"
