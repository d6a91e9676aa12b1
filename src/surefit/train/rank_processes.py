"""The ranks of one machine: started, heard, told to stop, and ended together.

`python -m surefit.train RUN` on a plan of several ranks is their parent. It loads no torch. What a
rank prints goes on with `[rank1]: ` before each line, so that it is kept and redacted like the output
of any worker. The parent ends as the rank did that failed first: with its exit code or its signal.

    log/error_rank<N>.json   what ended a rank, in its own words (`train/failures.py`)
    ranks.json               how each rank ended
"""

import contextlib
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
import types
from dataclasses import dataclass, field
from typing import Any

from surefit.errors import WorkerExit
from surefit.home import write_atomically
from surefit.plan.plan import Plan
from surefit.runs.event import Problem
from surefit.runs.folder import RunFolder
from surefit.train.place import PARENT, STOP_SIGNAL, STORE

# A rank that lost another says so within milliseconds; whoever waits longer never will.
GRACE_SECONDS = 0.8
_TICK_SECONDS = 0.05
_LONGEST_LINE = 2**16
_STOP_SECONDS = 60.0


@dataclass
class RankProcess:
    """One rank and what is known of it."""

    rank: int
    process: "subprocess.Popen[bytes]"
    rest: bytes = b""
    ended: float | None = None
    killed_by_us: bool = False

    @property
    def output(self) -> int:
        """The descriptor behind which waits what it has printed."""
        return self.process.stdout.fileno() if self.process.stdout else -1

    @property
    def code(self) -> int | None:
        """Its exit code; None while it lives, or where a signal ended it."""
        code = self.process.returncode
        return None if code is None or code < 0 else code

    @property
    def signal(self) -> int | None:
        """The signal that ended it."""
        code = self.process.returncode
        return -code if code is not None and code < 0 else None

    @property
    def failed(self) -> bool:
        """Whether it ended otherwise than done, or stopped as it was asked to."""
        fine = (WorkerExit.DONE, WorkerExit.TEMPORARY)
        return self.ended is not None and self.process.returncode not in fine


