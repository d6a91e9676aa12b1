"""Gather the evidence of a run: surefit's own run folder, or anybody's folder or log.

A foreign folder may hold `log.txt` (or any `*.log`, `*.out`, `*.err`, `*.txt`), `rank<N>.log`,
`error_rank<N>.json`, `heartbeats.json`, `exit.json` and `files.json`; all of them are optional.
"""

import json
import re
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from surefit.diagnose.evidence import (
    Beat,
    Evidence,
    Exit,
    Failure,
    LogLine,
    Plan,
    Raised,
    normal_exit,
)
from surefit.diagnose.large_log import read_pieces
from surefit.diagnose.launchers import find_rank_exits
from surefit.diagnose.logs import clean_lines, read_log
from surefit.diagnose.metrics import find_metrics, last_work
from surefit.diagnose.tracebacks import find_failures, mark_handled, parse_traceback
from surefit.errors import UsageError
from surefit.home import disk_error
from surefit.runs.event import Metric, Problem
from surefit.runs.folder import RunFolder
from surefit.runs.result import ExitStatus, Heartbeat, Result

_RANK_FILE = re.compile(r"(?:error_)?rank[_-]?(\d+)\.(?:log|json|out|err|txt)$")
_LOG_SUFFIXES = (".log", ".out", ".err", ".txt")
_LARGEST_JSON = 4 * 1024 * 1024
_MOST_LOGS = 64


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
        return _from_run(RunFolder(folder.absolute()), missing)
    return _from_folder(folder)


def gather_from_stream(stream: BinaryIO) -> Evidence:
    """The evidence in a log that arrives through a pipe."""
    return build(clean_lines(read_pieces(stream), "-"))


def build(
    main: list[LogLine],
    ranks: Iterable[list[LogLine]] = (),
    error_files: Iterable[Failure] = (),
    **known: Any,
) -> Evidence:
    """Put evidence together from clean lines and what else is known."""
    metrics = find_metrics(main)
    work = last_work(main, metrics)
    failures = list(mark_handled(find_failures(main), work))
    for lines in ranks:
        own = find_metrics(lines)
        failures += mark_handled(find_failures(lines), last_work(lines, own))
        metrics = metrics or own
    files = list(error_files)
    failures += files
    plan = known.pop("plan", None) or _plan_from_log(main)
    return Evidence(
        lines=tuple(main) + tuple(line for lines in ranks for line in lines),
        failures=tuple(failures),
        rank_exits=tuple(find_rank_exits(main)),
        metrics=tuple(metrics),
        activity=max(work.values(), default=-1),
        plan=plan,
        **known,
    )


def _from_folder(folder: Path) -> Evidence:
    main: list[LogLine] = []
    ranks: list[list[LogLine]] = []
    for path in sorted(folder.iterdir())[: 4 * _MOST_LOGS]:
        if path.suffix not in _LOG_SUFFIXES or not path.is_file() or len(ranks) > _MOST_LOGS:
            continue
        match = _RANK_FILE.match(path.name)
        if match:
            ranks.append(read_log(path, rank=int(match[1])))
        else:
            offset = len(main)
            main += [replace(line, position=line.position + offset) for line in read_log(path)]
    return build(
        main,
        ranks,
        _error_files(folder),
        exit=_exit(_json(folder / "exit.json")),
        heartbeats=_beats(_json(folder / "heartbeats.json")),
        files=_files(_json(folder / "files.json")),
    )


def _error_files(folder: Path) -> list[Failure]:
    """What torchelastic's `record` wrote: one file a rank, only for exceptions of Python."""
    found = []
    for path in sorted(folder.glob("error*rank*.json")):
        record, match = _json(path), _RANK_FILE.search(path.name)
        inner = record.get("message") if isinstance(record, dict) else None
        extra = inner.get("extraInfo", {}) if isinstance(inner, dict) else {}
        text = str(inner.get("message", "") if isinstance(inner, dict) else inner or "")
        if not text:
            continue
        rank = int(match[1]) if match else None
        kind, _, message = text.partition(":")
        line = LogLine(path.name, 1, text, rank)
        failure = Failure((Raised(kind.strip(), message.strip(), (), (line,)),), rank)
        whole = parse_traceback(str(extra.get("py_callstack", "")), path.name, rank)
        found.append(replace(whole or failure, time=_float(extra.get("timestamp"))))
    return found


def _from_run(run: RunFolder, missing: str | None) -> Evidence:
    main = read_log(run.log, "log/worker.log") if run.log.is_file() else []
    ranks = [
        read_log(path, f"log/{path.name}", rank=int(match[1]))
        for path in sorted(run.log.parent.glob("rank*.log"))[:_MOST_LOGS]
        if (match := _RANK_FILE.match(path.name))
    ]
    status = run.read(run.exit, ExitStatus)
    ended = status.time if status is not None and status.time else time.time()
    missing = missing or _missing(run)
    return build(
        main,
        ranks,
        exit=_exit_of_run(status),
        heartbeats=tuple(_run_beats(run, ended)),
        problem=_last_problem(run),
        plan=_plan_of_run(run),
        stop_requested=run.stop_request.is_file(),
        verified=missing is None,
        missing=missing,
        files=_files_of_run(run) if status is not None else None,
    )


