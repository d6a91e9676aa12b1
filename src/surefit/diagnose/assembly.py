"""Put evidence together from clean lines and what else is known."""

import re
from collections.abc import Iterable
from typing import Any

from surefit.diagnose.evidence import Evidence, Failure, LogLine, Plan
from surefit.diagnose.launchers import find_rank_exits
from surefit.diagnose.metrics import Stream, find_metrics, last_work
from surefit.diagnose.tracebacks import find_failures, mark_handled

_NAMED_LINES = 2000  # a program says at its beginning what it works on
_MODEL = (
    r"(?:tokenizer|model) from (\S+)|[\"']model(?:_name_or_path)?[\"']: [\"']([^\"']+)|"
    r"--model\S* (\S+)"
    r"|\bbase:? (\S+)|model (\S+/\S+), |fetching (\S+/\S+)"
)
_DATA = r"[\"']data(?:set)?[\"']: [\"']([^\"']+)|--data\S* (\S+)"
_OUTPUT = r"[\"']output(?:_dir)?[\"']: [\"']([^\"']+)|--output\S* (\S+)|saving to (\S+)"


def build(
    main: list[LogLine],
    ranks: Iterable[list[LogLine]] = (),
    error_files: Iterable[Failure] = (),
    **known: Any,
) -> Evidence:
    """Put evidence together.

    Args:
        main: the combined log.
        ranks: the logs of single ranks.
        error_files: exceptions that were told outside of the logs.
        known: the other fields of `Evidence`.
    """
    ranks = list(ranks)
    metrics = find_metrics(main)
    work = last_work(main, metrics)
    failures = list(mark_handled(find_failures(main), work))
    for lines in ranks:
        own = find_metrics(lines)
        own_work = last_work(lines, own)
        failures += mark_handled(find_failures(lines), own_work)
        metrics, work = metrics or own, {**own_work, **work}
    failures += error_files
    plan = known.pop("plan", None) or _plan_from_log(main)
    return Evidence(
        lines=tuple(main) + tuple(line for lines in ranks for line in lines),
        failures=tuple(failures),
        rank_exits=known.pop("rank_exits", None) or tuple(find_rank_exits(main)),
        metrics=tuple(metrics),
        activity=_by_file(work),
        plan=plan,
        **known,
    )


def _by_file(work: dict[Stream, int]) -> dict[str, int]:
    """The last sign of work in each file, of any rank."""
    last: dict[str, int] = {}
    for (file, _), position in work.items():
        last[file] = max(last.get(file, -1), position)
    return last


def _plan_from_log(lines: list[LogLine]) -> Plan:
    """The model, data and output that a log names, the first of each."""
    named: dict[str, str] = {}
    for line in lines[:_NAMED_LINES]:
        for what, pattern in (("model", _MODEL), ("data", _DATA), ("output", _OUTPUT)):
            match = None if what in named else re.search(pattern, line.text)
            if match:
                named[what] = next(group for group in match.groups() if group).rstrip(",.;")
    return Plan(model=named.get("model"), data=named.get("data"), output=named.get("output"))
