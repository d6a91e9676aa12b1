"""The worker's own memory cgroup, where one may be made: a kernel's kill is then proven, not guessed.

The kernel counts in `memory.events` (cgroup v2) or `memory.oom_control` (v1), field `oom_kill`, how many
processes of the group it has killed for memory (Documentation/admin-guide/cgroup-v2.rst).
"""

import contextlib
import os
import re
from dataclasses import dataclass
from pathlib import Path

_ROOT = Path("/sys/fs/cgroup")
_TAKEN_FIRST = "500"  # of at most 1000; what a process may only raise for itself and its children
_MEMBERSHIP = re.compile(r"^(\d+):([^:]*):(.*)$")


@dataclass(frozen=True)
class MemoryGroup:
    """A memory cgroup. `own`: made for one worker, so every kill counted in it was the worker's."""

    path: Path
    own: bool

    def kills(self) -> int | None:
        """How many processes of the group the kernel has killed for memory; None: it does not say."""
        for name in ("memory.events", "memory.oom_control"):
            with contextlib.suppress(OSError):
                found = re.search(r"^oom_kill (\d+)$", (self.path / name).read_text(), re.MULTILINE)
                if found:
                    return int(found.group(1))
        return None

    def adopt(self, pid: int) -> bool:
        """Move a process in; what it starts from then on is in too."""
        try:
            (self.path / "cgroup.procs").write_text(str(pid))
        except OSError:
            return False
        return True

    def members(self) -> list[int]:
        """Process ids in the group; empty for a group that is not the worker's own."""
        if not self.own:
            return []
        try:
            return [int(line) for line in (self.path / "cgroup.procs").read_text().split()]
        except OSError:
            return []

    def used_bytes(self) -> int:
        """What the group holds now; 0 where it does not say."""
        for name in ("memory.current", "memory.usage_in_bytes"):
            with contextlib.suppress(OSError, ValueError):
                return int((self.path / name).read_text())
        return 0

    def limit_to(self, most_bytes: int) -> bool:
        """Let the kernel end a process of the group before it holds more; False: not allowed."""
        for name in ("memory.max", "memory.limit_in_bytes"):
            with contextlib.suppress(OSError):
                if (self.path / name).exists():
                    (self.path / name).write_text(str(most_bytes))
                    return True
        return False

    def remove(self) -> None:
        """Remove the worker's own group; does nothing while something lives in it."""
        if self.own:
            with contextlib.suppress(OSError):
                self.path.rmdir()


def make_group(name: str, root: Path = _ROOT) -> MemoryGroup | None:
    """A group for one worker: below our own, or below the nearest ancestor that allows it.

    With cgroup v2 a group that holds processes cannot hand the memory controller down, so the worker's
    becomes a sibling: below a slice of the user's own, or, for root, below any. Where none may be made,
    our own group; None: no cgroups.
    """
    current = current_group()
    if current is None:
        return None
    for parent in (current, *current.parents):
        path = parent / f"surefit-{name}-{os.getpid()}"
        with contextlib.suppress(OSError):
            path.mkdir()
            made = MemoryGroup(path, own=True)
            if made.kills() is not None:
                return made
            made.remove()  # v2 without the memory controller handed down
        if parent == root or not parent.is_relative_to(root):
            break
    return MemoryGroup(current, own=False)


def offer_to_the_kernel(pid: int) -> None:
    """Have the kernel take this process first when memory runs out, before the supervisor (proc(5))."""
    with contextlib.suppress(OSError):
        Path(f"/proc/{pid}/oom_score_adj").write_text(_TAKEN_FIRST)


def current_group() -> Path | None:
    """The memory cgroup of this process as a folder, or None."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return None
    memberships = [found.groups() for line in lines if (found := _MEMBERSHIP.match(line))]
    for _, controllers, inside in memberships:
        if "memory" in controllers.split(","):
            return _existing(Path("/sys/fs/cgroup/memory") / inside.lstrip("/"))
    for number, _, inside in memberships:
        if number == "0":
            return _existing(Path("/sys/fs/cgroup") / inside.lstrip("/"))
    return None


def _existing(path: Path) -> Path | None:
    return path if path.is_dir() else None
