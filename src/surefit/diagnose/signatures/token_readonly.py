"""SF804 TOKEN_READONLY."""

from surefit.diagnose.signatures.hub_access import HubSignature
from surefit.diagnose.signatures.signature import Found


class TokenReadOnly(HubSignature):
    """The token may not write where the result was to go.

    ## What happened
    The Hub knows the token and refuses the upload or the new repository (403).

    ## Why
    The token is read-only, or belongs to somebody who is no member of that organisation. It often
    shows only at the end, when the training is done.

    ## Example
        403 Forbidden: You don't have the rights to create a model under the namespace "fernworks".

    ## What to do
    Use a write token of a member, or push to your own namespace. The trained files are still on
    the disk.
    """

    code = "SF804"
    failure_class = "TOKEN_READONLY"
    title = "The token may not write"
    patterns = (
        r"(?:don't|do not) have (?:the )?rights to create .{0,40}namespace "
        r"['\"]?(?P<namespace>[\w.-]+)",
        r"403[\s\S]{0,120}(?:write|create|push|commit|preupload|upload|pull request)",
        r"(?:you must use a|requires? a|need a|use a).{0,20}write token|token (?:is|has) "
        r"(?:only )?read",
        r"(?:don't|do not|does not) have (?:the )?(?:write|push|necessary) (?:access|permission)s?",
        r"403 (?:Client Error|Forbidden)[\s\S]{0,200}(?:/api/repos/create|/preupload|/commit/|"
        r"/upload)",
        r"[Mm]ake sure your token has the correct permissions",
        r"not authorized to push|[Uu]nauthorized.{0,30}push|insufficient permissions? to "
        r"(?:push|write|create)",
    )
    what = "the token may not write to {target}"
    why = "the Hub knows the token and refuses the write (403): {said}"
    next_step = (
        "use a write token of a member of {target}, or push to your own namespace; the trained "
        "files are "
        "still on the disk"
    )

    def accepts(self, found: Found) -> bool:
        """A 403 while reading a gated model is another failure."""
        return "gated" not in found.text.lower()

    def words(self, found: Found) -> dict[str, str]:
        """The namespace that refused."""
        words = super().words(found)
        line = next(
            (t.strip() for t in found.text.splitlines() if "403" in t or "rights" in t),
            words["text"],
        )
        return {**words, "target": found.groups.get("namespace") or words["repo"], "said": line}
