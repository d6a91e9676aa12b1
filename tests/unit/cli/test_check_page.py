"""The page of a data check: whole in one file, and nothing from the data is taken for markup."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner

from surefit.cli.check import check_command
from surefit.cli.checkpage import check_page
from surefit.data.report import DatasetReport, DataSource, Finding, LengthBin, Sample, TokenCounts

NASTY = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&</pre></mark>"


class Tags(HTMLParser):
    """Collects the tags of a page and where they point."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.pointers: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.pointers += [name for name, _ in attrs if name in ("src", "href", "onerror", "action")]


def report(**changes: object) -> DatasetReport:
    tokens = TokenCounts(
        total=100,
        trained=40,
        longest=30,
        shortest=5,
        mean=10,
        percentiles={"p50": 9},
        histogram=(
            LengthBin(shortest=1, longest=20, rows=8),
            LengthBin(shortest=21, longest=40, rows=2),
        ),
    )
    finding = Finding(
        code="SD601",
        severity="warn",
        message=f"found {NASTY}",
        why=NASTY,
        next=NASTY,
        count=2,
        rows=(f"{NASTY}.jsonl:1", "b.jsonl:2"),
    )
    values: dict[str, object] = {
        "verdict": "warn",
        "format": "messages",
        "format_reason": NASTY,
        "sources": (DataSource(path=f"/data/{NASTY}", size_bytes=10, sha256="0"),),
        "rows": 10,
        "usable": 10,
        "max_length": 20,
        "findings": (finding,),
        "tokens": tokens,
        "samples": (Sample(place=f"{NASTY}:1", pieces=((NASTY, False), (NASTY, True))),),
    }
    return DatasetReport.model_validate(values | changes)


def test_nothing_from_the_data_becomes_markup_and_nothing_is_loaded() -> None:
    page = check_page(report(), NASTY)
    tags = Tags()
    tags.feed(page)
    assert not {"script", "img", "link", "iframe", "object"} & set(tags.tags)
    assert not tags.pointers
    assert "default-src 'none'" in page
    assert not re.search(r"url\(|@import|https?://", page)


def test_the_page_shows_what_the_terminal_shows() -> None:
    page = check_page(report(), "chats.jsonl")
    for text in ("chats.jsonl", "warn", "SD601", "10 rows read, 10 to train", "cut at 20"):
        assert text in page
    learned = re.findall(r"<mark>(.*?)</mark>", page, re.DOTALL)
    assert len(learned) == 2  # the legend, and the one learned piece
    assert 'style="width: 100.0%"' in page
    assert 'style="width: 25.0%"' in page
    assert "prefers-color-scheme: dark" in page


def test_without_a_model_the_page_says_what_is_missing() -> None:
    assert "--model DIR" in check_page(report(tokens=None, samples=(), max_length=None), "x")


def test_a_very_long_sample_is_shown_to_its_beginning() -> None:
    sample = Sample(place="a:1", pieces=(("x" * 20_000, False), ("y", True)))
    page = check_page(report(samples=(sample,)), "x")
    assert "its beginning" in page
    assert "x" * 12_000 in page
    assert "x" * 12_001 not in page


def test_the_command_writes_the_page_and_still_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    row = {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]}
    Path("rows.jsonl").write_text(json.dumps(row) + "\n")
    asked = ["check", "rows.jsonl", "--model", "starter", "--html", "out/page.html", "--json"]
    answer = CliRunner().invoke(check_command, asked[1:])
    assert answer.exit_code == 0
    assert json.loads(answer.stdout)["rows"] == 1
    assert "out/page.html" in answer.stderr
    assert "Ho&lt;|im_end|&gt;" in Path("out/page.html").read_text()
