"""SF704 RENDEZVOUS."""

import re
from typing import ClassVar

from surefit.diagnose.signatures.signature import Found, TextSignature


class RendezvousFailed(TextSignature):
    """The processes could not meet.

    ## What happened
    Before any training, all processes meet at one address. It was taken, unreachable, or somebody
    did not come.

    ## Why
    The port is in use by an earlier run, MASTER_ADDR names the wrong host, a firewall is between,
    or a node did not start.

    ## Example
        The server socket has failed to listen on any local network address. port: 29522, ...
        EADDRINUSE

    ## What to do
    Choose a free port (`--master-port`), end the earlier run, or set MASTER_ADDR to the first node
    and open the port.
    """

    code = "SF704"
    failure_class = "RENDEZVOUS"
    title = "The processes could not meet"
    retryable = True
    patterns = (
        r"port: (?P<port>\d+).{0,80}EADDRINUSE",
        r"failed to listen on any local network address|EADDRINUSE|[Aa]ddress already in use",
        r"client socket has timed out after (?P<limit>\d+ ?\w+).{0,60}connect to "
        r"\(?(?P<host>[\w.:-]+?)[,:] ?(?P<port>\d+)",
        r"(?:failed|unable) to connect.{0,30}to (?:host )?\(?(?P<host>[\w.-]+)[,:] ?(?P<port>\d+)",
        r"Rendezvous\w*(?:Timeout|Connection|Closed|State)?Error|rendezvous.{0,40}(?:timed out|"
        r"timeout|failed|closed)",
        r"Timed out after \d+ seconds waiting for clients\. (?P<joined>\d+/\d+) clients joined",
        r"[Tt]imeout.{0,40}waiting for.{0,30}(?:nodes|clients|workers|ranks|participants)",
        r"connect\(\) timed out\. Original timeout was (?P<limit>\d+ ?\w+)",
        r"store->get\('\w+'\) got error: Socket Timeout",
        r"DistStoreError|DistNetworkError|(?:TCPStore|c10d store).{0,60}(?:timed? ?out|fail|"
        r"refused)",
        r"MASTER_(?:ADDR|PORT) (?:expected|not set|is not)|environment variable (?:MASTER_\w+|"
        r"RANK|WORLD_SIZE) expected",
        r"(?:hostname|address).{0,30}(?:could not be resolved|not known|cannot be "
        r"retrieved).{0,40}c10d",
    )
    defaults: ClassVar[dict[str, str]] = {"port": "", "host": "", "limit": "", "joined": ""}
    what = "the processes could not meet{address}"
    why = "{text}"
    next_step = "{remedy}, then {again}"

    def accepts(self, found: Found) -> bool:
        """Another rank that goes away later is no matter of meeting."""
        return not re.search(r"Connection (?:closed|reset) by|Broken pipe|recvValue", found.text)

    def words(self, found: Found) -> dict[str, str]:
        """Port and host, and whether the port is taken."""
        words = super().words(found)
        taken = re.search(r"EADDRINUSE|already in use|failed to listen", found.text)
        host, port = words["host"], words["port"]
        address = f" at {host}:{port}" if host and port else f" at port {port}" if port else ""
        remedy = (
            f"choose another port (`--master-port`), or end the run that holds port "
            f"{port or 'this port'}"
            if taken
            else f"set MASTER_ADDR to the first node, make sure every node started, and open "
            f"port {port or 'of the master'}"
        )
        return {
            **words,
            "address": address + (", the port is in use" if taken else ""),
            "remedy": remedy,
        }

    def phase_of(self, found: Found) -> str | None:
        """They meet before anything is loaded."""
        return "import" if not found.evidence.metrics else None
