"""Plan, data and results as text: everything that decides is there, in 80 columns, without colour."""

import click
import pytest

from surefit.cli.checkview import check_text
from surefit.data.report import DatasetReport, DataSource, Finding, LengthBin, Sample, TokenCounts


@pytest.fixture(autouse=True)
def _eighty_columns(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "80")


def finding(code: str, severity: str, count: int = 1, rows: tuple[str, ...] = ()) -> Finding:
    return Finding(
        code=code,
        severity=severity,
        message=f"found by {code}",
        why="a reason",
        next="a step",
        count=count,
        rows=rows,
    )


def report(**changes) -> DatasetReport:
    values = {
        "verdict": "ok",
        "format": "messages",
        "format_reason": "rows hold `messages`",
        "sources": (DataSource(path="chats.jsonl", size_bytes=2048, sha256="0" * 64),),
        "rows": 1200,
        "usable": 1100,
    }
    return DatasetReport(**{**values, **changes})


def shown(what: DatasetReport) -> str:
    return click.unstyle(check_text(what))


def test_the_verdict_comes_first_in_a_word_and_a_sentence():
    assert shown(report()).splitlines()[0] == "OK  nothing stands against training on it"
    assert shown(report(verdict="refuse")).startswith("REFUSE  it cannot be trained")


def test_findings_stand_by_weight_with_code_count_why_and_next():
    text = shown(
        report(
            findings=(
                finding("SD900", "info"),
                finding("SD100", "refuse", 2),
                finding("SD500", "warn"),
            )
        )
    )
    order = [text.index(code) for code in ("SD100", "SD500", "SD900")]
    assert order == sorted(order)
    assert "refuse SD100 (2 rows)" in text
    assert text.count("why: a reason") == text.count("next: a step") == 3


def test_the_places_of_a_finding_name_each_file_once():
    rows = tuple(f"chats.jsonl:{line}" for line in range(1, 21))
    text = " ".join(shown(report(findings=(finding("SD100", "warn", 500, rows),))).split())
    assert "at: chats.jsonl lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, ..." in text


def test_the_learned_part_of_a_sample_is_marked_without_colour():
    sample = Sample(
        place="chats.jsonl:1", pieces=(("<user>Hello\n", False), ("Hi there<end>", True))
    )
    text = shown(report(samples=(sample,)))
    assert "    <user>Hello\n    ⟦Hi there<end>⟧" in text


def test_an_endless_row_is_cut_and_says_so():
    sample = Sample(place="chats.jsonl:1", pieces=(("x " * 5000, False), ("answer", True)))
    text = shown(report(samples=(sample,)))
    assert len(text) < 2500
    assert "…" in text


def test_lengths_say_what_was_cut():
    tokens = TokenCounts(
        total=1000,
        trained=250,
        longest=64,
        shortest=8,
        mean=30.5,
        percentiles={"p50": 30, "p99": 90},
        cut_rows=3,
        cut_trained=12,
        cut_row_share=0.1,
        cut_trained_share=0.0458,
        keeps_99=61,
        longest_batch=244,
        histogram=(
            LengthBin(shortest=1, longest=50, rows=20),
            LengthBin(shortest=51, longest=100, rows=10),
        ),
    )
    text = " ".join(shown(report(tokens=tokens)).split())
    assert (
        "8 to 64 a row, mean 30 (p50 30, p99 90); 1,000 in all, 250 of them (25%) carry loss"
        in text
    )
    assert "cut 3 rows (10.0%) cut, 12 answer tokens (4.6%) lost" in text
    assert "99 % of the rows fit whole into goal.max_length: 61" in text
    assert "longest rows of one step have 244 tokens together" in text
    assert "1 to 50 ████████████████████████████████ 20 51 to 100 ████████████████ 10" in text


def test_without_a_model_it_says_what_is_missing():
    assert "--model DIR" in shown(report())


def test_no_line_is_wider_than_the_terminal():
    text = shown(
        report(
            findings=(finding("SD100", "warn", 500, ("a/" * 20 + "chats.jsonl:1", "b.jsonl:2")),)
        )
    )
    assert max(map(len, text.splitlines())) <= 80
