"""SF701 COLLECTIVE_TIMEOUT."""

import re
from collections.abc import Iterable

from surefit.diagnose.diagnosis import Diagnosis
from surefit.diagnose.evidence import Beat, Evidence, LogLine
from surefit.diagnose.root import WAITED
from surefit.diagnose.signatures.signature import Signature

_WORK = re.compile(
    r"\[?Rank (?P<rank>\d+)\]?.{0,40}Watchdog caught collective operation timeout: "
    r"WorkNCCL\(SeqNum=(?P<number>\d+), OpType=(?P<operation>\w+).*?Timeout\(ms\)=(?P<limit>\d+)"
)
_GLOO = re.compile(r"Timed out waiting (?P<limit>\d+) ?ms for (?P<operation>\w+)")
_ABSENT = re.compile(
    r"[Rr]anks? (?P<ranks>[\d, ]+) (?:failed to pass monitoredBarrier|(?:is|are) missing|did "
    r"not (?:join|arrive|reach))"
)


class CollectiveTimeout(Signature):
    """A rank did not arrive at a collective operation, and the others gave up waiting.

    ## What happened
    All ranks have to reach each all-reduce together. One did not, within the limit (10 minutes for
    NCCL). The ranks that waited report it and end; launchers then blame the first of them. The one
    to look at is the one that is silent.

    ## Why
    That rank was doing something else: a long save or upload, an evaluation of its own, a longer
    share of the data, a slow disk; or it hangs or died.

    ## Example
        [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=18211,
        OpType=ALLREDUCE, ...

    ## What to do
    See what the named rank was doing at that time, and move it out of the training's processes.
    Raise the limit only when that work is needed there.
    """

    code = "SF701"
    failure_class = "COLLECTIVE_TIMEOUT"
    title = "A rank did not arrive"

    def match(self, evidence: Evidence) -> Diagnosis | None:
        """A wait that timed out, and no error that explains it."""
        failure = evidence.root.failure
        if evidence.verified or (evidence.exit.code == 0 and evidence.exit.signal is None):
            return None
        if failure is not None and not WAITED.search(failure.text):
            return None
        lines = list(failure.last.lines[:3]) if failure is not None else []
        lines += [line for line in evidence.lines if WAITED.search(line.text)][:4]
        if not lines:
            return None
        waiting = _waiting_ranks(evidence, lines)
        absent = find_absent(evidence, waiting)
        beat = evidence.beat(absent) if absent is not None else None
        doing = _last_words(evidence, absent)
        who = f"rank {absent}" if absent is not None else "a rank"
        state = (
            f" (phase {beat.phase}, step {beat.step}, last sign of life {beat.seconds_ago:.0f} "
            f"s before)"
            if beat
            else ""
        )
        told = f"; its last line: {doing.text.strip()}" if doing else ""
        waited = f"; {_names(waiting)} waited" if waiting else ""
        return self.answer(
            evidence,
            what=f"{who} did not arrive at a collective operation{state}",
            why=f"{_wait_text(lines)}{waited}{told}",
            next_step=f"look at what {who} was doing then (a long save or upload, an uneven "
            f"share of the data, "
            "a hang) and move it out of the training's processes; raise the limit only when "
            "that work must "
            "stay; then go on from the last checkpoint",
            lines=[*lines[:4], *([doing] if doing else [])],
            rank=absent,
        )


def find_absent(evidence: Evidence, waiting: set[int]) -> int | None:
    """The rank that did not arrive: named, silent, or behind the others."""
    for line in evidence.lines:
        named = _ABSENT.search(line.text)
        if named and len(re.findall(r"\d+", named["ranks"])) == 1:
            return int(re.findall(r"\d+", named["ranks"])[0])
    silent = [beat for beat in evidence.heartbeats if beat.rank not in waiting]
    if silent:
        return behind(silent)
    known = {line.rank for line in evidence.lines if line.rank is not None}
    known |= {exit_.rank for exit_ in evidence.rank_exits if exit_.rank is not None}
    others = sorted(known - waiting)
    if len(others) == 1:
        return others[0]
    numbers = {
        int(m["rank"]): int(m["number"])
        for line in evidence.lines
        if (m := _WORK.search(line.text))
    }
    lowest = [rank for rank, number in numbers.items() if number == min(numbers.values())]
    if len(numbers) > 1 and len(lowest) == 1:
        return lowest[0]
    return behind(evidence.heartbeats) if len(evidence.heartbeats) > 1 else None


def behind(beats: Iterable[Beat]) -> int | None:
    """The rank at the lowest step; among equals the one silent for longest."""
    ordered = sorted(beats, key=lambda beat: (beat.step, -beat.seconds_ago))
    return ordered[0].rank if ordered else None


def _waiting_ranks(evidence: Evidence, lines: list[LogLine]) -> set[int]:
    waited = {
        line.rank for line in evidence.lines if line.rank is not None and WAITED.search(line.text)
    }
    waited |= {f.rank for f in evidence.failures if f.rank is not None and WAITED.search(f.text)}
    return {rank for rank in waited | {line.rank for line in lines} if rank is not None}


def _last_words(evidence: Evidence, rank: int | None) -> LogLine | None:
    said = [line for line in evidence.lines if rank is not None and line.rank == rank]
    return said[-1] if said else None


def _wait_text(lines: list[LogLine]) -> str:
    for line in lines:
        work = _WORK.search(line.text)
        if work:
            return (
                f"the others waited {int(work['limit']) // 1000} s ({work['limit']} ms) for "
                f"{work['operation']} number {work['number']}"
            )
        gloo = _GLOO.search(line.text)
        if gloo:
            return f"the others waited {gloo['limit']}ms for a {gloo['operation']} operation"
    return lines[0].text.strip()


def _names(ranks: set[int]) -> str:
    listed = sorted(ranks)
    return ("rank " if len(listed) == 1 else "ranks ") + ", ".join(str(rank) for rank in listed)
