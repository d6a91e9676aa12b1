"""Detect this machine, in milliseconds and without torch."""

import shutil
from pathlib import Path

import psutil

from surefit.hardware.cgroup import CgroupLimits, read_cgroup_limits
from surefit.hardware.cpu import (
    bf16_speed,
    cores_in_use,
    float32_rate,
    read_processor,
    usable_cores,
)
from surefit.hardware.machine import Device, Hardware
from surefit.hardware.nvidia import detect_nvidia


def detect_machine(disk_folder: Path) -> Hardware:
    """What a run on this machine can use now.

    Args:
        disk_folder: where runs will be written; it need not exist yet.
    """
    limits = read_cgroup_limits()
    cores = usable_cores(limits.cores)
    total, free = _memory(limits)
    place = _existing(disk_folder)
    return Hardware(
        name="this machine",
        devices=(*detect_nvidia(), _cpu(cores, total, free)),
        cpu_cores=cores,
        load=cores_in_use(cores),
        ram_total_bytes=total,
        ram_free_bytes=free,
        disk_free_bytes=shutil.disk_usage(place).free,
        disk_folder=str(disk_folder.absolute()),
    )


def _cpu(cores: int, total: int, free: int) -> Device:
    processor = read_processor()
    fast, why = bf16_speed(processor)
    rate, how = float32_rate(processor, cores)
    return Device(
        kind="cpu",
        name=processor.name,
        total_bytes=total,
        free_bytes=free,
        bf16_is_fast=fast,
        bf16_reason=why,
        flops=rate,
        flops_reason=how,
    )


def _memory(limits: CgroupLimits) -> tuple[int, int]:
    """(total, free) bytes of RAM: the system's or the control group's, whichever is less."""
    system = psutil.virtual_memory()
    total, free = system.total, system.available
    if limits.memory_total is not None:
        total = min(total, limits.memory_total)
    if limits.memory_free is not None:
        free = min(free, limits.memory_free)
    return total, min(free, total)


def _existing(folder: Path) -> Path:
    """The folder, or the nearest one above it that exists."""
    place = folder.absolute()
    while not place.exists() and place != place.parent:
        place = place.parent
    return place
