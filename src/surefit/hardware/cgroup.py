"""What this process's control group allows: CPU time and memory, for cgroup versions 1 and 2.

Sources: Linux Documentation/admin-guide/cgroup-v2.rst (cpu.max, memory.max, memory.current,
memory.stat) and cgroup-v1/memory.rst, cpu.cfs_quota_us.
"""

from dataclasses import dataclass
from pathlib import Path

_ROOT = Path("/sys/fs/cgroup")
_MEMBERSHIP = Path("/proc/self/cgroup")
_UNLIMITED = 2**60  # version 1 writes a huge number where there is no limit


@dataclass(frozen=True)
class CgroupLimits:
    """None where there is no limit."""

    cores: float | None = None
    memory_total: int | None = None
    memory_free: int | None = None


def read_cgroup_limits(root: Path = _ROOT, membership: Path = _MEMBERSHIP) -> CgroupLimits:
    """The tightest limits on the way from this process's group to the root."""
    cores: list[float] = []
    totals: list[int] = []
    frees: list[int] = []
    for folder in _own_folders(root, membership):
        quota = _cores(folder)
        if quota is not None:
            cores.append(quota)
        memory = _memory(folder)
        if memory is not None:
            totals.append(memory[0])
            frees.append(max(0, memory[0] - memory[1]))
    return CgroupLimits(
        min(cores, default=None), min(totals, default=None), min(frees, default=None)
    )


def _own_folders(root: Path, membership: Path) -> list[Path]:
    """This process's group and all groups above it, in every hierarchy, and the roots themselves.

    Inside a container the paths of the host may not exist; the root is then its own group.
    """
    folders: list[Path] = []
    for line in _text(membership).splitlines():
        parts = line.split(":", 2)
        if len(parts) != 3:
            continue
        controllers, path = parts[1], parts[2].strip("/")
        bases = (
            [root]
            if not controllers
            else [root / name for name in (controllers, *controllers.split(","))]
        )
        for base in bases:
            place = base / path if path else base
            folders += [
                place,
                *(one for one in place.parents if one == base or base in one.parents),
            ]
    return list(
        dict.fromkeys([*folders, root, root / "memory", root / "cpu", root / "cpu,cpuacct"])
    )


def _cores(folder: Path) -> float | None:
    words = _text(folder / "cpu.max").split()
    if len(words) == 2 and words[0].isdigit() and int(words[1]) > 0:
        return int(words[0]) / int(words[1])
    quota, period = _number(folder / "cpu.cfs_quota_us"), _number(folder / "cpu.cfs_period_us")
    if quota is not None and quota > 0 and period:
        return quota / period
    return None


def _memory(folder: Path) -> tuple[int, int] | None:
    """(limit, in use without file cache that can be dropped) in bytes."""
    limit = _number(folder / "memory.max")
    used = _number(folder / "memory.current")
    if limit is None:
        limit = _number(folder / "memory.limit_in_bytes")
        used = _number(folder / "memory.usage_in_bytes")
    if limit is None or limit >= _UNLIMITED:
        return None
    return limit, max(0, (used or 0) - _droppable(folder))


def _droppable(folder: Path) -> int:
    for line in _text(folder / "memory.stat").splitlines():
        name, _, value = line.partition(" ")
        if name in ("inactive_file", "total_inactive_file") and value.isdigit():
            return int(value)
    return 0


def _number(path: Path) -> int | None:
    text = _text(path).strip()
    return int(text) if text.lstrip("-").isdigit() else None


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
