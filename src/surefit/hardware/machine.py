"""Hardware: what a run can use, read without torch."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class Device(BaseModel):
    """One thing that computes."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["cpu", "cuda"]
    name: str
    total_bytes: int = Field(description="What the driver or the system reports as total.")
    free_bytes: int = Field(
        description="Free now: other processes and, on a CPU, the cgroup's limit taken off."
    )
    bf16_is_fast: bool = Field(
        description="Whether bfloat16 products run at least as fast as float32 ones."
    )
    bf16_reason: str = Field(description="How that is known.")
    flops: float | None = Field(
        None, description="Sustained float32 (CPU) or bfloat16 (GPU) operations a second."
    )
    flops_reason: str = ""


class Hardware(BaseModel):
    """The machine or flavour that a plan is made for."""

    model_config = ConfigDict(frozen=True)

    name: str
    devices: tuple[Device, ...]
    cpu_cores: int = Field(
        description="Cores this process may use: affinity and cgroup quota applied."
    )
    load: float = Field(description="Cores in use by others now.")
    ram_total_bytes: int
    ram_free_bytes: int
    disk_free_bytes: int = Field(description="Free where runs are written.")
    disk_folder: str
