"""The evidence in anybody's folder.

It may hold `log.txt` (or any `*.log`, `*.out`, `*.err`, `*.txt`), `rank<N>.log`, `error_rank<N>.json`,
`heartbeats.json`, `exit.json` and `files.json`; all of them are optional.
"""

import re
from dataclasses import replace
from pathlib import Path

from surefit.diagnose.assembly import build
from surefit.diagnose.evidence import Evidence, Failure, LogLine, Raised
from surefit.diagnose.logs import read_log
from surefit.diagnose.records import as_beats, as_exit, as_float, as_sizes, read_json
from surefit.diagnose.tracebacks import parse_traceback

RANK_FILE = re.compile(r"(?:error_)?rank[_-]?(\d+)\.(?:log|json|out|err|txt)$")
MOST_LOGS = 64
_LOG_SUFFIXES = (".log", ".out", ".err", ".txt")


def read_folder(folder: Path) -> Evidence:
    """Everything in a folder that speaks of a run."""
    main: list[LogLine] = []
    ranks: list[list[LogLine]] = []
    for path in sorted(folder.iterdir())[: 4 * MOST_LOGS]:
        if path.suffix not in _LOG_SUFFIXES or not path.is_file() or len(ranks) > MOST_LOGS:
            continue
        match = RANK_FILE.match(path.name)
        if match:
            ranks.append(read_log(path, rank=int(match[1])))
        else:
            offset = len(main)
            main += [replace(line, position=line.position + offset) for line in read_log(path)]
    ranks += [
        read_log(path, path.relative_to(folder).as_posix(), int(path.parent.name))
        for path in _torchrun_logs(folder)
    ]
    return build(
        main,
        ranks,
        _error_files(folder),
        exit=as_exit(read_json(folder / "exit.json")),
        heartbeats=as_beats(read_json(folder / "heartbeats.json")),
        files=as_sizes(read_json(folder / "files.json")),
    )


def _torchrun_logs(folder: Path) -> list[Path]:
    """What `torchrun --log-dir --redirects 3` wrote: `<run>/attempt_<n>/<rank>/std*.log`."""
    attempts = sorted(folder.glob("**/attempt_[0-9]*"), key=lambda path: path.stat().st_mtime)
    found = attempts[-1].glob("[0-9]*/std*.log") if attempts else ()
    return sorted(found)[: 2 * MOST_LOGS]


def _error_files(folder: Path) -> list[Failure]:
    """What torchelastic's `record` wrote: one file a rank, only for exceptions of Python."""
    found = []
    attempt = [path.parent / "error.json" for path in _torchrun_logs(folder)]
    for path in [*sorted(folder.glob("error*rank*.json")), *dict.fromkeys(attempt)]:
        named = RANK_FILE.search(path.name) or re.search(r"/(\d+)/error\.json$", path.as_posix())
        record = read_json(path)
        inner = record.get("message") if isinstance(record, dict) else None
        extra = inner.get("extraInfo", {}) if isinstance(inner, dict) else {}
        text = str(inner.get("message", "") if isinstance(inner, dict) else inner or "")
        if not text:
            continue
        rank = int(named[1]) if named else None
        kind, _, message = text.partition(":")
        line = LogLine(path.name, 1, text, rank)
        failure = Failure((Raised(kind.strip(), message.strip(), (), (line,)),), rank)
        whole = parse_traceback(str(extra.get("py_callstack", "")), path.name, rank)
        found.append(replace(whole or failure, time=as_float(extra.get("timestamp"))))
    return found
