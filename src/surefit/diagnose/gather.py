"""Gather the evidence of a run: surefit's own run folder, anybody's folder, a log, or a pipe."""

from pathlib import Path
from typing import BinaryIO

from surefit.diagnose.assembly import build
from surefit.diagnose.evidence import Evidence
from surefit.diagnose.foreign_folder import read_folder
from surefit.diagnose.large_log import read_pieces
from surefit.diagnose.logs import clean_lines, read_log
from surefit.diagnose.run_evidence import read_run
from surefit.errors import UsageError
from surefit.runs.folder import RunFolder


def gather_evidence(folder: Path, missing: str | None = None) -> Evidence:
    """Everything that a run left behind under a path: a run folder, any folder, or one log.

    Args:
        folder: the path.
        missing: what a supervisor found missing from the result when it compared the hashes.

    Raises:
        UsageError: there is nothing at that path.
        OutsideError: a file may not be read.
    """
    if not folder.exists():
        raise UsageError(
            f"there is nothing at {folder}",
            "a diagnosis needs a log file or a folder with what the run left behind",
            "give the path of a log or a folder, or pipe a log into `surefit diagnose -`",
        )
    if not folder.is_dir():
        return build(read_log(folder))
    if (folder / "recipe.json").is_file() or (folder / "events.jsonl").is_file():
        return read_run(RunFolder(folder.absolute()), missing)
    return read_folder(folder)


def gather_from_stream(stream: BinaryIO) -> Evidence:
    """The evidence in a log that arrives through a pipe."""
    return build(clean_lines(read_pieces(stream), "-"))
