"""SD106: a folder has a test split and no training split."""

from surefit.data.checks.file_problem import FileProblemCheck


class OnlyTestSplit(FileProblemCheck):
    """A folder has a test split and no training split.

    ## What it does
    Tells the files of a folder apart by the words train, validation and test in their names.

    ## Why it is bad
    Rows that were made to test on would be trained, and the test would mean nothing.

    ## Example
    A folder with `test.jsonl` only.

    ## What to do
    Name the file itself if it is meant, or fetch the training split.
    """

    code = "SD106"
    title = "only a test split"
    problem = "only_test"
    message = "{place} has only files to test or validate on ({value}) and none to train on"
    why = "trained on its test rows, a model cannot be tested any more"
    next_step = "name the file itself as data.train if it is meant, or rename it to train.jsonl"
