"""A fake Hub, with this process pointed at it: every test of the Hub speaks real HTTP to it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from surefit.hub.fake import FakeHub
from surefit.models.starter_samples import starter_folder

_UNSET = (
    "HF_HUB_OFFLINE",
    "TRANSFORMERS_OFFLINE",
    "HF_TOKEN",
    "HUGGING_FACE_HUB_TOKEN",
    "HF_HUB_CACHE",
)
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")


@contextmanager
def hub_on_loopback(folder: Path, environment: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    """A Hub; home and cache lie in `folder`, nobody is logged in."""
    from huggingface_hub import (
        constants,
    )  # reads its address when it is loaded: not before it is known

    for name in (*_UNSET, *_PROXIES, "HUGGINGFACE_HUB_CACHE", "HF_TOKEN_PATH"):
        environment.delenv(name, raising=False)
    environment.setenv("HF_HOME", str(folder / "hf"))
    environment.setenv("SUREFIT_HOME", str(folder / "home"))
    environment.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    # The client reads this one when it is loaded, and the tests of everything else keep it offline.
    environment.setattr(constants, "HF_HUB_OFFLINE", False)
    with FakeHub() as hub:
        environment.setenv("HF_ENDPOINT", hub.url)
        yield hub


def model_files() -> dict[str, bytes]:
    """The files of the model that comes along, as a repository would hold them."""
    names = (
        "config.json",
        "generation_config.json",
        "tokenizer.json",
        "tokenizer_config.json",
        "model.safetensors",
    )
    return {name: (starter_folder() / name).read_bytes() for name in names}
