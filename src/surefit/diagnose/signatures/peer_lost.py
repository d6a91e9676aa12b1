"""SF702 PEER_LOST."""

import re

from surefit.diagnose.diagnosis import Diagnosis
from surefit.diagnose.evidence import Evidence
from surefit.diagnose.root import PEER_LOST
from surefit.diagnose.signatures.signature import Signature

_ADDRESS = re.compile(r"\[?(?P<host>\d+\.\d+\.\d+\.\d+)\]?(?::(?P<port>\d+))?|ip: (?P<ip>[\d.]+)")


class PeerLost(Signature):
    """This process only lost its partner; the cause is in another process's log.

    ## What happened
    A connection to another process broke. What is here is the victim's view.

    ## Why
    The other process died first: killed, crashed, or ended by an exception. Nothing here says
    which.

    ## Example
        RuntimeError: ... Connection closed by peer [127.0.0.1]:11954.

    ## What to do
    Open the log of the other process, or give surefit the folder with all of them. On its machine
    look at the kernel's log and the memory counters.
    """

    code = "SF702"
    failure_class = "PEER_LOST"
    title = "Only the victim's view"

    def match(self, evidence: Evidence) -> Diagnosis | None:
        """A lost peer, and nothing that explains it."""
        failure = evidence.root.failure
        if failure is None or not PEER_LOST.search(failure.text):
            return None
        line = next(
            (t for t in failure.text.splitlines() if PEER_LOST.search(t)), failure.last.text
        )
        address = list(_ADDRESS.finditer(failure.text))
        other = next((m["ip"] for m in address if m["ip"]), None) or next(
            (m["host"] for m in address), None
        )
        where = f" on {other}" if other else ""
        detail = [
            near for near in evidence.closing if re.search(r"Worker exit|ip: |pid: ", near.text)
        ][:4]
        return self.answer(
            evidence,
            what=f"the process here only lost its partner{where}, which died first",
            why=f"this is the victim's view: {line.strip()}",
            next_step=f"open the log of the other process{where} and diagnose the folder with "
            f"all of them; on "
            "its machine look at the kernel's log and the memory counters",
            lines=[*failure.last.lines[:3], *detail],
            rank=None,
        )
