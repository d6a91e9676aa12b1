"""Stopping on SIGTERM and SIGINT: at a safe place the first time, at once the second time."""

import os
import signal
import types

from surefit.train.place import STOP_SIGNAL


class StopRequested(BaseException):
    """Leave now: nothing that is being done here is worth finishing."""


class StopSignal:
    """Remembers that somebody asked the worker to stop.

    While `waits_for_step` is set, the training loop asks `requested` after every step; otherwise
    the signal raises `StopRequested` wherever the worker is.
    """

    def __init__(self) -> None:
        self.requested: str | None = None
        self.waits_for_step = False

    def listen(self) -> None:
        """Take over SIGTERM and SIGINT."""
        signal.signal(signal.SIGTERM, self._receive)
        signal.signal(signal.SIGINT, self._receive)

    def listen_to_parent(self, number: signal.Signals) -> None:
        """Take a stop from the parent of the ranks alone: it asks all of them, and each once."""
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(number, self._receive)

    def _receive(self, number: int, _frame: types.FrameType | None) -> None:
        if self.requested:
            # A second one: die of it, as if nobody listened.
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
            return
        self.requested = "request" if number == STOP_SIGNAL else signal.Signals(number).name
        if not self.waits_for_step:
            raise StopRequested(self.requested)
