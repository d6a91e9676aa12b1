"""The run folder: the only contract between planning, the worker, the supervisor and every face.

recipe.yaml recipe.json   as given; resolved
plan.json dataset.json    what was decided; what the data holds
data/                     prepared tokens and masks
events.jsonl              what happens, appended
log/                      everything the worker printed, redacted
heartbeats/rank<N>.json   the last sign of life of each rank
ranks.json                how each of several ranks ended
checkpoints/step-<N>/     whole when manifest.json is there
effective.json            what the worker's live objects really are
supervisor.json           who watches: process id and start time
stop.json                 somebody asked the run to stop
exit.json                 how the worker ended
result.json model/        the evidence of success and the files it speaks of
diagnosis.json            why it ended otherwise
attempts/<N>/             exit, diagnosis, heartbeats and plan of the workers before this one
"""

import contextlib
import errno
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from surefit.errors import OutsideError, UsageError
from surefit.home import disk_error, make_folder, runs_folder, write_atomically
from surefit.runs.event import EVENT, Checkpoint, Metric, Note, Phase, Problem, Status
from surefit.runs.naming import NAME_PATTERN
from surefit.runs.state import RunState

AnyEvent = Status | Phase | Metric | Checkpoint | Problem | Note
Model = TypeVar("Model", bound=BaseModel)
_STAGING = re.compile(r"\.staging-(\d+)-.*")