@dataclass
class RankProcesses:
    """All ranks of this machine."""

    run: RunFolder
    plan: Plan
    ranks: list[RankProcess] = field(default_factory=list)
    stop_asked: float | None = None

    def start(self) -> None:
        """Start every rank, and listen for signals that are meant for all of them."""
        for old in (self.run.path / "log").glob("error_rank*.json"):
            old.unlink()
        (self.run.path / "ranks.json").unlink(missing_ok=True)
        signal.signal(signal.SIGTERM, self._stop)
        signal.signal(signal.SIGINT, self._stop)
        count = self.plan.training.ranks
        with socket.socket() as store:
            store.bind(("127.0.0.1", 0))
            store.listen(count)
            port = store.getsockname()[1]
            for rank in range(count):
                self.ranks.append(self._start(rank, count, port, store.fileno()))

    def _start(self, rank: int, count: int, port: int, store: int) -> RankProcess:
        variables = {
            **os.environ,
            "RANK": str(rank),
            "LOCAL_RANK": str(rank),
            "WORLD_SIZE": str(count),
            "LOCAL_WORLD_SIZE": str(count),
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(port),
            # All ranks are here: a host name that resolves to nothing must not matter.
            "GLOO_SOCKET_IFNAME": os.environ.get("GLOO_SOCKET_IFNAME", "lo"),
            PARENT: str(os.getpid()),
        }
        if rank == 0:
            variables[STORE] = str(store)
        process = subprocess.Popen(
            [sys.executable, *sys.orig_argv[1:]],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=variables,
            pass_fds=(store,) if rank == 0 else (),
        )
        return RankProcess(rank, process)

    def watch(self) -> None:
        """Return when every rank has ended. When one fails, the others are ended with it."""
        with selectors.DefaultSelector() as selector:
            for one in self.ranks:
                os.set_blocking(one.output, False)
                selector.register(one.output, selectors.EVENT_READ, one)
            while any(one.ended is None for one in self.ranks):
                for key, _ in selector.select(_TICK_SECONDS):
                    if not self._hear(key.data):
                        selector.unregister(key.fileobj)
                self._notice_ends()
                self._end_with_the_first()
        for one in self.ranks:
            self._hear(one)
            self._say(one, one.rest)

    def _hear(self, one: RankProcess) -> bool:
        """Hand on what a rank has printed; False: it has closed its output."""
        while True:
            try:
                text = os.read(one.output, _LONGEST_LINE)
            except BlockingIOError:
                return True
            if not text:
                return False
            *lines, one.rest = (one.rest + text).split(b"\n")
            for line in lines:
                self._say(one, line)
            if len(one.rest) > _LONGEST_LINE:
                self._say(one, one.rest)
                one.rest = b""

    @staticmethod
    def _say(one: RankProcess, line: bytes) -> None:
        if line:
            text = line.decode("utf-8", "backslashreplace")
            sys.stdout.write(f"[rank{one.rank}]: {text}\n")

    def _notice_ends(self) -> None:
        for one in self.ranks:
            if one.ended is None and one.process.poll() is not None:
                one.ended = time.time()

    def _end_with_the_first(self) -> None:
        now = time.time()
        failed = [one.ended for one in self.ranks if one.failed and one.ended is not None]
        late = bool(failed) and now - min(failed) > GRACE_SECONDS
        stuck = self.stop_asked is not None and now - self.stop_asked > _STOP_SECONDS
        if late or stuck:
            self._kill()

    def _kill(self) -> None:
        for one in self.ranks:
            if one.ended is None:
                one.killed_by_us = True
                one.process.kill()

    def _stop(self, _number: int, _frame: types.FrameType | None) -> None:
        if self.stop_asked is not None:
            self._kill()
            return
        self.stop_asked = time.time()
        for one in self.ranks:
            if one.process.poll() is None:
                one.process.send_signal(STOP_SIGNAL)

    def error_of(self, one: RankProcess) -> dict[str, Any] | None:
        """What ended a rank, in its own words."""
        try:
            found = json.loads(error_file(self.run, one.rank).read_bytes())
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None

    def root(self) -> RankProcess | None:
        """The rank that failed first, told from those that only lost it; None: none failed.

        An error of its own beats a death by a signal that we did not send, unless that came before;
        both beat an error that only says that another rank is gone.
        """
        told = {one.rank: error for one in self.ranks if (error := self.error_of(one))}
        own = [one for one in self.ranks if one.rank in told and not told[one.rank]["victim"]]
        died = [
            one
            for one in self.ranks
            if one.failed
            and not one.killed_by_us
            and one.rank not in told
            and not self._stopped(one)
        ]
        ranked = sorted(
            [
                *((told[one.rank]["time"], one) for one in own),
                *((one.ended or 0.0, one) for one in died),
            ],
            key=lambda pair: (pair[0], pair[1].rank),
        )
        if ranked:
            return ranked[0][1]
        lost = [one for one in self.ranks if one.rank in told and not self._stopped(one)]
        return min(lost, key=lambda one: told[one.rank]["time"], default=None)

    def _problem(self, told: dict[str, Any]) -> Problem:
        """A rank's problem as the run's; what every rank says alike is nobody's in particular."""
        problem = Problem.model_validate(told)
        others = [self.error_of(one) for one in self.ranks]
        if all(other and other["problem"]["what"] == problem.what for other in others):
            details = {name: value for name, value in problem.details.items() if name != "rank"}
            problem = problem.model_copy(update={"details": details})
        return problem

    def _stopped(self, one: RankProcess) -> bool:
        """Whether a stop ended it: also before it could listen, or by losing one that had left."""
        gone = (STOP_SIGNAL, signal.SIGTERM, signal.SIGINT)
        return self.stop_asked is not None and (one.signal is None or one.signal in gone)

    def conclude(self) -> int:
        """Write how each rank ended, tell of the first failure, and end as that rank did."""
        first = self.root()
        record = [
            {
                "rank": one.rank,
                "pid": one.process.pid,
                "code": one.code,
                "signal": one.signal,
                "ended_by_parent": one.killed_by_us,
                "first": one is first,
                "time": one.ended,
            }
            for one in self.ranks
        ]
        write_atomically(self.run.path / "ranks.json", json.dumps(record, indent=1))
        if first is None:
            stopped = self.stop_asked is not None or any(one.code for one in self.ranks)
            return WorkerExit.TEMPORARY if stopped else WorkerExit.DONE
        error = self.error_of(first)
        if error is not None:
            self.run.append(self._problem(error["problem"]))
        if first.signal is not None:
            end_by(first.signal)
        return first.code or WorkerExit.BUG


def run_ranks(run: RunFolder, plan: Plan) -> int:
    """Start a plan's ranks and stay until all have ended; the exit code of the run."""
    processes = RankProcesses(run, plan)
    processes.start()
    processes.watch()
    return processes.conclude()


def error_file(run: RunFolder, rank: int) -> Any:
    """Where a rank says what ended it."""
    return run.path / "log" / f"error_rank{rank}.json"


def end_by(number: int) -> None:
    """End this process by a signal, so that whoever started it sees how the rank ended."""
    sys.stdout.flush()
    with contextlib.suppress(OSError, ValueError):
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
