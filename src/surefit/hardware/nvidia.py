"""NVIDIA GPUs, asked from the driver's own program: no torch, no CUDA context, no memory taken."""

import shutil
import subprocess

from surefit.hardware.machine import Device
from surefit.units import MIB

_QUERY = "index,name,memory.total,memory.free,compute_cap"
_TIMEOUT_SECONDS = 5.0
_FAST_BF16_FROM = 8.0  # Ampere; NVIDIA CUDA programming guide, table of arithmetic throughput


def detect_nvidia() -> tuple[Device, ...]:
    """The GPUs that nvidia-smi reports; none where it is absent, fails or hangs."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return ()
    command = [program, f"--query-gpu={_QUERY}", "--format=csv,noheader,nounits"]
    try:
        answer = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIMEOUT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return parse_nvidia(answer.stdout) if answer.returncode == 0 else ()


def parse_nvidia(answer: str) -> tuple[Device, ...]:
    """Devices from nvidia-smi's csv lines; a line with a value it cannot give is left out."""
    devices = []
    for line in answer.splitlines():
        words = [word.strip() for word in line.split(",")]
        try:
            _, name, total, free, capability = words
            total_bytes, free_bytes = int(total) * MIB, int(free) * MIB
            fast = float(capability) >= _FAST_BF16_FROM
        except ValueError:
            continue
        reason = f"compute capability {capability}; bfloat16 is fast from {_FAST_BF16_FROM}"
        devices.append(
            Device(
                kind="cuda",
                name=name,
                total_bytes=total_bytes,
                free_bytes=free_bytes,
                bf16_is_fast=fast,
                bf16_reason=reason,
                flops_reason="no figure for this GPU is known to surefit yet",
            )
        )
    return tuple(devices)