@dataclass(frozen=True)
class RunFolder:
    """Names and files of one run. Holds a path and nothing else."""

    path: Path

    @property
    def id(self) -> str:
        """The run's id: the folder's name."""
        return self.path.name

    @property
    def recipe_text(self) -> Path:
        """The recipe as the person gave it."""
        return self.path / "recipe.yaml"

    @property
    def recipe(self) -> Path:
        """The recipe, resolved."""
        return self.path / "recipe.json"

    @property
    def plan(self) -> Path:
        """Every number the worker uses."""
        return self.path / "plan.json"

    @property
    def dataset(self) -> Path:
        """What the data holds."""
        return self.path / "dataset.json"

    @property
    def data(self) -> Path:
        """Prepared tokens and masks."""
        return self.path / "data"

    @property
    def events(self) -> Path:
        """What happens, a line each."""
        return self.path / "events.jsonl"

    @property
    def log(self) -> Path:
        """Everything the worker printed."""
        return self.path / "log" / "worker.log"

    @property
    def supervisor_log(self) -> Path:
        """What the supervisor itself printed: empty unless it failed."""
        return self.path / "log" / "supervisor.log"

    @property
    def checkpoints(self) -> Path:
        """The folder of checkpoints."""
        return self.path / "checkpoints"

    @property
    def effective(self) -> Path:
        """What the worker's live objects really are."""
        return self.path / "effective.json"

    @property
    def supervisor(self) -> Path:
        """Who watches the run."""
        return self.path / "supervisor.json"

    @property
    def stop_request(self) -> Path:
        """The wish that the run stops."""
        return self.path / "stop.json"

    @property
    def exit(self) -> Path:
        """How the worker ended."""
        return self.path / "exit.json"

    @property
    def result(self) -> Path:
        """The evidence of success."""
        return self.path / "result.json"

    @property
    def model(self) -> Path:
        """The trained adapter or model."""
        return self.path / "model"

    @property
    def diagnosis(self) -> Path:
        """Why the run ended without success."""
        return self.path / "diagnosis.json"

    @property
    def attempts(self) -> Path:
        """What earlier workers of this run have left, a numbered folder each."""
        return self.path / "attempts"

    def heartbeat(self, rank: int) -> Path:
        """The last sign of life of one rank."""
        return self.path / "heartbeats" / f"rank{rank}.json"

    def write(self, file: Path, record: BaseModel) -> None:
        """Write a record as one whole file."""
        write_atomically(file, record.model_dump_json(indent=1, by_alias=True) + "\n")

    def read(self, file: Path, kind: type[Model]) -> Model | None:
        """Read a record, or None where the file is absent or cut off.

        Raises:
            OutsideError: the file may not be read.
        """
        try:
            return kind.model_validate_json(file.read_bytes())
        except (FileNotFoundError, NotADirectoryError, ValidationError):
            return None
        except OSError as error:
            raise disk_error(f"cannot read {file}", error, file) from error

    def append(self, event: AnyEvent) -> None:
        """Add a line to `events.jsonl` by one write.

        Raises:
            OutsideError: the disk is full or the folder cannot be written.
        """
        line = event.model_dump_json(exclude_none=True).encode() + b"\n"
        try:
            handle = os.open(self.events, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            try:
                _write_whole(handle, line)
            finally:
                os.close(handle)
        except OSError as error:
            raise disk_error(f"cannot write {self.events}", error, self.events) from error

    def read_events(self, after_line: int = 0) -> Iterator[tuple[int, AnyEvent]]:
        """Yield (line number from 1, event) for the whole lines after `after_line`.

        A last line without its end is still being written and is left for the next call; a line that
        is no event (a newer version's, a damaged one) is passed over, its number stays taken.
        """
        try:
            handle = self.events.open("rb")
        except FileNotFoundError:
            return
        with handle:
            for number, line in enumerate(handle, start=1):
                if not line.endswith(b"\n"):
                    return
                if number <= after_line:
                    continue
                try:
                    yield number, EVENT.validate_json(line)
                except ValidationError:
                    continue

    def state(self) -> tuple[RunState, str | None]:
        """The last state on record and its cause. What lives is for the supervisor to say."""
        state, cause = RunState.CREATED, None
        for _, event in self.read_events():
            if isinstance(event, Status):
                state, cause = event.state, event.cause
        return state, cause


def _write_whole(handle: int, line: bytes) -> None:
    """Write a line, or nothing: on a full disk the kernel may take a part of it without an error."""
    written = os.write(handle, line)
    if written < len(line):
        with contextlib.suppress(OSError):
            os.ftruncate(handle, os.lseek(handle, 0, os.SEEK_END) - written)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def create_run_folder(name: str) -> RunFolder:
    """Make the folder of a new run under its name at once. To fill it first, stage and publish it.

    Raises:
        UsageError: the name is taken or is not a name.
        OutsideError: the disk is full or may not be written.
    """
    return publish_run_folder(stage_run_folder(name), name)


def stage_run_folder(name: str) -> RunFolder:
    """Make a folder that no list of runs shows, to be filled and then published under `name`.

    Raises:
        UsageError: the name is taken or is not a name.
        OutsideError: the disk is full or may not be written.
    """
    if not NAME_PATTERN.fullmatch(name):
        raise UsageError(
            f"{name!r} is not a name for a run",
            "a run's name becomes a folder: letters, digits, dot, dash and underscore, at most 64, "
            "beginning with a letter or a digit",
            "choose another name, for example `--name my-first-run`",
        )
    if os.path.lexists(runs_folder() / name):
        raise _name_taken(name)
    root = make_folder(runs_folder())
    _sweep_staging(root)
    staged = root / f".staging-{os.getpid()}-{name}"
    try:
        for part in ("log", "heartbeats"):
            (staged / part).mkdir(parents=True)
    except OSError as error:
        shutil.rmtree(staged, ignore_errors=True)
        raise disk_error(f"cannot create the run folder {root / name}", error, root) from error
    return RunFolder(staged)


def publish_run_folder(staged: RunFolder, name: str) -> RunFolder:
    """Give a staged folder its name, in one move: the run exists from then on, whole.

    Raises:
        UsageError: another run has taken the name meanwhile; the staged folder is still there.
        OutsideError: the disk refused the move.
    """
    path = runs_folder() / name
    try:
        staged.path.rename(path)  # fails on a folder with content, and a run always has content
    except OSError as error:
        if os.path.lexists(path):
            raise _name_taken(name) from error
        raise disk_error(f"cannot create the run folder {path}", error, path) from error
    return RunFolder(path)


def _name_taken(name: str) -> UsageError:
    return UsageError(
        f"a run named {name!r} exists already",
        f"its folder is {runs_folder() / name}",
        f"choose another name with `--name`, or look at the run with `surefit show {name}`",
    )


def _sweep_staging(root: Path) -> None:
    """Remove what starts that were killed half-way have left; their process is gone."""
    for entry in root.glob(".staging-*"):
        owner = _STAGING.fullmatch(entry.name)
        if owner and not Path(f"/proc/{owner.group(1)}").exists():
            shutil.rmtree(entry, ignore_errors=True)


def find_run_folder(name: str) -> RunFolder:
    """The folder of a run by its id, the beginning of its id, or its path.

    Raises:
        UsageError: no run, or several, answer to the name.
    """
    as_path = Path(name)
    if os.sep in name and (as_path / "recipe.json").is_file():
        return RunFolder(as_path.absolute())
    root = runs_folder()
    if NAME_PATTERN.fullmatch(name) and (root / name).is_dir():
        return RunFolder(root / name)
    matches = [path for path in list_run_folders() if path.id.startswith(name)] if name else []
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise UsageError(
            f"{name!r} is the beginning of {len(matches)} runs",
            "they are " + ", ".join(run.id for run in matches[:5]),
            f"type more of the id, for example `{matches[0].id}`",
        )
    newest = [run.id for run in list_run_folders()[:3]]
    raise UsageError(
        f"there is no run {name!r}",
        f"{root} holds "
        + (f"no such folder; its newest are {', '.join(newest)}" if newest else "no runs yet"),
        "list them with `surefit runs`",
    )


def list_run_folders() -> list[RunFolder]:
    """All run folders, newest first.

    Raises:
        OutsideError: the folder of runs may not be read.
    """
    root = runs_folder()
    try:
        found = [
            (entry.stat().st_ctime, entry.name)
            for entry in os.scandir(root)
            if NAME_PATTERN.fullmatch(entry.name) and entry.is_dir()
        ]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise OutsideError(
            f"cannot list the runs in {root}",
            error.strerror or str(error),
            f"check the permissions of {root}, or set SUREFIT_HOME",
        ) from error
    return [RunFolder(root / name) for _, name in sorted(found, reverse=True)]