def _exit_of_run(status: ExitStatus | None) -> Exit:
    """Without `exit.json` the worker lives; a status without code and signal was seen by nobody."""
    if status is None:
        return Exit(known=True)
    seen = _exit(status.model_dump())
    return replace(seen, known=not seen.alive)


def _missing(run: RunFolder) -> str | None:
    """What the result lacks, without reading the files' content; None where all is there."""
    result = run.read(run.result, Result)
    if result is None:
        return "its result.json is damaged" if run.result.exists() else "it left no result.json"
    if not result.verification.max_difference <= result.verification.tolerance:
        return "the saved model, loaded again, gives other logits"
    for file in result.files:
        path = run.path / file.path
        if not path.is_file() or path.stat().st_size != file.size_bytes:
            return f"{file.path} is not there, or has another size than its result.json says"
    return None


def _last_problem(run: RunFolder) -> Problem | None:
    """The last problem on record, unless the run went on after it."""
    problem = None
    for _, event in run.read_events():
        if isinstance(event, Problem):
            problem = event
        elif isinstance(event, Metric):
            problem = None
    return problem


def _run_beats(run: RunFolder, ended: float) -> Iterable[Beat]:
    for path in sorted((run.path / "heartbeats").glob("rank*.json")):
        beat = run.read(path, Heartbeat)
        if beat is not None:
            yield Beat(beat.rank, beat.phase, beat.step, max(0.0, ended - beat.time))


def _files_of_run(run: RunFolder) -> dict[str, int]:
    folders = (run.model, run.checkpoints)
    return {
        str(path.relative_to(run.path)): path.stat().st_size
        for folder in folders
        for path in sorted(folder.rglob("*"))[:1000]
        if path.is_file()
    }


def _plan_of_run(run: RunFolder) -> Plan:
    """What the plan fixed, read leniently: a diagnosis must also work on a damaged run."""
    plan, recipe = _json(run.plan), _json(run.recipe)
    training = plan.get("training", {}) if isinstance(plan, dict) else {}
    recipe = recipe if isinstance(recipe, dict) else {}
    data = recipe.get("data")
    return Plan(
        run_id=run.id,
        micro_batch=training.get("micro_batch"),
        accumulation=training.get("accumulation"),
        max_length=training.get("max_length"),
        learning_rate=training.get("learning_rate"),
        model=recipe.get("model"),
        data=data.get("train") if isinstance(data, dict) else None,
        output=str(run.path),
    )


_NAMED_LINES = 2000  # a program says at its beginning what it works on
_MODEL = (
    r"(?:tokenizer|model) from (\S+)|[\"']model(?:_name_or_path)?[\"']: [\"']([^\"']+)|"
    r"--model\S* (\S+)"
    r"|\bbase:? (\S+)|model (\S+/\S+), |fetching (\S+/\S+)"
)
_DATA = r"[\"']data(?:set)?[\"']: [\"']([^\"']+)|--data\S* (\S+)"
_OUTPUT = r"[\"']output(?:_dir)?[\"']: [\"']([^\"']+)|--output\S* (\S+)|saving to (\S+)"


def _plan_from_log(lines: list[LogLine]) -> Plan:
    """The model, data and output that a log names, the first of each."""
    named: dict[str, str] = {}
    for line in lines[:_NAMED_LINES]:
        for what, pattern in (("model", _MODEL), ("data", _DATA), ("output", _OUTPUT)):
            match = None if what in named else re.search(pattern, line.text)
            if match:
                named[what] = next(group for group in match.groups() if group).rstrip(",.;")
    return Plan(model=named.get("model"), data=named.get("data"), output=named.get("output"))


def _exit(record: Any) -> Exit:
    if not isinstance(record, dict) or not record:
        return Exit()
    code, died_by = normal_exit(record.get("code"), record.get("signal"))
    kills = record.get("oom_kill")
    word = record.get("scheduler")
    return Exit(
        code,
        died_by,
        int(kills) if isinstance(kills, int | float) else None,
        str(word) if word else None,
        known=True,
    )


def _beats(record: Any) -> tuple[Beat, ...]:
    entries = record if isinstance(record, list) else []
    return tuple(
        Beat(
            int(entry.get("rank") or 0),
            str(entry.get("phase") or ""),
            int(entry.get("step") or 0),
            _float(entry.get("seconds_ago")) or 0.0,
        )
        for entry in entries
        if isinstance(entry, dict)
    )


def _files(record: Any) -> dict[str, int] | None:
    if not isinstance(record, dict):
        return None
    return {str(path): int(size) for path, size in record.items() if isinstance(size, int | float)}


def _float(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _json(path: Path) -> Any:
    """The content of a JSON file, None where it is absent, huge or broken."""
    try:
        with path.open("rb") as handle:
            return json.loads(handle.read(_LARGEST_JSON))
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    except OSError as error:
        raise disk_error(f"cannot read {path}", error, path) from error
