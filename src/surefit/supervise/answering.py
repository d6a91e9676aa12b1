"""A trained or base model in a process of its own that answers questions: for chat and comparison.

The process is `python -m surefit.train.answer`: JSON lines in, JSON lines out. It ends when our end of
its input closes, so nothing is left behind when this process is killed.
"""

import contextlib
import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from types import TracebackType
from typing import IO, Any, Self, cast

from surefit.errors import OutsideError, SurefitError, UsageError
from surefit.launch.local.environment import worker_environment
from surefit.plan.plan import Plan
from surefit.runs import RunFolder
from surefit.units import shortened

Message = dict[str, Any]
_END_SECONDS = 5.0
_ERROR_TEXT = re.compile(r"error: (.+)\n\s*why: (.+)\n\s*next: (.+)")


@dataclass(frozen=True)
class Answer:
    """What a model said; `finished` when it ended its turn itself."""

    text: str
    finished: bool
    tokens: int


class AnsweringModel:
    """The model of a run, or its base model, ready to answer. Use it in a `with` block.

    Raises:
        UsageError: the run has no trained model.
        OutsideError: PyTorch is not installed, or the process failed.
    """

    def __init__(self, run: RunFolder, *, base: bool = False) -> None:
        self._run, self._base = run, base
        plan = run.read(run.plan, Plan)
        if plan is None:
            raise UsageError(
                f"the run {run.id} has no plan that can be read",
                f"{run.plan} is missing or damaged, so it is not known which model it trained",
                "list the runs with `surefit runs`",
            )
        if not base and not run.result.exists():
            raise UsageError(
                f"the run {run.id} has no trained model",
                f"it has no result: {run.result} is not there",
                f"look at it with `surefit show {run.id}`, or ask the base model with `--base`",
            )
        self._plan = plan
        self._words = tempfile.TemporaryFile()  # noqa: SIM115 - closed in __exit__

    def __enter__(self) -> Self:
        require_training_packages("answer")
        arguments = [sys.executable, "-P", "-m", "surefit.train.answer", str(self._run.path)]
        self._process = subprocess.Popen(
            [*arguments, "--base"] if self._base else arguments,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._words,
            env=worker_environment(self._run, self._plan.training, os.environ),
            start_new_session=True,  # Ctrl-C is for the conversation, not for the model
        )
        self._questions = cast("IO[bytes]", self._process.stdin)
        self._answers = cast("IO[bytes]", self._process.stdout)
        try:
            self._read()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._end()

    def ask(self, messages: list[Message], max_new_tokens: int) -> Answer:
        """The answer to a conversation.

        Raises:
            SurefitError: the model's chat template does not take it, or the process ended.
        """
        question = json.dumps({"messages": messages, "max_new_tokens": max_new_tokens}) + "\n"
        try:
            self._questions.write(question.encode())
            self._questions.flush()
        except BrokenPipeError:
            raise self._failure() from None
        answer = self._read()
        return Answer(answer["text"], answer["finished"], answer["tokens"])

    def _read(self) -> dict[str, Any]:
        line = self._answers.readline()
        if not line:
            raise self._failure()
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            said = answer["error"]
            raise SurefitError(said["what"], said["why"], said["next"])
        return answer

    def _failure(self) -> SurefitError:
        code = self._process.wait()
        self._words.seek(0)
        words = self._words.read().decode(errors="replace").strip()
        said = _ERROR_TEXT.search(words)
        if said:
            return OutsideError(*said.groups())
        last = shortened(words.splitlines()[-1], 200) if words else "it said nothing"
        how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        return OutsideError(
            "the model cannot answer",
            f"its process {how}: {last}",
            f"look whether another program needs the memory, then try again; `surefit show {self._run.id}` "
            "shows what the run needed",
        )

    def _end(self) -> None:
        for pipe in (self._questions, self._answers):
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
        try:
            self._process.wait(timeout=0.2)
        except subprocess.TimeoutExpired:
            self._kill()
        self._words.close()

    def _kill(self) -> None:
        """It may be in the middle of an answer; nothing it holds is worth keeping."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(timeout=_END_SECONDS)


def require_training_packages(purpose: str) -> None:
    """Say it at once where PyTorch and its friends are missing.

    Raises:
        OutsideError: one of them is not installed.
    """
    missing = [
        name for name in ("torch", "transformers", "peft") if not importlib.util.find_spec(name)
    ]
    if missing:
        raise OutsideError(
            f"{', '.join(missing)} is not installed"
            if len(missing) == 1
            else f"{', '.join(missing)} are not installed",
            f"to {purpose} needs the training packages in {sys.prefix}",
            "install them with `pip install 'surefit[train]'`",
        )
