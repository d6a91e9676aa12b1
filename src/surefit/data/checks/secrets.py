"""The forms of secrets. What matches is told by its kind and never shown."""

import re

_FORMS = (
    ("a GitHub token", r"\bgh[pousr]_[A-Za-z0-9]{30,}"),
    ("a GitHub token", r"\bgithub_pat_[A-Za-z0-9_]{40,}"),
    ("a Hugging Face token", r"\bhf_[A-Za-z0-9]{30,}"),
    ("an AWS access key", r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    ("an API key", r"\bsk-(?:ant-|proj-)?[A-Za-z0-9_-]{20,}"),
    ("a Google API key", r"\bAIza[A-Za-z0-9_-]{35}"),
    ("a Slack token", r"\bxox[abprs]-[A-Za-z0-9-]{10,}"),
    ("a Stripe key", r"\b[rs]k_live_[A-Za-z0-9]{16,}"),
    ("a private key", r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----"),
    ("a JSON web token", r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    ("a password in an address", r"\b[a-z][a-z0-9+.-]*://[^\s:/@]+:[^\s/@]{6,}@[\w.-]+"),
)
_ANY = re.compile("|".join(form for _, form in _FORMS))
_EACH = tuple((kind, re.compile(form)) for kind, form in _FORMS)
# Every form has one of these; looking for them costs a tenth of the forms.
_HINTS = ("_", "AKIA", "ASIA", "sk-", "AIza", "xox", "PRIVATE KEY", "eyJ", "://")
_WITH_UNDERSCORE = ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "hf_", "k_live_")


def secret_in(text: str) -> str | None:
    """The kind of the first secret in a text, or None."""
    if not _has_hint(text) or _ANY.search(text) is None:
        return None
    return next((kind for kind, form in _EACH if form.search(text)), None)


def _has_hint(text: str) -> bool:
    for hint in _HINTS:  # noqa: SIM110 - a generator takes longer than the search
        if hint in text and (hint != "_" or any(one in text for one in _WITH_UNDERSCORE)):
            return True
    return False
