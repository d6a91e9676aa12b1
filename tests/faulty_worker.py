"""The real worker with one real fault: `faulty_worker.py FAULT[@RANK] RUN_FOLDER`.

The fault comes in step 3, after a checkpoint of step 2, in one rank (the first unless told). It first
writes the moment into `fault_time`, and says on its output what it is about to do.
"""

import ctypes
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from surefit.train.__main__ import leave, main

AT_STEP = 3
_NEW_MOUNTS = 0x00020000  # CLONE_NEWNS


def sigkill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def segv() -> None:
    ctypes.string_at(0)


def abort() -> None:
    os.abort()


def raises() -> None:
    raise RuntimeError("the fault of this test")


def hang() -> None:
    wait_for_somebody_who_never_comes()


def wait_for_somebody_who_never_comes() -> None:
    time.sleep(3600)


def oom() -> None:
    """Take memory until the kernel ends the process: the test has set a limit on its group."""
    go = Path(sys.argv[2]) / "go"
    while not go.exists():
        time.sleep(0.02)
    mark()
    held = []
    for _ in range(128):  # 2 GiB, should no limit hold it
        block = bytearray(2**24)
        block[::4096] = b"x" * len(block[::4096])
        held.append(block)
    raise RuntimeError("nothing has ended this process")


def shm() -> None:
    """A /dev/shm of 1 MiB, as containers have, for this process alone; then what a data loader does."""
    import torch

    if ctypes.CDLL(None, use_errno=True).unshare(_NEW_MOUNTS) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", "/dev/shm"], check=True)
    mark()
    torch.ones(4 * 2**20).share_memory_()


def exit0() -> None:
    os._exit(0)


FAULTS = {one.__name__: one for one in (sigkill, segv, abort, raises, hang, oom, shm, exit0)}


def mark() -> None:
    """Write down when it happens."""
    (Path(sys.argv[2]) / "fault_time").write_text(repr(time.time()))


def break_at_a_step(fault: str) -> None:
    """Put the fault into this process."""
    import torch

    from surefit.train import trainer

    usual = trainer.TokenTrainer.finish_step

    def at_a_step(self: Any, *given: Any) -> Any:
        if self.state.global_step + 1 == AT_STEP:
            print(f"about to: {fault}", flush=True)
            mark()
            if fault == "nan":
                self._losses = [torch.tensor(float("nan"))]
            else:
                FAULTS[fault]()
        return usual(self, *given)

    trainer.TokenTrainer.finish_step = at_a_step  # type: ignore[method-assign]


def limit_memory(mib: int) -> None:
    """Let the address space grow by so much from the moment the training is set up, and no more."""
    from surefit.train import trainer

    usual = trainer.TokenTrainer.__init__

    def limited(self: Any, *given: Any, **named: Any) -> None:
        usual(self, *given, **named)
        status = Path("/proc/self/status").read_text()
        now = int(status.split("VmSize:")[1].split()[0]) * 1024
        most = now + mib * 2**20
        resource.setrlimit(resource.RLIMIT_AS, (most, most))

    trainer.TokenTrainer.__init__ = limited  # type: ignore[method-assign]


if __name__ == "__main__":
    fault, _, rank = sys.argv[1].partition("@")
    if os.environ.get("RANK", "0") == (rank or "0") and not (rank and "RANK" not in os.environ):
        if fault.startswith("memory="):
            limit_memory(int(fault.removeprefix("memory=")))
        else:
            break_at_a_step(fault)
    leave(main(sys.argv[2:]))
