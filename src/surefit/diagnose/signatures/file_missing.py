"""SF308 FILE_MISSING."""

from typing import ClassVar

from surefit.diagnose.signatures.signature import Found, TextSignature


class FileMissing(TextSignature):
    """A file or folder that the run needs is not there.

    ## What happened
    A path in the settings, a file of the model, an adapter or a training file was not found.

    ## Why
    A typing mistake, a path relative to another folder, a disk that is not mounted, or a folder
    that holds something else than it was taken for.

    ## Example
        FileNotFoundError: Unable to find '/data/sets/suport_chat.jsonl'

    ## What to do
    Correct the path. A model folder needs `config.json` and weights, an adapter folder
    `adapter_config.json`.
    """

    code = "SF308"
    failure_class = "FILE_MISSING"
    title = "A file is not there"
    patterns = (
        r"no file named (?P<file>[\w.-]+(?:,? or [\w.-]+)*).{0,120}?(?:in (?:the )?(?:directory|"
        r"folder) )(?P<folder>\S+)",
        r"(?<!\S)(?P<folder>\S+) does not appear to have (?:a )?files? named (?P<file>[^\s.]+(?:\.\w+)*)",
        r"Entry Not Found for url: (?P<file>\S+?)\.?$",
        r"Can't find ['\"](?P<file>[\w.]+)['\"] at ['\"](?P<folder>[^'\"]+)",
        r"Unable to find ['\"](?P<file>[^'\"]+)['\"]",
        r"[Cc]ould(?:n't| not) find (?:any )?(?:data )?file.{0,20}? (?:at |in |with "
        r")?['\"]?(?P<file>[^\s'\"]+)",
        r"\[Errno 2\] No such file or directory: ['\"]?(?P<file>[^'\"\n]+)",
        r"No such file or directory.{0,20}['\"](?P<file>[^'\"]+)",
        r"can't open file ['\"](?P<file>[^'\"]+)",
        r"(?<!\S)(?P<file>\S+): No such file or directory",
        r"(?P<file>/\S+|\./\S+|\S+\.\w{2,9}) (?:does not exist|doesn't exist|is not a (?:file|"
        r"directory|folder))",
        r"Incorrect path_or_model_id: ['\"](?P<file>[^'\"]+)",
        r"Can't load (?:the )?(?:tokenizer|model|configuration).{0,10}for '(?P<file>[./~][^']+)'",
        r"Not found: ['\"](?P<file>[^'\"]+)['\"]: No such file|No such file or directory|\(os "
        r"error 2\)",
        r"FileNotFoundError|NotADirectoryError|no such file",
    )
    defaults: ClassVar[dict[str, str]] = {"file": "a file"}
    what = "{file} is not there{in_folder}"
    why = "{text}"
    next_step = "correct the path, or put {file} there, then {again}"

    def words(self, found: Found) -> dict[str, str]:
        """The folder it was looked for in."""
        folder = found.groups.get("folder", "").rstrip(".,")
        return {**super().words(found), "in_folder": f" (looked for in {folder})" if folder else ""}
