"""SF806 HUB_DOWN."""

import re

from surefit.diagnose.signatures.hub_access import HubSignature
from surefit.diagnose.signatures.signature import Found

_NETWORK = (
    r"huggingface|hf\.co|hub|httpx|httpcore|requests[/.]|urllib3|http\.client|xet|"
    r"aiohttp|s3|download"
)


class HubDown(HubSignature):
    """The Hub or the network failed.

    ## What happened
    A download, an upload or a look-up was not answered, was answered with a server error, or broke
    off.

    ## Why
    The Hub has an outage (5xx), the machine has no way out (a compute node behind a proxy), or the
    line is unstable. Libraries retry a few times and then give up.

    ## Example
        OSError: We couldn't connect to 'https://huggingface.co' to load the files

    ## What to do
    Wait and start again: finished files are kept in the cache. On a node without network, download
    the model beforehand and give its folder.
    """

    code = "SF806"
    failure_class = "HUB_DOWN"
    title = "The Hub or the network failed"
    retryable = True
    patterns = (
        r"\b50[0234]\b.{0,40}(?:Server Error|Service Unavailable|Bad Gateway|Gateway Time-?out|"
        r"Internal)",
        r"Server error '50\d",
        r"couldn't connect to .{0,80}to load the file|Couldn't reach .{0,60}on the Hub",
        r"LocalEntryNotFoundError|[Oo]ffline mode is enabled|OfflineModeIsEnabled",
        r"(?:ConnectionError|ConnectError|ConnectTimeout|ReadTimeout|ReadError|"
        r"RemoteProtocolError|ProxyError"
        r"|NewConnectionError|MaxRetryError|ChunkedEncodingError|IncompleteRead|ProtocolError|"
        r"SSLError)\b",
        r"[Cc]onnection (?:refused|timed out|aborted|reset)|Network is unreachable|No route to "
        r"host",
        r"[Nn]ame or service not known|[Tt]emporary failure in name resolution|getaddrinfo failed",
        r"(?:[Dd]ownload|[Tt]ransfer) (?:was )?(?:interrupted|broke|failed|incomplete|stalled)",
        r"Consistency check failed: file should be of size|[Rr]ead timed out|Max retries exceeded",
        r"[Dd]ata processing error: (?:CAS|Xet|File reconstruction)|CAS (?:Client|service) "
        r"[Ee]rror",
        r"SSL: |certificate verify failed|EOF occurred in violation of protocol",
    )
    what = "the Hub or the network failed while {repo} was read or written"
    why = "{said}"
    next_step = (
        "check the connection and {again} in some minutes (finished downloads are kept), or use "
        "a local "
        "copy of {repo}"
    )

    def accepts(self, found: Found) -> bool:
        """The same words about another rank's socket are no matter of the Hub."""
        if found.failure is None:
            return bool(re.search(_NETWORK, found.text, re.I))
        inside = found.failure.mentions(_NETWORK) or re.search(_NETWORK, found.text, re.I)
        distributed = re.search(r"c10d|NCCL|gloo|TCPStore|rendezvous", found.text)
        return bool(inside) and not distributed

    def words(self, found: Found) -> dict[str, str]:
        """The most telling line of the chain: the status or the network's own words."""
        words = super().words(found)
        chain = found.failure.chain if found.failure else ()
        marks = r"\b50\d\b|refused|timed out|resolution|unreachable|reset|incomplete|certificate"
        for raised in chain:
            line = re.search(rf"^.*(?:{marks}).*$", raised.text, re.MULTILINE | re.IGNORECASE)
            if line:
                return {**words, "said": f"{line[0].strip()}; then {words['text']}"}
        return {**words, "said": words["text"]}
