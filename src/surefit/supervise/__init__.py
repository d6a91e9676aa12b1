"""The life of a run: check and plan, start, watch, stop, and say from evidence what it does.

preflight   a recipe to verdict and numbers; nothing is started
start       a whole run folder, and a supervisor that outlives the terminal
observe     the state of a run from evidence; finds runs whose supervisor was lost
list_runs   the same for all runs, from the index where they have ended
follow      events and views as they come
request_stop  end a run with everything it has started
resume      go on with an interrupted run from its newest good checkpoint

Names are loaded when they are first used: a plan needs none of the processes' code.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from surefit.supervise.following import Moment, follow, wait_for_end
    from surefit.supervise.listing import list_runs
    from surefit.supervise.observing import observe
    from surefit.supervise.readiness import Preflight, preflight
    from surefit.supervise.resuming import Resumption, newest_interrupted, resume
    from surefit.supervise.starting import start
    from surefit.supervise.stopping import request_stop
    from surefit.supervise.view import RunView

_PLACES = {
    "Moment": "following",
    "Preflight": "readiness",
    "RunView": "view",
    "follow": "following",
    "list_runs": "listing",
    "newest_interrupted": "resuming",
    "observe": "observing",
    "preflight": "readiness",
    "request_stop": "stopping",
    "resume": "resuming",
    "Resumption": "resuming",
    "start": "starting",
    "wait_for_end": "following",
}

__all__ = [
    "Moment",
    "Preflight",
    "Resumption",
    "RunView",
    "follow",
    "list_runs",
    "newest_interrupted",
    "observe",
    "preflight",
    "request_stop",
    "resume",
    "start",
    "wait_for_end",
]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_PLACES[name]}"), name)
    globals()[name] = value
    return value
