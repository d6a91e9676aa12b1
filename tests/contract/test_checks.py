"""Every data check finds what its fixture holds, and nothing in the clean sibling.

A fixture is a folder `tests/fixtures/data/SD###` with the bad data, the clean data and a
`case.json`: file names, rows that must be named, and settings where a check needs them.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from token_folders import tokenizer_named

from surefit.data import DatasetReport, Finding, check_data
from surefit.data.checks import CHECKS
from surefit.data.checks.check import Check, Terms
from surefit.data.row import DataFile, Row
from surefit.data.turns import settle_turns
from surefit.recipe.data_spec import DataSpec
from surefit.tokens import Rendered

FIXTURES = Path(__file__).parents[1] / "fixtures" / "data"
NAMES = [check.code for check in CHECKS]


def _case(code: str) -> dict[str, Any]:
    case: dict[str, Any] = json.loads((FIXTURES / code / "case.json").read_text())
    return case


def _report(code: str, which: str, folder: Path) -> DatasetReport:
    """The report on the bad or the clean data of a fixture."""
    case = _case(code)

    def setting(name: str, default: Any = None) -> Any:
        return case.get(f"clean_{name}" if which == "clean" else name, case.get(name, default))

    spec = DataSpec(
        train=case[which],
        eval=setting("eval"),
        columns=None if which == "clean" else case.get("columns"),
        max_unusable=case.get("max_unusable", 0),
        template_arguments=setting("template_arguments"),
        long_rows=case.get("long_rows", "cut"),
    )
    return check_data(
        spec,
        FIXTURES / code,
        tokenizer_named(setting("model", "chatml"), folder),
        max_length=setting("max_length", 8192),
        batch=setting("batch", 4),
        seed=17,
        prepare=bool(case.get("for_training")),
        packing=bool(case.get("packing")),
    )


def _finding(report: DatasetReport, code: str) -> Finding | None:
    return next((finding for finding in report.findings if finding.code == code), None)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUREFIT_HOME", str(tmp_path / "home"))


@pytest.mark.parametrize("check", CHECKS, ids=NAMES)
def test_a_check_finds_what_its_fixture_holds(check: type[Check], tmp_path: Path) -> None:
    finding = _finding(_report(check.code, "train", tmp_path), check.code)
    assert finding is not None
    assert finding.severity == check.severity
    assert finding.count >= 1
    lines = [int(place.rpartition(":")[2]) for place in finding.rows if place[-1].isdigit()]
    assert set(_case(check.code).get("rows", [])) <= set(lines)


@pytest.mark.parametrize("check", CHECKS, ids=NAMES)
def test_a_check_leaves_the_clean_sibling_alone(check: type[Check], tmp_path: Path) -> None:
    report = _report(check.code, "clean", tmp_path)
    assert _finding(report, check.code) is None
    heavy = [one for one in report.findings if one.severity == "refuse"]
    assert not heavy or check.code == "SD209"


@pytest.mark.parametrize("check", CHECKS, ids=NAMES)
def test_a_finding_reads_well(check: type[Check], tmp_path: Path) -> None:
    finding = _finding(_report(check.code, "train", tmp_path), check.code)
    assert finding is not None
    for text in (finding.message, finding.why, finding.next):
        assert text.strip()
        assert not re.search(r"\{[a-z_]+\}", text), "a value was not filled in"
    for text in (finding.why, finding.next):
        assert not text.endswith(".")
        assert "None" not in text
    secret = _case(check.code).get("secret")
    assert secret is None or secret not in finding.model_dump_json()


@pytest.mark.parametrize(
    "check", [one for one in CHECKS if one.drops_row], ids=lambda one: one.code
)
def test_a_row_that_cannot_be_trained_is_counted_out(check: type[Check], tmp_path: Path) -> None:
    report = _report(check.code, "train", tmp_path)
    assert report.verdict == "refuse"
    assert report.usable < report.rows


SAID = st.text(min_size=1, max_size=60).filter(
    lambda text: not text.isspace() and "</think>" not in text
)


@pytest.mark.parametrize(
    "check", [one for one in CHECKS if one.only_unusual], ids=lambda one: one.code
)
@given(
    turns=st.lists(
        st.fixed_dictionaries(
            {"role": st.sampled_from(["system", "user", "assistant"]), "content": SAID}
        ),
        min_size=1,
        max_size=4,
    )
)
@settings(max_examples=25, deadline=None)
def test_a_check_of_unusual_rows_never_hits_a_plain_one(
    check: type[Check], turns: list[dict[str, str]]
) -> None:
    row = Row(DataFile("train.jsonl", Path("train.jsonl"), "train", 1), 1, b"{}", {})
    row.format, row.messages = row.wanted_format, turns
    assert row.shaped
    settle_turns(row)
    assert row.plain == any(turn["role"] == "assistant" for turn in turns)
    if row.plain:
        row.rendered = Rendered("\n".join(turn["content"] for turn in turns), [])
        assert check(Terms(DataSpec(train="train.jsonl"), None, 4, None)).of_row(row) is None
