"""The same questions before and after training, answered by generation, with exact match."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from surefit.errors import UsageError
from surefit.home import disk_error, refuse_irregular
from surefit.models.starter_samples import starter_questions
from surefit.runs import RunFolder
from surefit.supervise.answering import Answer, AnsweringModel, Message
from surefit.units import shortened

Told = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Question:
    """A conversation up to an answer that is known."""

    messages: list[Message]
    expected: str

    @property
    def text(self) -> str:
        """What the last user turn asks."""
        return str(self.messages[-1]["content"])


@dataclass(frozen=True)
class ComparedRow:
    """One question with both answers."""

    question: str
    expected: str
    before: Answer
    after: Answer

    @property
    def before_exact(self) -> bool:
        """Whether the base model gave the expected answer."""
        return _same(self.before.text, self.expected)

    @property
    def after_exact(self) -> bool:
        """Whether the trained model gave the expected answer."""
        return _same(self.after.text, self.expected)


@dataclass(frozen=True)
class Comparison:
    """All questions, and how many answers are exactly the expected ones (white space at the ends aside)."""

    run: str
    rows: tuple[ComparedRow, ...]

    @property
    def before(self) -> int:
        """Exact answers of the base model."""
        return sum(row.before_exact for row in self.rows)

    @property
    def after(self) -> int:
        """Exact answers of the trained model."""
        return sum(row.after_exact for row in self.rows)

    def as_dict(self) -> dict[str, Any]:
        """As JSON data."""
        count = len(self.rows)
        return {
            "run": self.run,
            "questions": count,
            "before": {"exact": self.before, "share": self.before / count},
            "after": {"exact": self.after, "share": self.after / count},
            "rows": [_row(row) for row in self.rows],
        }


def compare(
    run: RunFolder, questions: list[Question], max_new_tokens: int, told: Told
) -> Comparison:
    """Ask the base model, then the trained one; only one of them is in memory at a time.

    Args:
        run: a run with a result.
        questions: what to ask.
        max_new_tokens: where an answer is cut.
        told: called with (`base` or `trained`, questions done, questions in all).

    Raises:
        UsageError: the run has no trained model.
        SurefitError: a question cannot be asked, or a model cannot answer.
    """
    trained = AnsweringModel(run)  # refuses at once where there is nothing to compare with
    before = _answers(AnsweringModel(run, base=True), "base", questions, max_new_tokens, told)
    after = _answers(trained, "trained", questions, max_new_tokens, told)
    rows = zip(questions, before, after, strict=True)
    return Comparison(run.id, tuple(ComparedRow(q.text, q.expected, a, b) for q, a, b in rows))


def read_questions(source: str, limit: int | None = None) -> list[Question]:
    """Questions from a JSONL file of `messages` whose last turn is the expected answer; or `starter`.

    Raises:
        UsageError: the file is not there, empty, or a line holds no question with its answer.
        OutsideError: the file may not be read.
    """
    path = starter_questions() if source == "starter" else Path(source).expanduser()
    try:
        refuse_irregular(path)
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError as error:
        raise UsageError(
            f"there is no file of questions {path}",
            "the path leads nowhere",
            "name a JSONL file whose rows hold `messages`, or `starter` for the questions of the starter model",
        ) from error
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{path} is no text in UTF-8", str(error.reason), "save the file as UTF-8"
        ) from error
    except OSError as error:
        raise disk_error(f"cannot read {path}", error, path) from error
    found = [
        _question(line, f"{path}:{number}")
        for number, line in enumerate(lines, start=1)
        if line.strip()
    ]
    if not found:
        raise UsageError(
            f"{path} holds no questions", "it has no lines", "add rows with `messages`"
        )
    return found[:limit]


def _question(line: str, place: str) -> Question:
    try:
        messages = json.loads(line)["messages"]
        *asked, answer = messages
        if asked and answer["role"] == "assistant" and isinstance(answer["content"], str):
            return Question(asked, answer["content"])
        why = "the last of its messages must be the assistant's, with the user's before it"
    except (ValueError, KeyError, TypeError) as error:
        why = f"it is no JSON object with `messages` ({type(error).__name__}: {error})"
    raise UsageError(
        f"no question with its answer: {shortened(line)}",
        why,
        'write rows such as {"messages": [{"role": "user", ...}, {"role": "assistant", ...}]}',
        where=place,
    )


def _answers(
    model: AnsweringModel, name: str, questions: list[Question], limit: int, told: Told
) -> list[Answer]:
    answers = []
    told(name, 0, len(questions))
    with model:
        for number, question in enumerate(questions, start=1):
            answers.append(model.ask(question.messages, limit))
            told(name, number, len(questions))
    return answers


def _same(answer: str, expected: str) -> bool:
    return answer.strip() == expected.strip()


def _row(row: ComparedRow) -> dict[str, Any]:
    return {
        "question": row.question,
        "expected": row.expected,
        "before": row.before.text,
        "after": row.after.text,
        "before_exact": row.before_exact,
        "after_exact": row.after_exact,
        "finished": row.after.finished,
    }
