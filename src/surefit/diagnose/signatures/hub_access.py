"""What the signatures of the Hub share: the repository that a message speaks of."""

import re

from surefit.diagnose.signatures.signature import Found, TextSignature

_URL = (
    r"https?://[\w.:-]+/(?:api/)?(?:models/|datasets/|spaces/)?(?P<repo>[\w.-]+/[\w.-]+?)(?:/"
    r"(?:resolve|tree|raw|commit|preupload|xet|revision)|[\s'\".,)]*(?:$|\s))"
)
_NAMED = (
    r"(?:model|dataset|repo(?:sitory)?|load(?:ing)?|for) ['\"`]?(?P<repo>[\w.-]+/[\w.-]+)['\"`]?"
)


class HubSignature(TextSignature):
    """A failure of the Hub: adds `{repo}` to the words."""

    def words(self, found: Found) -> dict[str, str]:
        """The repository, from the address in the message, else the model that the log names."""
        words = super().words(found)
        return {**words, "repo": _repository(found.text) or words["model"]}


def _repository(text: str) -> str | None:
    for pattern in (_URL, r"^(?P<repo>[\w.-]+/[\w.-]+) is not a local folder", _NAMED):
        for match in re.finditer(pattern, text, re.MULTILINE):
            repo = match["repo"].rstrip(".")
            if not re.match(r"(?:docs|api|settings|join|models|datasets|huggingface\.co)\b", repo):
                return repo
    return None
