"""Where a token comes from, who gets it, and that it does not show itself."""

import importlib
from pathlib import Path

import pytest
from hub_on_loopback import model_files

from surefit.errors import SurefitError
from surefit.hub import find_model, find_token, worker_variables
from surefit.hub.fake import FakeHub
from surefit.hub.token import unused_token


@pytest.fixture(autouse=True)
def nobody_logged_in(hub: FakeHub) -> FakeHub:
    return hub


def write_token(folder: Path, mode: int, text: str = "hf_file1\n") -> Path:
    file = folder / "hf" / "token"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    file.chmod(mode)
    return file


def test_there_may_be_none() -> None:
    assert find_token() is None


def test_the_environment_comes_before_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_token(tmp_path, 0o600)
    token = find_token()
    assert token is not None
    assert token.value == "hf_file1"
    assert str(tmp_path / "hf" / "token") in token.origin
    monkeypatch.setenv("HF_TOKEN", " hf_env1 ")
    token = find_token()
    assert token is not None
    assert token.value == "hf_env1"


def test_a_file_that_others_may_read_is_not_used_and_that_is_said(
    hub: FakeHub, tmp_path: Path
) -> None:
    file = write_token(tmp_path, 0o644)
    assert find_token() is None
    words = unused_token()
    assert words is not None
    assert f"chmod 600 {file}" in words
    hub.add_model("ann/it", model_files(), gated="manual")
    with pytest.raises(SurefitError) as caught:
        find_model("ann/it", tmp_path)
    assert f"chmod 600 {file}" in caught.value.why


@pytest.mark.parametrize("text", ["hf_a b", "hf_ä", "hf_a\nhf_b"])
def test_a_token_that_cannot_be_sent_is_refused_without_being_shown(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", text)
    with pytest.raises(SurefitError) as caught:
        find_token()
    assert text not in caught.value.as_text()
    assert "HF_TOKEN" in caught.value.what


def test_a_token_does_not_show_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret1")
    token = find_token()
    assert "hf_secret1" not in f"{token} {token!r}"


def test_a_worker_gets_it_only_while_it_has_something_to_fetch(
    hub: FakeHub, tmp_path: Path
) -> None:
    hub.add_model("ann/it", model_files())
    facts = find_model("ann/it", tmp_path).facts
    outer = {"HF_TOKEN": "hf_env1", "HTTPS_PROXY": "http://proxy", "OTHER_TOKEN": "x"}
    wanted = {"HF_TOKEN": "hf_env1", "HTTPS_PROXY": "http://proxy"}
    assert worker_variables(facts, outer) == wanted
    (Path(facts.folder) / "model.safetensors").write_bytes(model_files()["model.safetensors"])
    assert worker_variables(facts, outer) == {}
    assert worker_variables(find_model("starter", tmp_path).facts, outer) == {}


KEYRING = """
from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked

class Ours(KeyringBackend):
    priority = 1
    def get_password(self, service, username):
        return "hf_ring1" if (service, username) == ("surefit", "hf_token") else None

    def set_password(self, service, username, password):
        raise NotImplementedError

class Locked(Ours):
    def get_password(self, service, username):
        raise KeyringLocked("locked")
"""


@pytest.mark.parametrize(("backend", "value"), [("Ours", "hf_ring1"), ("Locked", None)])
def test_the_keyring_comes_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, backend: str, value: str | None
) -> None:
    import keyring

    (tmp_path / "our_keyring.py").write_text(KEYRING)
    monkeypatch.syspath_prepend(tmp_path)
    before = keyring.get_keyring()
    keyring.set_keyring(getattr(importlib.import_module("our_keyring"), backend)())
    try:
        token = find_token()
        assert (token.value if token else None) == value
        write_token(tmp_path, 0o600)
        first = find_token()
        assert first is not None
        assert first.value == "hf_file1"
    finally:
        keyring.set_keyring(before)
