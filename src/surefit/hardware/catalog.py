"""The catalogue of GPUs and rented flavours, and machines made from a name such as `l40s:4 x 2`."""

import difflib
import functools
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from surefit.errors import RecipeError
from surefit.hardware.machine import Device, Hardware
from surefit.units import GIB, MIB

_FILE = Path(__file__).parent / "catalog.toml"
_NAMED = re.compile(r"(?P<name>[^:\s]+)(:(?P<count>\d+)(\s*x\s*(?P<nodes>\d+))?)?")
_ASSUMED_CORES, _ASSUMED_DISK = 8, 1000 * 10**9


@dataclass(frozen=True)
class Gpu:
    """A GPU: memory as CUDA reports it, the lowest seen; rates as the vendor states them."""

    key: str
    name: str
    memory_gib: float
    memory_mib_most: int
    capability: float
    bf16: bool
    fp8: bool
    bandwidth_gb_s: float
    interconnect: str
    confidence: str
    source: str
    tflops: float | None = None
    context_mib: int | None = None


@dataclass(frozen=True)
class Flavour:
    """A machine that can be rented, with its price and when that was read where."""

    key: str
    gpu: str
    count: int
    cores: int
    ram_gb: float
    disk_gb: float
    dollars_per_hour: float
    provider: str
    where: tuple[str, ...]
    date: str
    source: str


@functools.cache
def gpus() -> dict[str, Gpu]:
    """Every GPU by its short name."""
    return {key: Gpu(key=key, **row) for key, row in _tables()["gpu"].items()}


@functools.cache
def flavours() -> dict[str, Flavour]:
    """Every rented flavour by its name, cheapest first."""
    found = [
        Flavour(key=key, **row | {"where": tuple(row["where"])})
        for key, row in _tables()["flavour"].items()
    ]
    return {one.key: one for one in sorted(found, key=lambda one: one.dollars_per_hour)}


def cheapest_flavour(gpu: str, count: int) -> Flavour | None:
    """The cheapest flavour with exactly so many GPUs of a kind."""
    fitting = (one for one in flavours().values() if (one.gpu, one.count) == (gpu, count))
    return next(fitting, None)


def named_hardware(name: str) -> Hardware:
    """A machine that is not here: `l40s`, `l40s:4`, `h200:8 x 2`, or a flavour such as `l4x4`.

    Nodes are planned as one machine with all their GPUs; memory of the host is that of one node.

    Raises:
        RecipeError: the catalogue has no such GPU or flavour, or none of it is asked for.
    """
    if name in flavours():
        flavour = flavours()[name]
        return _machine(name, gpus()[flavour.gpu], flavour.count, flavour)
    match = _NAMED.fullmatch(name.strip())
    key = match["name"].lower() if match else name
    if match is None or key not in gpus():
        raise _unknown(name, key)
    count, nodes = int(match["count"] or 1), int(match["nodes"] or 1)
    if count < 1 or nodes < 1:
        raise RecipeError(
            f"`hardware: {name}` asks for no GPU",
            "the count stands behind the colon, the number of nodes behind the x",
            f"set `hardware: {key}:1`",
            where="hardware",
        )
    return _machine(name, gpus()[key], count * nodes, cheapest_flavour(key, count))


def _machine(name: str, gpu: Gpu, count: int, flavour: Flavour | None) -> Hardware:
    """All GPUs of a machine, empty. Without a flavour the host is assumed to have twice their memory."""
    memory = int(gpu.memory_gib * GIB) // MIB * MIB
    rate = gpu.tflops * 1e12 if gpu.tflops else None
    device = Device(
        kind="cuda",
        name=gpu.name,
        total_bytes=memory,
        free_bytes=memory,
        bf16_is_fast=gpu.bf16,
        bf16_reason=f"the catalogue: compute capability {gpu.capability:g}",
        flops=rate,
        flops_reason=f"dense rate from the vendor's datasheet, {gpu.tflops:g} TFLOPS"
        if gpu.tflops
        else "",
    )
    ram = int(flavour.ram_gb * 10**9) if flavour else 2 * memory * count
    cores = flavour.cores if flavour else _ASSUMED_CORES
    cpu = Device(
        kind="cpu",
        name=f"the host of {name}",
        total_bytes=ram,
        free_bytes=ram,
        bf16_is_fast=False,
        bf16_reason="not known",
    )
    return Hardware(
        name=name,
        devices=(*([device] * count), cpu),
        cpu_cores=cores,
        load=0.0,
        ram_total_bytes=ram,
        ram_free_bytes=ram,
        disk_free_bytes=int(flavour.disk_gb * 10**9) if flavour else _ASSUMED_DISK,
        disk_folder=f"the disk of {name}",
    )


def _unknown(name: str, key: str) -> RecipeError:
    names = [*gpus(), *flavours()]
    near = difflib.get_close_matches(key, names, n=1, cutoff=0.5)
    return RecipeError(
        f"the catalogue has no hardware {name!r}",
        f"it has {', '.join(gpus())}, and the flavours that `surefit hardware --all` lists",
        f"set `hardware: {near[0]}`" if near else "run `surefit hardware --all` and choose one",
        where="hardware",
    )


@functools.cache
def _tables() -> dict[str, dict[str, dict[str, Any]]]:
    return tomllib.loads(_FILE.read_text())
