"""The only code that talks to the Hugging Face Hub.

find_model     a recipe's model, in a folder or on the Hub, to facts; no weights are fetched
find_data      data sets that a recipe names by their Hub id, to files
fetch_weights  what a plan pinned, into the cache, each file verified
find_token     the token, from the environment, a file of mode 0600 or the keyring

Names are loaded when they are first used: a plan of a local model needs no network library.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from surefit.hub.cache import missing_files
    from surefit.hub.fetching import fetch_weights
    from surefit.hub.finding import FoundModel, find_data, find_model, refuse_unfetchable
    from surefit.hub.names import HubName
    from surefit.hub.token import Token, find_token, worker_variables

_PLACES = {
    "FoundModel": "finding",
    "HubName": "names",
    "Token": "token",
    "fetch_weights": "fetching",
    "find_data": "finding",
    "find_model": "finding",
    "find_token": "token",
    "missing_files": "cache",
    "refuse_unfetchable": "finding",
    "worker_variables": "token",
}

__all__ = [
    "FoundModel",
    "HubName",
    "Token",
    "fetch_weights",
    "find_data",
    "find_model",
    "find_token",
    "missing_files",
    "refuse_unfetchable",
    "worker_variables",
]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_PLACES[name]}"), name)
    globals()[name] = value
    return value
