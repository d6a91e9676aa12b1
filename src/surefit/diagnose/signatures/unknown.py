"""SF999 UNKNOWN."""

import re

from surefit.diagnose.diagnosis import Diagnosis
from surefit.diagnose.evidence import Evidence, Failure
from surefit.diagnose.phases import find_step
from surefit.diagnose.signatures.showing import MOST_LINES, exception_lines, own_frame
from surefit.diagnose.signatures.signature import Signature, again, first_line
from surefit.units import shortened

_HINTS = {
    6: "the process aborted itself, as C++ code does on an error that nobody caught",
    8: "native code divided by zero or met an illegal number",
    4: "native code used an instruction that this processor lacks",
}


class Unknown(Signature):
    """surefit does not recognise this failure, and does not guess.

    ## What happened
    No signature matched. The exit status, the first exception and the last lines are shown as they
    are.

    ## Why
    The failure may lie in the user's own code, in a library that surefit does not know, or in a
    log that breaks off before the cause.

    ## Example
        exit.json  {"code": 3}

    ## What to do
    Read the lines shown: where the user's own code failed, its place is named. Run again with
    `PYTHONFAULTHANDLER=1` where the process died without a message.
    """

    code = "SF999"
    failure_class = "UNKNOWN"
    title = "Not recognised"

    def match(self, evidence: Evidence) -> Diagnosis | None:
        """Always."""
        failure, problem = evidence.root.failure, evidence.problem
        spoken = [one for one in evidence.closing if not one.text.startswith("Extension modules:")]
        lines = spoken[-12:]
        if problem is not None:
            what, why, next_step = problem.what, problem.why, problem.next
        elif failure is not None:
            what, why, next_step = self._raised(failure)
        else:
            signal = evidence.root.signal or evidence.exit.signal
            what, why, next_step = self._silent(evidence, signal)
        if failure is not None:
            lines = list(exception_lines(failure, failure.last))
        return self.answer(
            evidence, what=what, why=why, next_step=next_step, lines=lines[:MOST_LINES]
        )

    def _raised(self, failure: Failure) -> tuple[str, str, str]:
        text = shortened(first_line(failure.last.text), 300)
        frame = own_frame(failure)
        if frame is None:
            return (
                f"not recognised: {text}",
                "no known failure has this text",
                "read the lines shown below, and search for the text in the library's issues",
            )
        place = f"{frame.path}, line {frame.line}, in {frame.function}"
        code = f": `{frame.source}`" if frame.source else ""
        return (
            f"not recognised: {text} ({place})",
            "no known failure has this text; it came up in the program's own code or in what "
            "that called",
            f"look at {place}{code}",
        )

    def _silent(self, evidence: Evidence, signal: int | None) -> tuple[str, str, str]:
        end = evidence.exit
        step = find_step(evidence, evidence.root.rank)
        after = f" after step {step}" if step else ""
        if end.alive:
            return (
                "not recognised: the process still lives and nothing shows a failure",
                "its last sign of life is recent, or none is known",
                "watch it for a while, and diagnose again when it stopped moving",
            )
        crash = _crash_call(evidence)
        if crash is not None:
            return (
                f"not recognised: the run ended with {end.text}{after}",
                f"its last words are the stack of {crash}"
                + (f"; {_HINTS[signal]}" if signal in _HINTS else ""),
                f"look at {crash} and at the lines before the stack, then {again(evidence)}",
            )
        said = "it wrote nothing" if not evidence.lines else "no line says why"
        hint = _HINTS.get(signal or 0)
        return (
            f"not recognised: the run ended with {end.text}{after}",
            f"{said}{'; ' + hint if hint else ''}",
            self._try_again(evidence, signal),
        )

    def _try_again(self, evidence: Evidence, signal: int | None) -> str:
        if signal is not None:
            return (
                f"set `PYTHONFAULTHANDLER=1` and {again(evidence)}, so that the process says where "
                "it was"
            )
        if not evidence.lines:
            return f"{again(evidence)} by hand in a terminal, to see what it prints"
        return f"read the last lines below and the other files of the run, then {again(evidence)}"


def _crash_call(evidence: Evidence) -> str | None:
    """The innermost call of the stack that faulthandler printed: ``step (train.py, line 3)``."""
    crash = evidence.find(r"^Fatal Python error: ")
    crash = crash and (evidence.find(r"^Current thread 0x\w+") or crash)
    if crash is None:
        return None
    for line in evidence.lines:
        called = re.match(
            r'\s*File "(?P<path>[^"]+)", line (?P<line>\d+) in (?P<name>.+)', line.text
        )
        if called and line.file == crash.file and line.position > crash.position:
            return f"{called['name']} ({called['path']}, line {called['line']})"
    return None
