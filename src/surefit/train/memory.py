"""How much memory the worker has, now and at its peak. Bytes throughout.

On CUDA: torch's allocated bytes. On a CPU: resident memory; Linux keeps its high-water mark and
lets a process reset its own (proc(5), clear_refs 5), which gives a peak for each phase.
"""

import re
import resource
import sys
from pathlib import Path
from typing import Any

import psutil

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")
_RUSAGE_UNIT = 1 if sys.platform == "darwin" else 1024


class Memory:
    """Reads the worker's memory; counts the device's once `use_cuda` was called."""

    def __init__(self) -> None:
        self._process = psutil.Process()
        self._cuda = False
        self.peak_bytes = 0

    def use_cuda(self) -> None:
        """Count the device's memory from now on."""
        self._cuda, self.peak_bytes = True, 0

    def now_bytes(self) -> int:
        """Allocated on the device, else resident."""
        if self._cuda:
            return int(_cuda().memory_allocated())
        return int(self._process.memory_info().rss)

    def take_peak(self) -> int:
        """The peak since the last call; a new mark begins."""
        peak = max(self._high_water(), self.now_bytes())
        self._reset()
        self.peak_bytes = max(self.peak_bytes, peak)
        return peak

    def _high_water(self) -> int:
        if self._cuda:
            return int(_cuda().max_memory_allocated())
        if _STATUS.exists():
            found = re.search(r"VmHWM:\s+(\d+) kB", _STATUS.read_text(encoding="ascii"))
            if found:
                return int(found.group(1)) * 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _RUSAGE_UNIT

    def _reset(self) -> None:
        if self._cuda:
            _cuda().reset_peak_memory_stats()
            return
        try:
            _CLEAR.write_text("5", encoding="ascii")
        except OSError:
            return  # a container without the right to: peaks are then those since the start


def _cuda() -> Any:
    import torch  # here: the memory is watched before torch is there

    return torch.cuda
