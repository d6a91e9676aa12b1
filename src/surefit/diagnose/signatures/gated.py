"""SF801 GATED."""

from typing import ClassVar

from surefit.diagnose.signatures.hub_access import HubSignature


class Gated(HubSignature):
    """The model is gated, and this account has no access to it.

    ## What happened
    The Hub refused a file of a model whose licence has to be accepted first.

    ## Why
    No token was sent (401), or the token's account has not accepted the licence or was not let in
    (403).

    ## Example
        Cannot access gated repo for url https://huggingface.co/lumen-ai/Falcata-8B-Instruct/...

    ## What to do
    Open the model's page with the account that owns the token, accept the licence, then run again
    with that token. A fine-grained token also needs the right to read gated repositories.
    """

    code = "SF801"
    failure_class = "GATED"
    title = "A gated model without access"
    patterns = (
        r"(?P<status>40[13])? ?Client Error[\s\S]{0,120}Cannot access gated repo",
        r"trying to access a gated repo|[Cc]annot access gated repo|GatedRepo(?:Error)?",
        r"[Aa]ccess to (?:model|dataset) \S+ is restricted|is a gated (?:dataset|model|repo)",
        r"not in the authorized list|awaiting a review from the repo authors",
        r"(?:gated|licen[cs]e).{0,60}(?:accept|agree|ask for access|request access)",
        r"enable access to public gated repositories",
    )
    defaults: ClassVar[dict[str, str]] = {"status": ""}
    what = "{repo} is a gated model, and this account has no access to it"
    why = "the licence was not accepted by the token's account, or no token was sent: {text}"
    next_step = (
        "open https://huggingface.co/{repo}, ask for access with the account of this token, "
        "then run again "
        "with `HF_TOKEN` set"
    )
