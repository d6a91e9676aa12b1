"""The workers of one run, one after the other: what an ended one left is put aside for the next."""

import contextlib
import shutil
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from surefit.home import disk_error, make_folder
from surefit.runs import RunFolder


class Retry(BaseModel):
    """`attempts/<N>/retry.json`: why a new worker followed the N-th, and what it does otherwise."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    kind: str = Field(description="`memory`, `network` or `resume`.")
    cause: str
    change: str
    wait_seconds: float = 0.0


def put_aside(run: RunFolder, retry: Retry) -> int:
    """Move what the ended worker left into `attempts/<N>/`; the number of workers so far.

    The reason is written first and `exit.json` moved last: after a power cut in between, the run
    still counts as ended and is put aside again.

    Raises:
        OutsideError: the disk is full or may not be written.
    """
    number = len(list(run.attempts.glob("[0-9]*"))) + 1
    target = make_folder(run.attempts / str(number))
    run.write(target / "retry.json", retry)
    try:
        shutil.copyfile(run.plan, target / run.plan.name)
        left = [run.diagnosis, run.stop_request, run.path / "bad_batch.json", run.exit]
        left += sorted((run.path / "heartbeats").glob("rank*.json"))
        left += sorted(run.log.parent.glob("stacks_rank*.txt"))
        for file in left:
            with contextlib.suppress(FileNotFoundError):
                file.replace(target / file.name)
    except OSError as error:
        raise disk_error(f"cannot put aside what {run.id} left", error, target) from error
    return number


def retries(run: RunFolder) -> list[Retry]:
    """The retries so far, oldest first."""
    folders = sorted(run.attempts.glob("[0-9]*"), key=_number)
    found = [run.read(folder / "retry.json", Retry) for folder in folders]
    return [one for one in found if one is not None]


def _number(folder: Path) -> int:
    return int(folder.name) if folder.name.isdigit() else 0
