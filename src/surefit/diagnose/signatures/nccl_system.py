"""SF703 NCCL_SYSTEM."""

from surefit.diagnose.signatures.signature import Found, TextSignature


class TransportFailed(TextSignature):
    """The transport between the GPUs cannot start.

    ## What happened
    NCCL (or another backend) could not set up its connections: no rank got far enough to compute.

    ## Why
    It chose a network interface on which the nodes cannot reach each other (`docker0` is usual), a
    fabric is broken, or driver and library do not match.

    ## Example
        ncclSystemError: System call (e.g. socket, malloc) or external library call failed or
        device error. socketStartConnect: Connect to 172.17.0.1<45011> failed

    ## What to do
    Set `NCCL_SOCKET_IFNAME` to the real network card (`ip addr` shows them), or
    `NCCL_IB_DISABLE=1` where InfiniBand is broken. `NCCL_DEBUG=INFO` tells which it chose.
    """

    code = "SF703"
    failure_class = "NCCL_SYSTEM"
    title = "The transport between GPUs cannot start"
    patterns = (
        r"socketStartConnect: .*|socketProgress.*|[Nn]et(?:Ib|Socket)\w* .*(?:failed|error).*",
        r"unhandled (?:system|cuda) error|ncclSystemError|ncclUnhandledCudaError|ncclInternalError",
        r"[Bb]ootstrap ?:? ?[Nn]o socket interface found.*|No (?:socket )?interface found.*",
        r"ncclInvalidUsage|ncclInvalidArgument|NCCL error in",
        r"NVLS|fabric manager|system not yet initialized.*fabric|ibv_\w+ failed|IB "
        r".{0,40}(?:failed|error)",
        r"[Gg]loo connectFullMesh failed|makeDeviceForHostname|Unable to resolve hostname",
        r"NET/(?:IB|OFI|Socket).{0,60}(?:error|fail)|Call to (?:ibv_\w+|connect|bind) (?:failed|"
        r"returned).*",
    )
    what = "the transport between the processes could not start"
    why = "{said}"
    next_step = (
        "set `NCCL_SOCKET_IFNAME` to the network card on which the nodes reach each other (see "
        "`ip addr`); "
        "`NCCL_DEBUG=INFO` shows which one was chosen"
    )
    context = (r"NCCL_SOCKET_IFNAME=|NCCL WARN .*(?:fail|error|No)",)

    def accepts(self, found: Found) -> bool:
        """A lost peer is told by the same class of exception."""
        return "ncclRemoteError" not in found.text and "Watchdog" not in found.text

    def words(self, found: Found) -> dict[str, str]:
        """NCCL's last error says more than the exception's first line."""
        words = super().words(found)
        lines = [t.strip() for t in found.text.splitlines() if t.strip()]
        told = [i for i, t in enumerate(lines) if t.startswith("Last error")]
        said = lines[told[0] + 1] if told and told[0] + 1 < len(lines) else words["text"]
        return {**words, "said": said}
