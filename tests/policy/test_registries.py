"""Every entry of a registry is whole: its own code, its file, its text, its fixture."""

import inspect
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from policy.project import TESTS, tracked_files

from surefit.data.checks import CHECKS
from surefit.diagnose.signatures import SIGNATURES
from surefit.launch import LAUNCHERS
from surefit.models.families import FAMILIES

CHECK_SECTIONS = ("What it does", "Why it is bad", "Example", "What to do")
SIGNATURE_SECTIONS = ("What happened", "Why", "Example", "What to do")


def missing_sections(entry: type, wanted: Sequence[str]) -> list[str]:
    """The sections that an entry's docstring lacks or leaves empty."""
    text = inspect.cleandoc(entry.__doc__ or "")
    bodies = dict(re.findall(r"^## (.+)\n((?:(?!## ).*\n?)*)", text, re.MULTILINE))
    return [title for title in wanted if not bodies.get(title, "").strip()]


def twice(values: Sequence[str]) -> list[str]:
    """The values that stand more than once."""
    return [value for value, count in Counter(values).items() if count > 1]


def test_codes_are_unique_and_well_formed() -> None:
    codes = [one.code for one in CHECKS] + [one.code for one in SIGNATURES]
    assert not twice(codes)
    assert [one.code for one in CHECKS if not re.fullmatch(r"SD\d{3}", one.code)] == []
    assert [one.code for one in SIGNATURES if not re.fullmatch(r"SF\d{3}", one.code)] == []


def test_one_file_holds_one_entry() -> None:
    assert not twice([inspect.getfile(one) for one in CHECKS])
    assert not twice([inspect.getfile(one) for one in SIGNATURES])


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.code)
def test_a_check_explains_itself(check: type) -> None:
    assert missing_sections(check, CHECK_SECTIONS) == []


@pytest.mark.parametrize("signature", SIGNATURES, ids=lambda signature: signature.code)
def test_a_signature_explains_itself(signature: type) -> None:
    assert missing_sections(signature, SIGNATURE_SECTIONS) == []


def test_every_file_of_a_registry_is_in_it() -> None:
    from surefit.data import checks
    from surefit.diagnose import signatures

    for registry, prefix in ((checks, "SD"), (signatures, "SF")):
        entries = CHECKS if prefix == "SD" else SIGNATURES
        listed = {Path(inspect.getfile(one)) for one in entries}
        folder = Path(inspect.getfile(registry)).parent
        pattern = rf'^    code = "{prefix}\d{{3}}"'
        files = {p for p in folder.glob("*.py") if re.search(pattern, p.read_text(), re.MULTILINE)}
        assert files == listed


def test_every_entry_has_a_fixture_in_the_contract_tests() -> None:
    words = "\n".join(
        path.relative_to(TESTS).as_posix()
        + "\n"
        + path.read_text(encoding="utf-8", errors="replace")
        for path in tracked_files()
        if path.is_relative_to(TESTS / "contract") or path.is_relative_to(TESTS / "fixtures")
        if path.suffix in {".py", ".toml", ".json", ".jsonl", ".log", ".txt", ".yaml"}
    )
    codes = [one.code for one in CHECKS] + [one.code for one in SIGNATURES]
    assert [code for code in codes if code.lower() not in words.lower()] == []


def test_families_and_launchers_have_names_of_their_own() -> None:
    assert not twice([name for family in FAMILIES for name in family.model_types])
    assert not twice([launcher.name for launcher in LAUNCHERS])
