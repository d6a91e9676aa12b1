"""SD107: a link leads out of the folder."""

from surefit.data.checks.file_problem import FileProblemCheck


class LinkOutside(FileProblemCheck):
    """A link leads out of the folder.

    ## What it does
    Follows the links in a data folder. Links inside a Hub cache entry are its normal form.

    ## Why it is bad
    A folder that somebody handed over would bring in files of this machine that nobody chose.

    ## Example
    `data/more.jsonl` is a link to `../private/more.jsonl`.

    ## What to do
    Copy the file into the folder, or name it by itself.
    """

    code = "SD107"
    title = "link out of the folder"
    problem = "outside_link"
    message = "{place} is a link to a file outside of the folder: {value}"
    why = "a folder that is handed over must not pull in files that nobody chose"
    next_step = "copy {value} into the folder, or name it as data.train by itself"
