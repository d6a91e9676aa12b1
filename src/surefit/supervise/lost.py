"""Contact lost: neither supervisor nor worker lives, and the events say that the run goes on."""

import time
from datetime import datetime

from surefit.launch.process import boot_id
from surefit.runs import Heartbeat, RunFolder
from surefit.supervise.records import SupervisorRecord
from surefit.units import seconds_text


def lost_words(run: RunFolder) -> str:
    """Why a run counts as lost: every piece of evidence there is, in one line."""
    record = run.read(run.supervisor, SupervisorRecord)
    if record is None:
        return (
            "the program that started it ended before a supervisor could begin; nothing was trained"
        )
    parts = [_gone(record)]
    if record.boot != boot_id():
        parts.append("the machine was started again since")
    beat = last_heartbeat(run)
    if beat is not None:
        when = datetime.fromtimestamp(beat.time).astimezone().strftime("%Y-%m-%d %H:%M:%S")
        ago = seconds_text(max(0.0, time.time() - beat.time))
        parts.append(
            f"the last sign of life was at {when} ({ago} ago) in phase {beat.phase}, step {beat.step}"
        )
    return "; ".join(parts)


def _gone(record: SupervisorRecord) -> str:
    supervisor = f"the supervisor (process {record.pid})"
    if record.worker_pid is None:
        return f"{supervisor} is gone, and it had not started a worker"
    return f"neither {supervisor} nor the worker (process {record.worker_pid}) lives"


def last_heartbeat(run: RunFolder) -> Heartbeat | None:
    """The newest heartbeat of all ranks."""
    beats = [run.read(path, Heartbeat) for path in (run.path / "heartbeats").glob("rank*.json")]
    return max((beat for beat in beats if beat), key=lambda beat: beat.time, default=None)
