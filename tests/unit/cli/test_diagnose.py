"""`surefit diagnose`: one answer for a file, a pipe or a folder, for people and for programs."""

import json
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from surefit.cli.diagnose import diagnose_command, diagnosis_lines
from surefit.diagnose import diagnose, gather_evidence

CASES = Path(__file__).parents[2] / "fixtures" / "failures"
KEYS = {
    "class", "code", "what", "why", "next", "phase", "step", "root_rank", "retryable", "evidence", "repair"
}  # fmt: skip


def invoke(*arguments: str, given: str | None = None) -> Result:
    """Run the command."""
    return CliRunner().invoke(diagnose_command, list(arguments), input=given)


def test_json_has_the_keys_that_every_reader_expects() -> None:
    result = invoke(str(CASES / "long-row-oom-rank2-step412"), "--json")
    answer = json.loads(result.stdout)
    assert set(answer) == KEYS
    assert answer["class"] == "GPU_OOM_STEP"
    assert set(answer["evidence"][0]) == {"file", "line", "text"}


def test_a_log_may_come_through_a_pipe() -> None:
    log = (CASES / "peft-not-installed" / "log.txt").read_text()
    answer = json.loads(invoke("-", "--json", given=log).stdout)
    assert answer["class"] == "IMPORT"


@pytest.mark.parametrize("width", [40, 80, 120])
def test_a_person_reads_it_within_the_columns(width: int) -> None:
    for case in (
        "rank3-still-saving-nccl-timeout",
        "hub-503-after-retries",
        "own-callback-keyerror",
    ):
        diagnosis = diagnose(gather_evidence(CASES / case))
        lines = diagnosis_lines(diagnosis, width)
        long_words = max(len(word) for line in lines for word in line.split())
        assert max(map(len, lines)) <= max(width, 9 + long_words)
        assert [line.split(":")[0].strip() for line in lines[:1]] == ["what"]


def test_an_answer_is_fast() -> None:
    started = time.perf_counter()
    invoke(str(CASES / "rate-limited-anonymous"), "--json")
    assert time.perf_counter() - started < 2  # generous: the machine may be busy
