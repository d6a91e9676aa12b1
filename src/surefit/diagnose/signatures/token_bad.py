"""SF803 TOKEN_BAD."""

from surefit.diagnose.signatures.hub_access import HubSignature
from surefit.diagnose.signatures.signature import Found


class TokenBad(HubSignature):
    """The Hub refused the token itself.

    ## What happened
    A token was sent, and the Hub does not know it.

    ## Why
    It expired, was revoked, was cut off when it was copied, or is of another service.

    ## Example
        Invalid credentials in Authorization header

    ## What to do
    Create a new token and set `HF_TOKEN`. Without any token, public models still load.
    """

    code = "SF803"
    failure_class = "TOKEN_BAD"
    title = "The token is not valid"
    patterns = (
        r"[Ii]nvalid credentials in Authorization header",
        r"[Ii]nvalid (?:user |access |API )?token|[Tt]oken (?:is |has )?(?:invalid|expired|been "
        r"revoked)",
        r"[Uu]ser [Aa]ccess [Tt]oken .{0,40}(?:expired|invalid)|BadToken",
        r"(?:Illegal header value|Header value).{0,30}Bearer",
        r"401[\s\S]{0,200}(?:/api/whoami|[Ii]nvalid username or password[\s\S]{0,40}whoami)",
        r"LocalTokenNotFoundError|Token is required .{0,60}but no token found",
    )
    what = "the Hub refused the token itself while {repo} was read"
    why = "it is wrong, expired or cut off: {said}"
    next_step = "create a new token at https://huggingface.co/settings/tokens and set `HF_TOKEN`"

    def words(self, found: Found) -> dict[str, str]:
        """The Hub's own sentence."""
        said = next(
            (t.strip() for t in found.text.splitlines() if "oken" in t or "redential" in t), ""
        )
        words = super().words(found)
        return {**words, "said": said or words["text"]}
