"""Whether a run has succeeded: from the files it left, never from an exit code."""

import hashlib
from pathlib import Path

from surefit.runs import Result, RunFolder
from surefit.runs.result import Rehearsal

_CHUNK = 2**20


def why_not_proven(run: RunFolder) -> str | None:
    """What is missing from the evidence of success, in words; None: everything is there.

    `result.json` must be there and whole, its files must have the sizes and hashes it names, and the
    reloaded model must have given the same logits.
    """
    if not run.result.exists():
        return "it left no result.json"
    result = run.read(run.result, Result)
    if result is None:
        return "its result.json is damaged"
    if not result.files:
        return "its result.json names no files"
    check = result.verification
    if not check.max_difference <= check.tolerance:  # also when it is not a number
        return (
            f"the saved model, loaded again, differs by {check.max_difference:.3g} in a logit; "
            f"{check.tolerance:.3g} is allowed"
        )
    for file in result.files:
        problem = _file_problem(run.path, file.path, file.size_bytes, file.sha256)
        if problem:
            return problem
    return None


def why_rehearsal_not_proven(run: RunFolder) -> str | None:
    """What is missing from the evidence of a rehearsal, in words; None: every check passed."""
    found = run.read(run.path / "rehearsal.json", Rehearsal)
    if found is None:
        return "it left no rehearsal.json"
    failed = [check.text for check in found.checks if not check.passed]
    if failed:
        return "a check of the rehearsal failed: " + failed[0]
    return None if found.checks else "its rehearsal.json names no checks"


def _file_problem(root: Path, name: str, size_bytes: int, sha256: str) -> str | None:
    path = (root / name).resolve()
    if not path.is_relative_to(root.resolve()):
        return f"its result.json names {name}, which lies outside the run folder"
    try:
        if path.stat().st_size != size_bytes:
            return f"{name} has {path.stat().st_size} bytes, its result.json says {size_bytes}"
        found = _sha256_of(path)
    except OSError as error:
        return f"{name} cannot be read: {error.strerror or error}"
    return None if found == sha256 else f"{name} does not have the hash its result.json names"


def _sha256_of(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as handle:
        while chunk := handle.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
