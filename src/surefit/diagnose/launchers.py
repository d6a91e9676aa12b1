"""How launchers say that one of their processes ended: torchrun, accelerate, DeepSpeed, srun."""

import re
import signal as signals
from collections.abc import Iterable
from dataclasses import replace

from surefit.diagnose.evidence import LogLine, RankExit, normal_exit

_RANK = re.compile(r"^\s+rank\s+: (?P<rank>\d+)")
_EXITCODE = re.compile(r"^\s+exitcode\s+: (?P<code>-?\d+)")
_SHORT = re.compile(r"failed \(exitcode: (?P<code>-?\d+)\) local_rank: (?P<rank>\d+)")
_PARENTS = (
    re.compile(r"\bdied with <Signals\.(?P<name>SIG\w+): \d+>"),
    re.compile(r"returned non-zero exit status (?P<code>\d+)"),
    re.compile(r"exits with return code = (?P<code>-?\d+)"),
    re.compile(r"task (?P<rank>\d+): Exited with exit code (?P<code>\d+)"),
    re.compile(r"tasks? (?P<rank>\d+)[^:]*: (?P<word>Killed|Segmentation fault|Bus error|Aborted)"),
    re.compile(r"line \d+:\s+\d+ (?P<word>Killed|Segmentation fault|Bus error|Aborted)\b"),
    re.compile(r"^(?P<word>Killed|Segmentation fault|Bus error|Aborted)(?: \(core dumped\))?$"),
)
_WORDS = {"Killed": 9, "Segmentation fault": 11, "Bus error": 7, "Aborted": 6}


def find_rank_exits(lines: Iterable[LogLine]) -> list[RankExit]:
    """The ends of processes as their launchers told them, the launcher's root cause marked."""
    table, short, parents = [], [], []
    rank: int | None = None
    in_root = False
    for line in lines:
        text = line.text
        if "Root Cause" in text:
            in_root = True
        elif match := _RANK.match(text):
            rank = int(match["rank"])
        elif match := _EXITCODE.match(text):
            code, died_by = normal_exit(match["code"], None)
            table.append(RankExit(rank, code, died_by, in_root, line))
        elif match := _SHORT.search(text):
            code, died_by = normal_exit(match["code"], None)
            short.append(RankExit(int(match["rank"]), code, died_by, True, line))
        elif (exit_ := _parent(line)) is not None:
            parents.append(exit_)
    return table or short or parents


def _parent(line: LogLine) -> RankExit | None:
    for pattern in _PARENTS:
        match = pattern.search(line.text)
        if match is None:
            continue
        found = match.groupdict()
        rank = int(found["rank"]) if found.get("rank") else line.rank
        if found.get("word"):
            return RankExit(rank, None, _WORDS[found["word"]], True, line)
        if found.get("name"):
            number = getattr(signals, found["name"], None)
            return RankExit(rank, None, int(number) if number else None, True, line)
        code, died_by = normal_exit(found.get("code"), None)
        return replace(RankExit(rank, code, died_by, True), line=line)
    return None
