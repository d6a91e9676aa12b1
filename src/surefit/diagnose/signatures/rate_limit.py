"""SF805 RATE_LIMIT."""

import re

from surefit.diagnose.signatures.hub_access import HubSignature
from surefit.diagnose.signatures.signature import Found


class RateLimited(HubSignature):
    """Too many requests to the Hub (429).

    ## What happened
    The Hub answers no more requests from this address or account for some seconds or minutes.

    ## Why
    Requests without a token share a small allowance with everybody behind the same address; many
    ranks or jobs that load at once use it up.

    ## Example
        429 Too Many Requests: you have reached your 'resolvers' rate limit. Retry after 2 seconds

    ## What to do
    Wait, and send a token (`HF_TOKEN`). Let one process download, the others read its cache.
    """

    code = "SF805"
    failure_class = "RATE_LIMIT"
    title = "Too many requests (429)"
    retryable = True
    patterns = (
        r"\b429\b.{0,40}(?:Too Many Requests|Client Error)|429 (?:error|status)|HTTP Error 429",
        r"[Rr]ate limit(?:ed)?\b.{0,60}(?:reached|exceeded|wait|retry)|reached your .{0,30}rate "
        r"limit",
        r"[Tt]oo [Mm]any [Rr]equests|had to rate limit your IP",
    )
    what = "too many requests: the Hub refused {repo} for now (429)"
    why = "{said}"
    next_step = (
        "wait {wait} and {again}; send a token (`HF_TOKEN`), requests without one are limited most"
    )

    def words(self, found: Found) -> dict[str, str]:
        """How long to wait, where the Hub says so."""
        words = super().words(found)
        after = re.search(r"[Rr]etry (?:after|in) (\d+) ?s|\bt=(\d+)", found.text)
        said = next(
            (t.strip() for t in found.text.splitlines() if "429" in t or "ate limit" in t), ""
        )
        wait = f"{after[1] or after[2]} seconds" if after else "some minutes"
        return {**words, "wait": wait, "said": said or words["text"]}
