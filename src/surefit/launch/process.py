"""Processes of this machine, told apart by pid, start time and boot: a number alone may be reused."""

import os
import re
import select
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_PROC = Path("/proc")


@dataclass(frozen=True)
class ProcessIdentity:
    """One process and no other. `start_time` is in clock ticks since the start of the machine."""

    pid: int
    start_time: int
    boot: str

    def is_alive(self) -> bool:
        """Whether exactly this process runs. One that has ended and waits to be noticed does not."""
        found = process_line(self.pid)
        if found is None or found.start_time != self.start_time or self.boot != boot_id():
            return False
        return not found.is_zombie or not _has_ended(self.pid)


def _has_ended(pid: int) -> bool:
    """Whether a zombie is one as a whole: its first thread may have ended while others still do.

    A pidfd becomes readable when the last thread has ended (pidfd_open(2)).
    """
    try:
        handle = os.pidfd_open(pid)
    except OSError:
        return True
    try:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        return bool(poll.poll(0))
    finally:
        os.close(handle)


@dataclass(frozen=True)
class ProcessLine:
    """What `/proc/<pid>/stat` tells (proc(5))."""

    pid: int
    state: str
    parent: int
    group: int
    session: int
    start_time: int

    @property
    def is_zombie(self) -> bool:
        """Whether it has ended and only waits to be noticed."""
        return self.state in "ZX"


def identify(pid: int) -> ProcessIdentity | None:
    """The identity of a process that runs now, or None."""
    found = process_line(pid)
    return None if found is None else ProcessIdentity(pid, found.start_time, boot_id())


@cache
def boot_id() -> str:
    """A name for this start of the machine; empty where the system has none."""
    try:
        return (_PROC / "sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def process_line(pid: int) -> ProcessLine | None:
    """The stat line of a process, or None when there is none of that number."""
    try:
        text = (_PROC / str(pid) / "stat").read_text()
    except OSError:
        return None
    # The name in brackets may hold spaces and brackets: the fields begin behind the last one.
    fields = text[text.rindex(")") + 2 :].split()
    return ProcessLine(
        pid=pid,
        state=fields[0],
        parent=int(fields[1]),
        group=int(fields[2]),
        session=int(fields[3]),
        start_time=int(fields[19]),
    )


def all_processes() -> Iterator[ProcessLine]:
    """Every process that can be seen."""
    for entry in _PROC.iterdir():
        if entry.name.isdigit():
            found = process_line(int(entry.name))
            if found is not None:
                yield found


def environment_of(pid: int) -> dict[str, str]:
    """The environment a process was started with; empty where it may not be read."""
    try:
        content = (_PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return {}
    pairs = (part.partition(b"=") for part in content.split(b"\0") if b"=" in part)
    return {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}


def catches(pid: int, number: int) -> bool:
    """Whether a process has a handler of its own for a signal (proc(5), SigCgt)."""
    try:
        status = (_PROC / str(pid) / "status").read_text()
    except OSError:
        return False
    found = re.search(r"^SigCgt:\s*([0-9a-f]+)$", status, re.MULTILINE)
    return bool(found and int(found[1], 16) >> (number - 1) & 1)
