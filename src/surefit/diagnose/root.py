"""Tell the failure that came first from its victims, over all ranks.

When one process dies, the others fail too: they lose their peer, wait in vain, or are stopped by
the launcher. Their errors are printed as loudly as the cause, and often earlier. So: an exception
of its own beats a death by signal that the launcher saw first, that beats a wait that timed out,
and that beats a lost peer. Among equals the error files' times decide, then the launcher's word,
then order.
"""

import re

from surefit.diagnose.evidence import Evidence, Failure, RankExit, Root

LAUNCHER_VIEW = re.compile(
    r"ChildFailedError|CalledProcessError|SignalException|returned non-zero exit status"
    r"|Child process failed|Job has been cancelled"
)
INTERRUPTED = re.compile(r"^(KeyboardInterrupt|SystemExit)\b")
PEER_LOST = re.compile(
    r"Connection (?:closed|reset) by (?:remote )?peer|ncclRemoteError|NCCL communicator was aborted"
    r"|remote process exited or there was a network error|Broken pipe|ActorDiedError|"
    r"WorkerCrashedError"
    r"|A worker health check failed|Worker exit type: SYSTEM_ERROR|failed to recv, got 0 bytes"
    r"|recvValue failed|Process group has been aborted|Socket is closed|remote worker crashing"
    r"|ncclCommAbort"
)
WAITED = re.compile(
    r"Watchdog caught collective operation timeout|Timed out waiting \d+ ?ms for (?:recv|send)"
    r"|[Mm]onitoredBarrier|monitored_barrier|Timeout waiting for key|wait timeout after \d+ ?ms"
    r"|Timed out after \d+ ?(?:ms|seconds?) waiting for(?! clients)|watchdog got stuck"
    r"|Collective (?:operation )?timeout|Rank \d+ (?:successfully )?(?:reached|failed to pass) "
    r"monitoredBarrier"
)
STOPPED = re.compile(r"killed by signal: (?:Terminated|Interrupt)|received signal (?:15|SIGTERM)")
# The same words about a server are no matter of other ranks.
_OTHER_NETWORK = (
    r"httpx|httpcore|requests/|urllib3|huggingface_hub|http/client|aiohttp|wandb|mlflow"
)
NATIVE_DEATHS = frozenset({4, 7, 8, 9, 11})


def find_root(evidence: Evidence) -> Root:
    """The first failure among everything that failed. Guesses nothing: all its parts may be empty."""
    own = [f for f in evidence.failures if not f.handled and not is_echo(f)]
    real = [f for f in own if not is_victim(f)]
    first = next((e for e in evidence.rank_exits if e.first), None)
    died = _native_death(evidence, first)
    if died is not None and not any(f.rank == died.rank for f in real):
        firm = [f for f in real if not f.loose]
        if not firm or died.first:
            return Root(died.rank, None, died.signal, died.line)
    if real:
        chosen = _earliest(real, first)
        return Root(_rank_of(chosen, evidence, first), chosen, evidence.exit.signal, None)
    if first is not None and first.rank is not None:
        return Root(first.rank, None, first.signal, first.line)
    waiting = [f for f in own if WAITED.search(f.text)]
    if waiting:
        return Root(None, waiting[0], None, None)
    if own:
        return Root(None, own[0], None, None)
    return Root(None, None, evidence.exit.signal, None)


def is_echo(failure: Failure) -> bool:
    """Whether it only says that another process failed, or that this one was told to stop."""
    text = failure.last.text
    return any(kind.search(text) for kind in (LAUNCHER_VIEW, INTERRUPTED, STOPPED))


def is_victim(failure: Failure) -> bool:
    """Whether it only says that another rank went away or did not come."""
    text = failure.last.text
    if "ncclSystemError" in text or "ncclUnhandledCudaError" in text:
        return False
    if WAITED.search(text):
        return True
    return bool(PEER_LOST.search(text)) and not failure.mentions(_OTHER_NETWORK)


def _native_death(evidence: Evidence, first: RankExit | None) -> RankExit | None:
    if first is not None and first.signal in NATIVE_DEATHS:
        return first
    crash = evidence.find(
        r"^Fatal Python error: (Segmentation fault|Bus error|Illegal instruction)"
    )
    if crash is not None:
        number = 11 if "Segm" in crash.text else 7 if "Bus" in crash.text else 4
        return RankExit(crash.rank, None, number, True, crash)
    return None


def _earliest(failures: list[Failure], first: RankExit | None) -> Failure:
    firm = [f for f in failures if not f.loose] or failures
    latest: dict[int | None, Failure] = {}
    for failure in firm:  # of one process the last uncaught exception counts
        held = latest.get(failure.rank)
        if held is None or failure.time is not None or held.time is None:
            latest[failure.rank] = failure
    named = latest.get(first.rank) if first is not None else None
    timed = [f for f in latest.values() if f.time is not None]
    if timed and len(timed) == len([f for f in latest.values() if f.rank is not None]):
        earliest = min(f.time or 0 for f in timed)
        at_once = [f for f in timed if f.time == earliest]
        return named if named in at_once and named is not None else at_once[0]
    if named is not None:
        return named
    ranked = [f for f in latest.values() if f.rank is not None]
    return min(ranked, key=lambda f: f.position) if ranked else latest[None]


def _rank_of(failure: Failure, evidence: Evidence, first: RankExit | None) -> int | None:
    """The rank of a failure; the launcher's word where the lines carry none."""
    if failure.rank is not None:
        return failure.rank
    return first.rank if first is not None and len(evidence.rank_exits) > 0 else None
