"""Weights: whole and verified in the cache, whatever happens on the way."""

import hashlib
import threading
import time
from pathlib import Path

import pytest
from hub_on_loopback import model_files

from surefit.errors import SurefitError, WorkerExit
from surefit.hub import fetch_weights, find_model, missing_files
from surefit.hub.client import Patience
from surefit.hub.fake import FakeHub
from surefit.models.facts import ModelFacts

WEIGHTS = model_files()["model.safetensors"]
STORED = r"GET /models/ann/tiny/\w+/model\.safetensors"
QUICK = Patience((0.05, 0.05, 0.05), 3.0, 2.0, 1.0, 60.0)


@pytest.fixture
def facts(hub: FakeHub, tmp_path: Path) -> ModelFacts:
    hub.add_model("ann/tiny", model_files())
    found = find_model("ann/tiny", tmp_path).facts
    hub.requests.clear()
    return found


def fetch(facts: ModelFacts) -> tuple[list[str], list[tuple[int, int]]]:
    said: list[str] = []
    told: list[tuple[int, int]] = []
    fetch_weights(
        facts,
        None,
        progress=lambda done, total: told.append((done, total)),
        say=said.append,
        patience=QUICK,
    )
    return said, told


def is_whole(facts: ModelFacts) -> bool:
    file = Path(facts.folder) / "model.safetensors"
    return file.read_bytes() == WEIGHTS and not missing_files(facts)


def test_weights_arrive_with_progress_under_the_name_of_their_hash(
    hub: FakeHub, facts: ModelFacts
) -> None:
    said, told = fetch(facts)
    assert is_whole(facts)
    assert said == []
    assert told[-1] == (len(WEIGHTS), len(WEIGHTS))
    assert sorted(told) == told
    digest = hashlib.sha256(WEIGHTS).hexdigest()
    assert (Path(facts.folder) / "model.safetensors").resolve().name == digest
    hub.requests.clear()
    fetch(facts)
    assert hub.requests == []


def test_a_cut_download_goes_on_where_it_was(hub: FakeHub, facts: ModelFacts) -> None:
    hub.fail(STORED, cut_after=700_000, times=1)
    hub.fail(STORED, cut_after=300_000, reset=True, times=1)
    said, told = fetch(facts)
    assert is_whole(facts)
    begun = [one.range for one in hub.requests if one.storage]
    assert begun[0] is None
    assert len(begun) == 3
    second = int(str(begun[1]).removeprefix("bytes=").rstrip("-"))
    assert 0 < second <= 700_000
    assert all("broke off" in text for text in said)
    assert told[-1] == (len(WEIGHTS), len(WEIGHTS))


def test_a_later_start_goes_on_where_an_earlier_one_gave_up(
    hub: FakeHub, facts: ModelFacts
) -> None:
    hub.fail(STORED, cut_after=600_000, times=1)
    hub.fail(STORED, status=503)
    with pytest.raises(SurefitError) as caught:
        fetch(facts)
    assert caught.value.details["class"] == "HUB_DOWN"
    assert missing_files(facts)
    hub.heal()
    hub.requests.clear()
    fetch(facts)
    assert is_whole(facts)
    (again,) = [one.range for one in hub.requests if one.storage]
    assert again is not None
    assert int(again.removeprefix("bytes=").rstrip("-")) >= 500_000


def test_a_download_that_always_breaks_without_moving_is_given_up(
    hub: FakeHub, facts: ModelFacts
) -> None:
    fault = hub.fail(STORED, cut_after=0)
    with pytest.raises(SurefitError) as caught:
        fetch(facts)
    assert fault.hits == len(QUICK.waits) + 1
    assert "broke off after 0 B of 2 MiB" in caught.value.why
    assert caught.value.worker_exit == WorkerExit.NETWORK


def test_a_stalled_download_is_taken_up_again(hub: FakeHub, facts: ModelFacts) -> None:
    hub.fail(STORED, stall_after=500_000, times=1)
    began = time.monotonic()
    fetch(facts)
    assert is_whole(facts)
    assert time.monotonic() - began < 4


