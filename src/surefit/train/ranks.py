"""The processes that train one model together: how they meet, add up and wait for each other.

With one process everything here is the identity, and torch.distributed is not touched.
"""

import datetime
import os
from collections.abc import Callable
from typing import Any, TypeVar

import torch
import torch.distributed as dist

from surefit.errors import OutsideError, WorkerExit
from surefit.plan.plan import TrainingPlan
from surefit.train.failures import ConfigurationDiffers
from surefit.train.place import Place

Result = TypeVar("Result")
BACKENDS = {"cpu": "gloo", "cuda": "cpu:gloo,cuda:nccl"}


def join(training: TrainingPlan) -> None:
    """Meet the other ranks of the plan.

    Raises:
        ConfigurationDiffers: the launcher has started another number of ranks than planned.
        OutsideError: not all of them came.
    """
    place = Place.here()
    if place.world != training.ranks:
        raise ConfigurationDiffers(
            f"{place.world} ranks were started, and the plan is for {training.ranks}",
            "WORLD_SIZE, which the launcher of the ranks sets, says so",
            f"start {training.ranks} ranks, or plan again with `how.ranks: {place.world}`",
        )
    if training.ranks == 1:
        return
    patience = datetime.timedelta(seconds=training.collective_seconds)
    try:
        dist.init_process_group(
            BACKENDS[training.device],
            store=_store(place, patience),
            rank=place.rank,
            world_size=place.world,
            timeout=patience,
        )
        dist.barrier()
    except (RuntimeError, OSError) as error:
        raise OutsideError(
            f"rank {place.rank} did not meet the other {place.world - 1}",
            str(error).strip().splitlines()[0],
            "look at the log of the rank that failed first; on a machine with several networks, name "
            "the one to use in GLOO_SOCKET_IFNAME or NCCL_SOCKET_IFNAME",
            worker_exit=WorkerExit.NO_RESOURCE,
        ) from error


def _store(place: Place, patience: datetime.timedelta) -> Any:
    """Where the ranks find each other. A socket that our parent has opened leaves no port to lose."""
    opened: dict[str, Any] = {} if place.store is None else {"master_listen_fd": place.store}
    return torch.distributed.TCPStore(  # type: ignore[attr-defined]
        os.environ["MASTER_ADDR"],
        int(os.environ["MASTER_PORT"]),
        place.world,
        place.is_first and (place.parent is None or place.store is not None),
        timeout=patience,
        wait_for_workers=False,
        **opened,
    )


def leave() -> None:
    """Part from the other ranks: from here on each of them is alone."""
    if world_size() > 1:
        dist.barrier()
        dist.destroy_process_group()


def world_size() -> int:
    """How many ranks there are, from the live process group."""
    return dist.get_world_size() if dist.is_initialized() else 1


def rank() -> int:
    """Which of them this is."""
    return dist.get_rank() if dist.is_initialized() else 0


def is_first() -> bool:
    """Whether this rank writes what there is once."""
    return rank() == 0


def backend(device: str) -> str | None:
    """The library that carries the sums of a device, from the live process group; None: one rank."""
    if not dist.is_initialized():
        return None
    known = str(dist.get_backend_config())
    named = dict(part.split(":") for part in known.split(",") if ":" in part)
    return named.get(device, known)


def sums(*values: float) -> list[float]:
    """The sum of each value over all ranks, the same bits on each of them."""
    if world_size() == 1:
        return list(values)
    together = torch.tensor(values, dtype=torch.float64)
    dist.all_reduce(together)
    return [float(value) for value in together]


def barrier() -> None:
    """Wait until every rank is here."""
    if world_size() > 1:
        dist.barrier()


def gather(value: Any) -> list[Any]:
    """Every rank's value, in the order of the ranks, on each of them."""
    if world_size() == 1:
        return [value]
    found: list[Any] = [None] * world_size()
    dist.all_gather_object(found, value)
    return found


def from_first(value: Result) -> Result:
    """The first rank's value, on every rank."""
    if world_size() == 1:
        return value
    held = [value]
    dist.broadcast_object_list(held, src=0)
    return held[0]


def in_turn(work: Callable[[], Result]) -> Result:
    """Do something that needs much memory for a moment: one rank after the other."""
    if world_size() == 1:
        return work()
    done: list[Result] = []
    for turn in range(world_size()):
        if turn == rank():
            done.append(work())
        dist.barrier()
    return done[0]
