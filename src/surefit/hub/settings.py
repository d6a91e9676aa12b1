"""Where the Hub is, where its cache is, and whether it may be asked: the Hub's own variables."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_TRUE = frozenset({"1", "ON", "YES", "TRUE"})
ENDPOINT = "https://huggingface.co"


@dataclass(frozen=True)
class Settings:
    """The variables of the Hub, read now: `HF_ENDPOINT`, `HF_HUB_CACHE`, `HF_HOME`, `HF_HUB_OFFLINE`."""

    endpoint: str
    cache: Path
    home: Path
    offline: str | None
    """The variable that forbids to ask, or None."""

    @classmethod
    def here(cls, variables: Mapping[str, str] = os.environ) -> "Settings":
        """As this process was started."""
        home = _hub_home(variables)
        cache = variables.get("HF_HUB_CACHE") or variables.get("HUGGINGFACE_HUB_CACHE")
        return cls(
            endpoint=(variables.get("HF_ENDPOINT") or ENDPOINT).rstrip("/"),
            cache=_path(cache) if cache else home / "hub",
            home=home,
            offline=next(
                (
                    name
                    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
                    if variables.get(name, "").upper() in _TRUE
                ),
                None,
            ),
        )

    @property
    def host(self) -> str:
        """The endpoint as people say it: `huggingface.co`."""
        return self.endpoint.partition("://")[2] or self.endpoint


def _hub_home(variables: Mapping[str, str]) -> Path:
    if named := variables.get("HF_HOME"):
        return _path(named)
    cache = variables.get("XDG_CACHE_HOME")
    return (_path(cache) if cache else Path.home() / ".cache") / "huggingface"


def _path(text: str) -> Path:
    return Path(os.path.expandvars(text)).expanduser().absolute()