def test_a_slow_download_that_moves_is_left_alone(hub: FakeHub, facts: ModelFacts) -> None:
    hub.fail(STORED, bytes_per_second=1_500_000, times=1)
    said, _ = fetch(facts)
    assert said == []
    assert is_whole(facts)


def test_a_server_that_ignores_ranges_starts_from_the_beginning(
    hub: FakeHub, facts: ModelFacts, monkeypatch: pytest.MonkeyPatch
) -> None:
    from surefit.hub.fake import answers, files

    hub.fail(STORED, cut_after=700_000, times=1)
    monkeypatch.setattr(
        files,
        "content",
        lambda _request, file, headers: answers.Answer(200, headers, file=file, end=file.size),
    )
    fetch(facts)
    assert is_whole(facts)


def test_damage_on_the_way_is_seen_by_the_hash_and_fetched_again(
    hub: FakeHub, facts: ModelFacts
) -> None:
    hub.fail(STORED, corrupt=True, times=1)
    said, told = fetch(facts)
    assert any("arrived damaged" in text for text in said)
    assert is_whole(facts)
    assert told[-1] == (len(WEIGHTS), len(WEIGHTS))


def test_damage_that_stays_is_an_error_and_leaves_nothing_that_counts(
    hub: FakeHub, facts: ModelFacts
) -> None:
    hub.fail(STORED, corrupt=True)
    with pytest.raises(SurefitError) as caught:
        fetch(facts)
    assert "arrives damaged" in caught.value.what
    assert missing_files(facts)


def test_a_half_file_of_an_earlier_version_does_not_survive(
    hub: FakeHub, facts: ModelFacts
) -> None:
    digest = hashlib.sha256(WEIGHTS).hexdigest()
    blobs = Path(facts.folder).parents[1] / "blobs"
    (blobs / f"{digest}.surefit.incomplete").write_bytes(b"x" * 1000)
    said, _ = fetch(facts)
    assert is_whole(facts)
    assert len(said) == 1


def test_two_at_once_fetch_it_once(hub: FakeHub, facts: ModelFacts) -> None:
    hub.fail(STORED, bytes_per_second=4_000_000, times=1)
    threads = [threading.Thread(target=fetch, args=(facts,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert is_whole(facts)
    assert len([one for one in hub.requests if one.storage]) == 1


def test_a_full_disk_is_told_before_a_byte_is_fetched(
    hub: FakeHub, facts: ModelFacts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("surefit.hub.fetching.free_bytes", lambda _folder: 10**6)
    with pytest.raises(SurefitError) as caught:
        fetch(facts)
    assert caught.value.worker_exit == WorkerExit.DISK
    assert "HF_HUB_CACHE" in caught.value.next_step
    assert hub.requests == []


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"gated": "manual"}, "GATED"),
        ({"private": True}, "NOT_FOUND_OR_PRIVATE"),
        ({"commits": {}}, "NOT_FOUND_OR_PRIVATE"),
    ],
    ids=["gated", "gone", "rewritten"],
)
def test_what_changed_on_the_hub_since_the_plan_is_told(
    hub: FakeHub, facts: ModelFacts, change: dict[str, object], kind: str
) -> None:
    repo = hub.repos["model", "ann/tiny"]
    for name, value in change.items():
        setattr(repo, name, value)
    with pytest.raises(SurefitError) as caught:
        fetch(facts)
    assert caught.value.details["class"] == kind


def test_the_token_goes_to_the_hub_and_never_to_the_storage(
    hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from surefit.hub import find_token

    hub.add_model("ann/tiny", model_files(), gated="auto")
    hub.add_token("hf_ann1", "ann")
    monkeypatch.setenv("HF_TOKEN", "hf_ann1")
    found = find_model("ann/tiny", tmp_path).facts
    fetch_weights(found, find_token(), progress=lambda _done, _total: None, say=print)
    assert is_whole(found)
    assert {one.token for one in hub.requests if one.storage} == {None}
    assert {one.token for one in hub.requests if not one.storage} == {"hf_ann1"}
    assert not [one for one in hub.requests if "hf_ann1" in one.path + one.query]
