"""The token: from the environment, a file that only its owner may read, or the keyring.

Never an argument, a recipe or an address. A worker gets it only where it has something to fetch.
"""

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from surefit.errors import OutsideError, WorkerExit
from surefit.hub.cache import missing_files
from surefit.hub.settings import Settings
from surefit.models.facts import ModelFacts

VARIABLES = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
KEYRING_SERVICE, KEYRING_NAME = "surefit", "hf_token"
# How a worker that fetches something reaches the Hub: proxies and certificates, as the user set them.
_WAY_OUT = frozenset(
    {
        "HF_HUB_CACHE",
        "HTTPS_PROXY",
        "HTTP_PROXY",
        "ALL_PROXY",
        "NO_PROXY",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "REQUESTS_CA_BUNDLE",
    }
)


@dataclass(frozen=True)
class Token:
    """A token and where it came from. It does not show itself."""

    value: str = field(repr=False)
    origin: str

    def __str__(self) -> str:
        return f"the token from {self.origin}"


def find_token(variables: Mapping[str, str] = os.environ) -> Token | None:
    """The first token there is: `HF_TOKEN`, the file that `hf auth login` writes, the keyring.

    Raises:
        OutsideError: it holds characters that cannot be sent.
    """
    for name in VARIABLES:
        if variables.get(name, "").strip():
            return _checked(variables[name], f"the variable {name}")
    file = token_file(variables)
    if file.is_file() and not open_to_others(file):
        try:
            text = file.read_text(encoding="utf-8", errors="replace")
        except OSError:
            text = ""
        if text.strip():
            return _checked(text, f"the file {file}")
    kept = _from_keyring()
    return _checked(kept, "the keyring") if kept else None


def token_file(variables: Mapping[str, str] = os.environ) -> Path:
    """The file that `hf auth login` writes."""
    named = variables.get("HF_TOKEN_PATH")
    return Path(named).expanduser() if named else Settings.here(variables).home / "token"


def open_to_others(file: Path) -> bool:
    """Whether anybody but the owner may read or write a file."""
    return bool(file.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO))


def unused_token(variables: Mapping[str, str] = os.environ) -> str | None:
    """Words about a token that is there and is not used, with what to do; None: there is none."""
    file = token_file(variables)
    if any(variables.get(name, "").strip() for name in VARIABLES) or not file.is_file():
        return None
    if not open_to_others(file):
        return None
    mode = stat.S_IMODE(file.stat().st_mode)
    return (
        f"the token in {file} is not used, because others may read that file (mode {mode:o}): "
        f"`chmod 600 {file}`"
    )


def worker_variables(facts: ModelFacts, variables: Mapping[str, str]) -> dict[str, str]:
    """What a worker needs beyond its own variables to fetch the plan's files; nothing where all are there.

    Args:
        facts: the plan's model.
        variables: the environment of whoever starts the worker.
    """
    if facts.hub is None or not missing_files(facts):
        return {}
    wanted = {name: value for name, value in variables.items() if name.upper() in _WAY_OUT}
    token = find_token(variables)
    return {**wanted, "HF_TOKEN": token.value} if token else wanted


def _checked(text: str, origin: str) -> Token:
    value = text.strip()
    if not value.isascii() or any(not 33 <= ord(one) <= 126 for one in value):
        raise OutsideError(
            f"{origin} holds no token that can be sent",
            f"it has {len(value)} characters, and some are white space or no ASCII: "
            "it was cut or pasted wrongly",
            "copy it again from https://huggingface.co/settings/tokens, in one piece",
            worker_exit=WorkerExit.NO_PERMISSION,
            details={"class": "TOKEN_BAD"},
        )
    return Token(value, origin)


def _from_keyring() -> str | None:
    """What `keyring set surefit hf_token` has kept; None without the package or a keyring."""
    try:
        import keyring
        import keyring.errors
    except ImportError:
        return None
    try:
        kept: str | None = keyring.get_password(KEYRING_SERVICE, KEYRING_NAME)
    except keyring.errors.KeyringError:
        return None  # locked, or no keyring on this machine
    return kept
