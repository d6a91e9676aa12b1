"""SF304 IMPORT."""

from typing import ClassVar

from surefit.diagnose.diagnosis import Diagnosis
from surefit.diagnose.evidence import Evidence
from surefit.diagnose.signatures.signature import TextSignature


class ImportMissing(TextSignature):
    """A package, a library or a program is missing in this environment.

    ## What happened
    The program could not start, or stopped where it first needed the missing part.

    ## Why
    The wrong environment or image is active, or a requirement was not installed.

    ## Example
        ModuleNotFoundError: No module named 'peft'

    ## What to do
    Install it in the environment that runs the training, or use the right image.
    """

    code = "SF304"
    failure_class = "IMPORT"
    title = "Something is not installed"
    patterns = (
        r"No module named ['\"]?(?P<name>[\w.]+)",
        r"(?<![\w-])(?P<name>[\w-]+)(?:`)? (?:library|package)? ?(?:but )?(?:it )?was not found in your "
        r"environment",
        r"(?:requires?|needs?) (?:the )?[`'\"]?(?P<name>[\w-]+)[`'\"]?(?:[<>=]\S+)? ?(?:library|"
        r"package)?"
        r".{0,60}(?:pip install|not (?:be )?(?:found|installed)|to be installed)",
        r"(?P<name>lib[\w.+-]+\.so[\w.]*): cannot open shared object",
        r"(?:bash|sh|zsh)?:? ?(?:line \d+: )?(?<![\w./-])(?P<name>[\w./-]+): (?:command )?not found",
        r"exec: [\"']?(?P<name>[^\"':]+)[\"']?: (?:executable file )?not found",
        r"(?:PackageNotFoundError|ImportError): .{0,60}?(?P<name>[\w-]+)[`'\"]? (?:is )?not "
        r"installed",
        r"(?:[Pp]lease install|pip install) [`'\"]?(?P<name>[a-z][\w-]+)",
    )
    log_patterns = (
        r"No module named ['\"]?(?P<name>[\w.]+)",
        r"(?<![\w./-])(?P<name>[\w./-]+): (?:command )?not found$",
        r"exec: [\"']?(?P<name>[^\"':]+)[\"']?: (?:executable file )?not found",
    )
    last_only = True
    what = "{name} is not installed in this environment"
    why = "{text}"
    next_step = "install {name} in the environment that runs the training, or use the right image"
    _PROGRAM: ClassVar[dict[int, str]] = {
        127: "a program was not found",
        126: "a program was found but cannot be executed",
    }

    def match(self, evidence: Evidence) -> Diagnosis | None:
        """An import that failed, or the shell's codes 127 and 126."""
        diagnosis = super().match(evidence)
        why = self._PROGRAM.get(evidence.exit.code or 0)
        if diagnosis is not None or why is None or evidence.root.failure is not None:
            return diagnosis
        return self.answer(
            evidence,
            what=f"the training's program could not be started ({evidence.exit.text})",
            why=f"{why}: the environment or image lacks it, or its path is wrong",
            next_step="check the command and that its environment or image is the right one",
            lines=evidence.closing[-3:],
            phase="import",
        )
