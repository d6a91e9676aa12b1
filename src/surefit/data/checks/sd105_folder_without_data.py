"""SD105: a folder holds no data file."""

from surefit.data.checks.file_problem import FileProblemCheck


class FolderWithoutData(FileProblemCheck):
    """A folder holds no data file.

    ## What it does
    Looks for .jsonl, .json, .csv, .tsv, .parquet and .arrow files (also .gz and .zst) in the
    folder and below it.

    ## Why it is bad
    There is nothing to train on. Mostly another folder was meant.

    ## Example
    A folder with `README.md` and pictures.

    ## What to do
    Name the folder that holds the rows, or the file itself.
    """

    code = "SD105"
    title = "no data file in the folder"
    problem = "no_data"
    message = "no .jsonl, .json, .csv, .tsv, .parquet or .arrow file in {place}; it holds {value}"
    why = "there is nothing to train on"
    next_step = "name the folder or the file that holds the rows"
