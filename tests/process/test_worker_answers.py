"""`surefit.train.answer`: lines of questions in, lines of answers out, words elsewhere."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tiny_run import FULL, run_worker, write_model, write_run

from surefit.plan.plan import Plan
from surefit.runs.folder import RunFolder

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """A run that learned its rows by heart."""
    root = tmp_path_factory.mktemp("answers")
    settings = {"rows": 8, "epochs": 200, "learning_rate": 5e-3, "method": FULL}
    run = write_run(root / "run", write_model(root / "model"), **settings)
    result = run_worker(run)
    assert result.returncode == 0, result.stderr
    return run


def ask(run: RunFolder, lines: list[str], *options: str) -> tuple[list[dict[str, Any]], str, int]:
    command = [sys.executable, "-m", "surefit.train.answer", str(run.path), *options]
    done = subprocess.run(
        command, input="\n".join(lines) + "\n", capture_output=True, text=True, timeout=60
    )
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr, done.returncode


def question(text: str, limit: int = 40) -> str:
    return json.dumps({"messages": [{"role": "user", "content": text}], "max_new_tokens": limit})


def test_a_trained_model_answers_what_it_learned_and_its_base_does_not(done: RunFolder) -> None:
    import random

    from tiny_run import conversations

    rows = conversations(8)
    asked = random.Random(1).sample(rows, 3)
    lines = [question(row[0]["content"]) for row in asked]
    answers, words, code = ask(done, lines)
    # bitsandbytes says on some processors that a kernel of another package is not there.
    said = [line for line in words.splitlines() if "from kernels-community" not in line]
    assert (answers[0], code, said) == ({"ready": True}, 0, [])
    assert [answer["text"] for answer in answers[1:]] == [row[1]["content"] for row in asked]
    assert all(answer["finished"] for answer in answers[1:])
    # The end of the turn is a token too.
    assert answers[1]["tokens"] == len(asked[0][1]["content"]) + 1

    plain, _, _ = ask(done, lines, "--base")
    assert [answer["text"] for answer in plain[1:]] != [row[1]["content"] for row in asked]


def test_a_line_that_is_no_question_gets_an_error_and_the_next_an_answer(done: RunFolder) -> None:
    lines = ["nonsense", "{}", '{"messages": []}', question("a" * 300), question("ab", 3)]
    answers, words, code = ask(done, lines)
    assert code == 0
    assert "Traceback" not in words
    assert [sorted(answer) for answer in answers[1:]] == [
        ["error"],
        ["error"],
        ["error"],
        ["error"],
        ["finished", "text", "tokens"],
    ]
    assert "256" in answers[4]["error"]["why"]
    assert answers[5]["tokens"] <= 3


def test_an_answer_never_runs_beyond_what_the_model_was_made_for(done: RunFolder) -> None:
    answers, words, _ = ask(done, [question("q" * 200, 4000)], "--base")
    prompt = len("<user\n>") + 200 + len("<assistant\n")  # special tokens are one each
    assert answers[1]["tokens"] <= 256 - prompt + 4
    assert "exceeded" not in words


def test_an_adapter_answers_unlike_its_base(tmp_path: Path) -> None:
    from surefit.train.answer import load

    run = write_run(tmp_path / "run", write_model(tmp_path / "model"), epochs=20)
    assert run_worker(run).returncode == 0
    plan = run.read(run.plan, Plan)
    assert plan
    messages = [{"role": "user", "content": "abc"}]
    trained, base = (load(run, plan, use_base).answer(messages, 20) for use_base in (False, True))
    assert trained["text"] != base["text"]


def test_a_run_without_a_result_has_no_answers(tmp_path: Path, done: RunFolder) -> None:
    run = RunFolder(tmp_path)
    run.plan.write_bytes(done.plan.read_bytes())
    answers, words, code = ask(run, [])
    assert not answers
    assert code == 78
    assert "has no trained model" in words
