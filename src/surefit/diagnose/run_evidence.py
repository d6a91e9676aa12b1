"""The evidence in a run folder of surefit: events, exit status, heartbeats, log, plan."""

import time
from collections.abc import Iterable
from dataclasses import replace

from surefit.diagnose.assembly import build
from surefit.diagnose.evidence import Beat, Evidence, Exit, Plan, RankExit
from surefit.diagnose.foreign_folder import MOST_LOGS, RANK_FILE
from surefit.diagnose.logs import read_log
from surefit.diagnose.records import as_exit, as_float, as_int, as_text, read_json
from surefit.runs.event import Metric, Problem
from surefit.runs.folder import RunFolder
from surefit.runs.result import ExitStatus, Heartbeat, Result


def read_run(run: RunFolder, missing: str | None = None) -> Evidence:
    """Everything that a run of surefit left behind; `missing` as in `gather_evidence`."""
    main = read_log(run.log, "log/worker.log") if run.log.is_file() else []
    ranks = [
        read_log(path, f"log/{path.name}", rank=int(match[1]))
        for path in sorted(run.log.parent.glob("rank*.log"))[:MOST_LOGS]
        if (match := RANK_FILE.match(path.name))
    ]
    status = run.read(run.exit, ExitStatus)
    ended = status.time if status is not None and status.time else time.time()
    missing = missing or _missing(run)
    return build(
        main,
        ranks,
        exit=_exit_of_run(status),
        heartbeats=tuple(_last_beats(run, ended)),
        rank_exits=tuple(_rank_exits(run)),
        problem=_last_problem(run),
        plan=_plan_of_run(run),
        stop_requested=run.stop_request.is_file(),
        verified=missing is None,
        missing=missing,
        files=_files_of_run(run) if status is not None else None,
    )


def _rank_exits(run: RunFolder) -> Iterable[RankExit]:
    """How each rank ended, as their parent saw it; those that it ended itself are left out."""
    record = read_json(run.path / "ranks.json")
    for one in record if isinstance(record, list) else []:
        if isinstance(one, dict) and not one.get("ended_by_parent"):
            code, died_by = as_int(one.get("code")), as_int(one.get("signal"))
            if code or died_by:
                yield RankExit(as_int(one.get("rank")), code, died_by, bool(one.get("first")))


def _exit_of_run(status: ExitStatus | None) -> Exit:
    """Without `exit.json` the worker lives; a status without code and signal was seen by nobody."""
    if status is None:
        return Exit(known=True)
    seen = as_exit(status.model_dump())
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


def _last_beats(run: RunFolder, ended: float) -> Iterable[Beat]:
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
    plan, recipe = read_json(run.plan), read_json(run.recipe)
    training = plan.get("training") if isinstance(plan, dict) else None
    training = training if isinstance(training, dict) else {}
    recipe = recipe if isinstance(recipe, dict) else {}
    data = recipe.get("data")
    return Plan(
        run_id=run.id,
        micro_batch=as_int(training.get("micro_batch")),
        accumulation=as_int(training.get("accumulation")),
        max_length=as_int(training.get("max_length")),
        learning_rate=as_float(training.get("learning_rate")),
        model=as_text(recipe.get("model")),
        data=as_text(data.get("train")) if isinstance(data, dict) else None,
        output=str(run.path),
    )
