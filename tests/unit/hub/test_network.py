"""What passes is tried again and said, within a bound; what does not pass is told at once."""

import socket
import time
from pathlib import Path

import pytest
from hub_on_loopback import model_files

from surefit.errors import SurefitError, WorkerExit
from surefit.hub import find_model
from surefit.hub.fake import FakeHub

INFO = r"GET /api/models/ann/tiny/"


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture(autouse=True)
def model(hub: FakeHub) -> FakeHub:
    hub.add_model("ann/tiny", model_files())
    return hub


def refused(folder: Path, said: list[str], seconds: float = 5.5) -> SurefitError:
    began = time.monotonic()
    with pytest.raises(SurefitError) as caught:
        find_model("ann/tiny", folder, say=said.append)
    assert time.monotonic() - began < seconds
    return caught.value


@pytest.mark.parametrize("status", [408, 500, 502, 503, 504])
def test_a_server_error_that_passes_is_survived_and_said(
    hub: FakeHub, tmp_path: Path, said: list[str], status: int
) -> None:
    hub.fail(INFO, status=status, times=1)
    assert find_model("ann/tiny", tmp_path, say=said.append).remark == ""
    assert any(str(status) in text and "try 2 of 3" in text for text in said)


def test_a_server_error_that_stays_is_an_error_after_a_few_tries(
    hub: FakeHub, tmp_path: Path, said: list[str]
) -> None:
    fault = hub.fail(INFO, status=503)
    error = refused(tmp_path, said)
    assert fault.hits == 3
    assert error.details["class"] == "HUB_DOWN"
    assert error.worker_exit == WorkerExit.NETWORK
    assert "503" in error.why


def test_retry_after_is_honoured_where_it_is_short(
    hub: FakeHub, tmp_path: Path, said: list[str]
) -> None:
    hub.fail(INFO, status=429, headers={"Retry-After": "1"}, times=1)
    began = time.monotonic()
    find_model("ann/tiny", tmp_path, say=said.append)
    assert time.monotonic() - began >= 1
    assert any("429" in text or "made to fail" in text for text in said)


@pytest.mark.parametrize(
    "headers", [{"Retry-After": "55"}, {"RateLimit": '"api";r=0;t=55'}], ids=["after", "limit"]
)
def test_a_long_rate_limit_is_told_at_once_with_its_time(
    hub: FakeHub, tmp_path: Path, said: list[str], headers: dict[str, str]
) -> None:
    fault = hub.fail(INFO, status=429, headers=headers)
    error = refused(tmp_path, said, seconds=1)
    assert fault.hits == 1
    assert error.details["class"] == "RATE_LIMIT"
    assert "55 s" in error.next_step
    assert "HF_TOKEN" in error.next_step


@pytest.mark.parametrize(
    "damage", [{"delay_seconds": 8}, {"stall_after": 0}], ids=["mute", "stalled"]
)
def test_a_server_that_says_nothing_is_given_up(
    hub: FakeHub, tmp_path: Path, said: list[str], damage: dict[str, float]
) -> None:
    hub.fail(INFO, **damage)
    assert "timed out" in refused(tmp_path, said).why


@pytest.mark.parametrize("reset", [True, False])
def test_a_broken_connection_is_tried_again(
    hub: FakeHub, tmp_path: Path, said: list[str], reset: bool
) -> None:
    hub.fail(INFO, cut_after=0, reset=reset, times=1)
    hub.fail(r"resolve.*tokenizer.json", cut_after=70_000, reset=reset, times=1)
    hub.fail(r"GET /models/.*safetensors", cut_after=20, reset=reset, times=1)
    assert find_model("ann/tiny", tmp_path, say=said.append).facts.parameters.total > 10**6
    assert len(said) > 3


def nobody_there() -> str:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}"


@pytest.mark.parametrize("where", ["nobody", "no-such-name"])
def test_no_network_is_told_with_the_way_without_it(
    tmp_path: Path, said: list[str], monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv(
        "HF_ENDPOINT", nobody_there() if where == "nobody" else "http://no-such-name.invalid"
    )
    error = refused(tmp_path, said)
    assert error.details["class"] == "HUB_DOWN"
    assert "name a folder" in error.next_step


def test_without_network_the_cache_is_used_and_that_is_said(
    hub: FakeHub, tmp_path: Path, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    online = find_model("ann/tiny", tmp_path).facts
    monkeypatch.setenv("HF_ENDPOINT", nobody_there())
    found = find_model("ann/tiny", tmp_path, say=said.append)
    assert found.facts.parameters == online.parameters
    assert "from the cache" in found.remark
    assert "did not answer" in found.remark
    assert online.hub is not None
    assert online.hub.commit[:7] in found.remark
    assert found.remark in said


@pytest.mark.parametrize("variable", ["HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"])
def test_offline_asks_nobody(
    hub: FakeHub, tmp_path: Path, said: list[str], monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    find_model("ann/tiny", tmp_path)
    hub.requests.clear()
    monkeypatch.setenv(variable, "1")
    assert variable in find_model("ann/tiny", tmp_path, say=said.append).remark
    with pytest.raises(SurefitError) as caught:
        find_model("ann/other", tmp_path)
    assert variable in caught.value.what
    assert "hf download ann/other" in caught.value.next_step
    assert hub.requests == []


@pytest.mark.parametrize("lacking", ["model.safetensors", "config.json"])
def test_a_part_that_another_client_has_fetched_is_not_taken_for_the_whole(
    hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lacking: str
) -> None:
    from huggingface_hub import snapshot_download

    cache = tmp_path / "hf" / "hub"
    snapshot_download(
        "ann/tiny", endpoint=hub.url, cache_dir=cache, ignore_patterns=[lacking], token=False
    )
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(SurefitError) as caught:
        find_model("ann/tiny", tmp_path)
    assert "HF_HUB_OFFLINE" in caught.value.what
    assert ("weights" if "model" in lacking else lacking) in caught.value.why
    monkeypatch.delenv("HF_HUB_OFFLINE")
    hub.fail(r".", status=503)
    with pytest.raises(SurefitError) as caught:
        find_model("ann/tiny", tmp_path)
    assert "503" in caught.value.why
    hub.heal()
    assert find_model("ann/tiny", tmp_path).facts.parameters.total > 10**6


def test_a_refusal_is_no_missing_network_although_the_cache_has_it(
    hub: FakeHub, tmp_path: Path, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    find_model("ann/tiny", tmp_path)
    monkeypatch.setenv("HF_TOKEN", "hf_wrong1")
    assert refused(tmp_path, said).details["class"] == "TOKEN_BAD"


@pytest.mark.parametrize("status", [404, 302])
def test_something_else_that_answers_is_not_called_the_hub(
    hub: FakeHub, tmp_path: Path, said: list[str], status: int
) -> None:
    hub.fail(INFO, status=status, headers={"Location": f"{hub.url}/login"} if status == 302 else {})
    error = refused(tmp_path, said)
    assert "is not the Hugging Face Hub" in error.what
    assert "proxy" in error.next_step


def test_a_page_instead_of_json_is_not_the_hub(
    hub: FakeHub, tmp_path: Path, said: list[str]
) -> None:
    hub.fail(INFO, status=200, headers={"Content-Type": "text/html"}, message="<html>")
    assert "is not the Hugging Face Hub" in refused(tmp_path, said).what
