"""The documentation says what the code does: every command, option, code and field is in it."""

import re
import sys
from functools import cache
from pathlib import Path

import click
import pytest
from policy.project import ROOT, name_of, tracked_files

from surefit.cli.group import ENTRIES
from surefit.data.checks import CHECKS
from surefit.data.formats import FORMATS
from surefit.diagnose.signatures import SIGNATURES
from surefit.errors import ExitCode, WorkerExit
from surefit.recipe import load_recipe
from surefit.recipe.fields import fields
from surefit.runs.state import RunState

DOCS = ROOT / "docs"
REFERENCE = DOCS / "reference"
PROSE = [path for path in tracked_files() if path.suffix == ".md" and "fixtures" not in path.parts]


@cache
def page(name: str) -> str:
    """The text of one reference page."""
    return (REFERENCE / name).read_text(encoding="utf-8")


def test_the_reference_equals_the_code() -> None:
    sys.path.insert(0, str(DOCS))
    import generate

    assert generate.drift() == []


@pytest.mark.parametrize("name", ENTRIES)
def test_a_command_and_each_of_its_options_is_in_the_reference(name: str) -> None:
    _, found, text = page("cli.md").partition(f"\n### surefit {name}\n")
    assert found
    text = text.split("\n### ")[0]
    options = [
        option
        for one in ENTRIES[name].load().params
        if isinstance(one, click.Option) and not one.hidden
        for option in one.opts
    ]
    assert [option for option in options if option not in text] == []


@pytest.mark.parametrize("name", ENTRIES)
def test_a_command_takes_json_and_says_what_it_does(name: str) -> None:
    command = ENTRIES[name].load()
    assert any("--json" in option.opts for option in command.params)
    assert command.help
    undescribed = [
        option.name
        for option in command.params
        if isinstance(option, click.Option) and not option.help
    ]
    assert not undescribed


def test_every_field_of_a_recipe_is_in_the_reference_and_described() -> None:
    assert [one.path for one in fields() if f"| `{one.path}` |" not in page("recipe.md")] == []
    silent = {one.path for one in fields() if not one.description}
    assert not silent


def test_every_format_of_data_is_in_the_reference() -> None:
    assert [one.name for one in FORMATS if f"| `{one.name}` |" not in page("formats.md")] == []


def test_every_code_of_a_check_or_failure_has_its_own_section() -> None:
    missing = [one.code for one in CHECKS if f"\n## {one.code} " not in page("checks.md")]
    missing += [one.code for one in SIGNATURES if f"\n## {one.code} " not in page("failures.md")]
    assert not missing


def test_every_exit_code_and_state_is_in_the_reference() -> None:
    codes = page("exit-codes.md")
    assert [code for code in [*ExitCode, *WorkerExit] if f"| {code.value} |" not in codes] == []
    assert [state for state in RunState if f"| `{state}` |" not in page("events.md")] == []


def test_a_code_named_anywhere_in_the_project_exists() -> None:
    known = {one.code for one in CHECKS} | {one.code for one in SIGNATURES}
    unknown = {
        f"{name_of(path)}: {code}"
        for path in tracked_files()
        if path.suffix in {".py", ".md", ".yaml"} and path.is_relative_to(ROOT / "src")
        for code in re.findall(r"\bS[DF]\d{3}\b", path.read_text(encoding="utf-8"))
        if code not in known
    }
    assert not unknown


def test_a_surefit_command_named_in_prose_or_messages_exists() -> None:
    texts = [path for path in tracked_files() if path.suffix in {".py", ".md", ".yaml"}]
    unknown = {
        f"{name_of(path)}: surefit {word}"
        for path in texts
        if not path.is_relative_to(ROOT / "tests")
        for word in re.findall(r"`surefit ([a-z]+)\b", path.read_text(encoding="utf-8"))
        if word not in ENTRIES
    }
    assert not unknown


@pytest.mark.parametrize("path", PROSE, ids=name_of)
def test_links_inside_the_project_lead_somewhere(path: Path) -> None:
    targets = re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", path.read_text(encoding="utf-8"))
    assert [target for target in targets if not (path.parent / target).exists()] == []


def test_design_notes_are_numbered_without_a_gap() -> None:
    numbers = sorted(path.name[:4] for path in (DOCS / "design").glob("*.md"))
    assert numbers == [f"{number:04}" for number in range(1, len(numbers) + 1)]


def blocks(path: Path, language: str) -> list[str]:
    """The code blocks of one language on a page."""
    pattern = rf"^```{language}\n(.*?)^```$"
    return re.findall(pattern, path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def test_the_recipes_on_the_first_page_are_recipes(tmp_path: Path) -> None:
    recipes = blocks(ROOT / "README.md", "yaml")
    assert recipes
    for text in recipes:
        file = tmp_path / "recipe.yaml"
        file.write_text(text, encoding="utf-8")
        assert load_recipe(file).recipe.data.train


def test_the_options_on_the_first_page_exist() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for name, rest in re.findall(r"^surefit ([a-z]+)(.*)", "\n".join(blocks_text(text)), re.M):
        known = {option for one in ENTRIES[name].load().params for option in one.opts}
        assert set(re.findall(r"--[a-z-]+", rest.split("#")[0])) <= known


def blocks_text(text: str) -> list[str]:
    """The lines of all shell blocks in a text."""
    found = re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [line for block in found for line in block.splitlines()]
