"""Which rank of a run this process is, by the variables that every launcher of ranks sets.

`RANK`, `WORLD_SIZE`, `LOCAL_RANK`, `MASTER_ADDR`, `MASTER_PORT`: torchrun's names. Needs no torch.
"""

import ctypes
import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass

PARENT = "SUREFIT_RANK_PARENT"  # the process that started the ranks of this machine
STORE = "SUREFIT_RANK_STORE"  # its listening socket, open in rank 0
# A stop reaches the ranks through their parent: it alone knows that they were all told.
STOP_SIGNAL = signal.SIGUSR2
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Place:
    """One process among those that train together."""

    rank: int = 0
    world: int = 1
    local: int = 0
    parent: int | None = None  # process id of what started it, where that is surefit
    store: int | None = None

    @classmethod
    def here(cls, variables: Mapping[str, str] = os.environ) -> "Place":
        """The place of this process; the only one where nothing says otherwise."""
        if "RANK" not in variables:
            return cls()
        return cls(
            rank=int(variables["RANK"]),
            world=int(variables.get("WORLD_SIZE", "1")),
            local=int(variables.get("LOCAL_RANK", variables["RANK"])),
            parent=int(variables[PARENT]) if PARENT in variables else None,
            store=int(variables[STORE]) if STORE in variables else None,
        )

    @property
    def is_first(self) -> bool:
        """Whether this process speaks for the run: it writes the events and the result."""
        return self.rank == 0

    @property
    def is_rank(self) -> bool:
        """Whether a launcher of ranks has started this process."""
        return self.world > 1

    def die_with_parent(self) -> None:
        """Have the kernel end this process when what started it ends (prctl(2), Linux)."""
        if self.parent is None:
            return
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))
        if os.getppid() != self.parent:  # it ended before the kernel was asked
            os.kill(os.getpid(), signal.SIGKILL)
