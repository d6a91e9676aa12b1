"""What a repository owes its readers: licence, changes, commands, tested versions, safe floors."""

import hashlib
import os
import re
import subprocess
import tomllib
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.version import Version
from policy.project import ROOT, SOURCE, name_of, tracked_files

import surefit

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
# Below these a model file can run code: CVE-2026-4372, CVE-2025-32434.
FLOORS = {"transformers": "5.3", "torch": "2.6"}


def requirements() -> dict[str, Requirement]:
    """Everything that pyproject asks for, by name."""
    extras = PROJECT["optional-dependencies"]
    lines = [*PROJECT["dependencies"], *(line for extra in extras.values() for line in extra)]
    return {requirement.name.lower(): requirement for requirement in map(Requirement, lines)}


def pinned_versions() -> dict[str, str]:
    """The versions of constraints.txt, by name."""
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = [line.split("==") for line in lines if line and not line.startswith("#")]
    return {name.lower().replace("_", "-"): version for name, version in pins}


@pytest.mark.parametrize(("package", "floor"), FLOORS.items())
def test_versions_below_a_security_floor_are_refused(package: str, floor: str) -> None:
    below = f"{Version(floor).major}.{Version(floor).minor - 1}.99"
    assert not requirements()[package].specifier.contains(below)
    assert Version(pinned_versions()[package]) >= Version(floor)


def test_every_package_asked_for_has_a_tested_version() -> None:
    pinned = pinned_versions()
    stubs = {name for name in requirements() if name.startswith("types-")}
    missing = [name for name in requirements() if name not in pinned and name not in stubs]
    wrong = [
        f"{name} {pinned[name]}"
        for name, requirement in requirements().items()
        if name in pinned and not requirement.specifier.contains(pinned[name])
    ]
    assert not missing
    assert not wrong


def test_the_licence_is_whole() -> None:
    text = (ROOT / "LICENSE").read_text()
    assert "Apache License" in text
    assert "END OF TERMS AND CONDITIONS" in text
    assert PROJECT["license"] == "Apache-2.0"


def test_the_changelog_knows_this_version() -> None:
    changes = (ROOT / "CHANGELOG.md").read_text()
    assert re.search(rf"^## {re.escape(PROJECT['version'])}\b", changes, re.MULTILINE)


def test_the_package_and_pyproject_say_the_same_version() -> None:
    assert version("surefit") == PROJECT["version"]
    assert surefit.__version__ == PROJECT["version"]


@pytest.mark.parametrize("name", ["demo", "test", "check", "fix", "bench"])
def test_a_developer_command_can_be_run(name: str) -> None:
    script = ROOT / "scripts" / name
    assert os.access(script, os.X_OK)
    assert script.read_text().startswith("#!/usr/bin/env ")


def test_every_file_without_an_ending_in_scripts_is_a_command() -> None:
    plain = [
        path.name
        for path in tracked_files()
        if path.parent == ROOT / "scripts" and not path.suffix and not os.access(path, os.X_OK)
    ]
    assert not plain


SCRIPTS = [path for path in tracked_files() if path.parent in {ROOT / "scripts", ROOT / ".ci"}]


def is_shell(path: Path) -> bool:
    """Whether bash reads this file."""
    first = path.read_text(encoding="utf-8").split("\n", 1)[0]
    return first.endswith("bash") or path.name.startswith("_")


@pytest.mark.parametrize("script", list(filter(is_shell, SCRIPTS)), ids=name_of)
def test_a_shell_script_parses(script: Path) -> None:
    command = ["bash", "-n", str(script)]
    parsed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert parsed.returncode == 0, parsed.stderr


def hashes_on_record() -> dict[Path, str]:
    """The files that a VERSIONS.toml vouches for: file -> SHA-256."""
    return {
        listing.parent / name: digest
        for listing in tracked_files()
        if listing.name == "VERSIONS.toml"
        for name, digest in tomllib.loads(listing.read_text())["sha256"].items()
    }


def test_shipped_files_are_those_that_were_looked_at() -> None:
    record = hashes_on_record()
    assert record
    changed = [
        name_of(path)
        for path, digest in record.items()
        if hashlib.sha256(path.read_bytes()).hexdigest() != digest
    ]
    assert not changed


def test_large_files_in_the_package_are_on_record() -> None:
    large = [p for p in tracked_files() if p.is_relative_to(SOURCE) and p.stat().st_size > 100_000]
    assert not [name_of(path) for path in large if path not in hashes_on_record()]


def test_the_package_stays_small() -> None:
    shipped = sum(p.stat().st_size for p in tracked_files() if p.is_relative_to(SOURCE))
    assert shipped < 12 * 2**20
