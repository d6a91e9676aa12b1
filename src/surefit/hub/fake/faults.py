"""What can go wrong between here and the Hub, made to go wrong on demand."""

import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass
class Fault:
    """One fault, for requests whose method and path match.

    Args:
        match: searched in `METHOD /path?query`.
        status: answered instead of what was asked; None: the true answer, with the damage below.
        headers: of that answer, such as `{"Retry-After": "2"}`.
        message: its `error`.
        times: how often; None: always.
        cut_after: bytes of the body after which the connection is closed.
        reset: it is closed so that the client sees a reset.
        stall_after: bytes of the body after which nothing comes any more.
        corrupt: one byte of the body is another one.
        bytes_per_second: how slowly the body comes.
        delay_seconds: before anything is answered.
    """

    match: str
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    message: str = ""
    times: int | None = None
    cut_after: int | None = None
    reset: bool = False
    stall_after: int | None = None
    corrupt: bool = False
    bytes_per_second: float | None = None
    delay_seconds: float = 0.0
    hits: int = 0

    def applies(self, line: str) -> bool:
        """Whether it concerns a request and is not used up."""
        return (self.times is None or self.hits < self.times) and bool(re.search(self.match, line))


@dataclass
class Faults:
    """All faults of a Hub; the first that applies counts."""

    known: list[Fault] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, line: str) -> Fault | None:
        """The fault for a request, counted as used."""
        with self._lock:
            fault = next((one for one in self.known if one.applies(line)), None)
            if fault is not None:
                fault.hits += 1
            return fault
