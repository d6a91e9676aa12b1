"""The time a run has used: the seconds in which it had a worker, over all its workers."""

from collections.abc import Iterable

from surefit.runs import AnyEvent, RunFolder, RunState, Status

_WORKING = frozenset({RunState.REHEARSING, RunState.TRAINING, RunState.VERIFYING})


def worker_spans(events: Iterable[AnyEvent]) -> list[tuple[float, float | None]]:
    """(start, end) of each worker, in seconds since 1970; the end is None while it works."""
    spans: list[tuple[float, float | None]] = []
    since: float | None = None
    for event in events:
        if not isinstance(event, Status):
            continue
        if event.state in _WORKING:
            since = event.time if since is None else since
        elif since is not None:
            spans.append((since, event.time))
            since = None
    return spans if since is None else [*spans, (since, None)]


def spent_before(run: RunFolder) -> float:
    """Seconds that the ended workers of a run have used. The one that works now is not counted."""
    spans = worker_spans(event for _, event in run.read_events())
    return sum(end - start for start, end in spans if end is not None)
