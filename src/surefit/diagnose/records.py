"""Records that lie beside a log, read leniently: a diagnosis must also work on what is damaged."""

import json
from pathlib import Path
from typing import Any

from surefit.diagnose.evidence import Beat, Exit, normal_exit
from surefit.home import disk_error, refuse_irregular

_LARGEST_JSON = 4 * 1024 * 1024


def read_json(path: Path) -> Any:
    """The content of a JSON file, None where it is absent, huge or broken."""
    try:
        refuse_irregular(path)
        with path.open("rb") as handle:
            return json.loads(handle.read(_LARGEST_JSON))
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    except OSError as error:
        raise disk_error(f"cannot read {path}", error, path) from error


def as_exit(record: Any) -> Exit:
    """An exit status in one form; not known where the record says nothing."""
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


def as_beats(record: Any) -> tuple[Beat, ...]:
    """Heartbeats as `[{"rank", "phase", "step", "seconds_ago"}]`."""
    entries = record if isinstance(record, list) else []
    return tuple(
        Beat(
            int(entry.get("rank") or 0),
            str(entry.get("phase") or ""),
            int(entry.get("step") or 0),
            as_float(entry.get("seconds_ago")) or 0.0,
        )
        for entry in entries
        if isinstance(entry, dict)
    )


def as_sizes(record: Any) -> dict[str, int] | None:
    """Files as `{path: bytes}`; None where nobody looked."""
    if not isinstance(record, dict):
        return None
    return {str(path): int(size) for path, size in record.items() if isinstance(size, int | float)}


def as_float(value: Any) -> float | None:
    """A number, None where it is none."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def as_int(value: Any) -> int | None:
    """A whole number, None where it is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def as_text(value: Any) -> str | None:
    """A text, or a list of texts put together; None where it is neither."""
    if isinstance(value, list):
        return ", ".join(str(one) for one in value) or None
    return value if isinstance(value, str) else None
