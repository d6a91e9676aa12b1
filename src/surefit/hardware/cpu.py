"""The CPU: cores that may be used, what they are good at, and how fast they may be."""

import os
from dataclasses import dataclass
from pathlib import Path

_CPUINFO = Path("/proc/cpuinfo")
_FAST_BF16_FLAGS = ("amx_bf16", "avx512_bf16")
# float32 operations per core and cycle: lanes x 2 (multiply and add) x 2 units.
_OPERATIONS_PER_CYCLE = {"avx512f": 64, "avx2": 32, "avx": 16, "neon": 16}
_ASSUMED_HERTZ = 2.5e9
_SLOW_BF16_FACTOR = "about 300 times"


@dataclass(frozen=True)
class Processor:
    """What `/proc/cpuinfo` tells."""

    name: str
    flags: frozenset[str]
    hertz: float | None


def read_processor(cpuinfo: Path = _CPUINFO) -> Processor:
    """Name, flags and clock of the first processor; empty where the system does not tell."""
    fields: dict[str, str] = {}
    try:
        for line in cpuinfo.read_text(errors="replace").splitlines():
            name, _, value = line.partition(":")
            fields.setdefault(name.strip().lower(), value.strip())
    except OSError:
        pass
    flags = frozenset((fields.get("flags") or fields.get("features") or "").split())
    try:
        hertz: float | None = float(fields["cpu mhz"]) * 1e6
    except (KeyError, ValueError):
        hertz = None
    return Processor(fields.get("model name") or "CPU", flags, hertz)


def bf16_speed(processor: Processor) -> tuple[bool, str]:
    """Whether bfloat16 products are fast here, and how that is known."""
    fast = [flag for flag in _FAST_BF16_FLAGS if flag in processor.flags]
    if fast:
        return True, f"the processor has bfloat16 instructions ({fast[0]})"
    if not processor.flags:
        return (
            False,
            "the system does not tell what the processor can do; float32 is safe everywhere",
        )
    return False, (
        "the processor has no bfloat16 instructions (neither amx_bf16 nor avx512_bf16): "
        "products in "
        f"bfloat16 were measured {_SLOW_BF16_FACTOR} slower than in float32 on such a machine"
    )


def float32_rate(processor: Processor, cores: int) -> tuple[float | None, str]:
    """Operations a second that `cores` cores may reach in float32, and how that was worked out.

    A guess from the instruction set and the clock. Checked once: an AVX2 processor at 2.45 GHz
    measured 80 to 86e9 operations a second and core, where this says 78e9.
    """
    width = next(
        ((flag, count) for flag, count in _OPERATIONS_PER_CYCLE.items() if flag in processor.flags),
        None,
    )
    if "asimd" in processor.flags and width is None:
        width = ("neon", _OPERATIONS_PER_CYCLE["neon"])
    if width is None:
        return None, "the instruction set is not known, so the speed is not either"
    hertz = processor.hertz or _ASSUMED_HERTZ
    clock = f"{hertz / 1e9:.2f} GHz" + ("" if processor.hertz else " (assumed)")
    rate = cores * width[1] * hertz
    return rate, (
        f"a guess, not a measurement: {cores} cores x {width[1]} float32 operations a cycle "
        f"({width[0]}) x {clock} = {rate / 1e9:.0f}e9 a second"
    )


def usable_cores(quota: float | None) -> int:
    """Cores that this process may use: its affinity, cut by the control group's quota."""
    try:
        count = len(os.sched_getaffinity(0))
    except (AttributeError, OSError):
        count = os.cpu_count() or 1
    return max(1, min(count, int(quota)) if quota is not None else count)


def cores_in_use(usable: int) -> float:
    """How many of the `usable` cores others keep busy, from the load of the last minute.

    A container sees the load of the whole host: cores that it may not use are taken as busy first.
    """
    try:
        load = os.getloadavg()[0]
    except OSError:
        return 0.0
    out_of_reach = max(0, (os.cpu_count() or usable) - usable)
    return min(float(usable), max(0.0, load - out_of_reach))
