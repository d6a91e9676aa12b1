"""A model by its Hub id: facts before any weights, pinned, kept; each refusal in its own words."""

import json
import struct
import time
from pathlib import Path
from typing import Any

import pytest
from hub_on_loopback import model_files

from surefit.errors import ExitCode, SurefitError, WorkerExit
from surefit.hub import find_model, missing_files, refuse_unfetchable
from surefit.hub.fake import FakeHub
from surefit.models import read_model_facts
from surefit.models.starter_samples import starter_folder

SHARED = {"source", "folder", "hub"}


def refused(source: str, folder: Path) -> SurefitError:
    began = time.monotonic()
    with pytest.raises(SurefitError) as caught:
        find_model(source, folder)
    assert time.monotonic() - began < 5
    return caught.value


def sharded(files: dict[str, bytes], count: int = 3) -> dict[str, bytes]:
    """The same weights in several files with an index."""
    whole = files.pop("model.safetensors")
    (length,) = struct.unpack("<Q", whole[:8])
    header: dict[str, Any] = json.loads(whole[8 : 8 + length])
    header.pop("__metadata__", None)
    names, index = sorted(header), {}
    for number in range(count):
        part, body = {}, b""
        for name in names[number::count]:
            begin, end = header[name]["data_offsets"]
            content = whole[8 + length + begin : 8 + length + end]
            part[name] = {**header[name], "data_offsets": [len(body), len(body) + len(content)]}
            body += content
            index[name] = f"model-{number + 1:05}-of-{count:05}.safetensors"
        text = json.dumps(part).encode()
        files[f"model-{number + 1:05}-of-{count:05}.safetensors"] = (
            struct.pack("<Q", len(text)) + text + body
        )
    files["model.safetensors.index.json"] = json.dumps({"weight_map": index}).encode()
    return files


def test_the_facts_are_those_of_the_same_model_in_a_folder(hub: FakeHub, tmp_path: Path) -> None:
    repo = hub.add_model("ann/tiny", model_files())
    found = find_model("ann/tiny", tmp_path)
    local = read_model_facts("starter", tmp_path)
    assert found.facts.model_dump(exclude=SHARED) == local.model_dump(exclude=SHARED)
    origin = found.facts.hub
    assert origin is not None
    assert origin.commit == repo.refs["main"]
    assert origin.download_bytes == len(model_files()["model.safetensors"])
    assert [file.path for file in missing_files(found.facts)] == ["model.safetensors"]
    assert (found.folder / "tokenizer.json").read_bytes() == model_files()["tokenizer.json"]


def test_no_weights_are_fetched_but_the_first_bytes(hub: FakeHub, tmp_path: Path) -> None:
    hub.add_model("ann/tiny", model_files())
    find_model("ann/tiny", tmp_path)
    asked = [one.range for one in hub.asked(r"model\.safetensors")]
    assert asked == ["bytes=0-99999"] * 2  # the Hub, and its storage after the redirect


def test_sharded_weights_and_a_header_longer_than_usual(hub: FakeHub, tmp_path: Path) -> None:
    files = sharded(model_files())
    whole = files["model-00001-of-00003.safetensors"]
    (length,) = struct.unpack("<Q", whole[:8])
    longer = whole[8 : 8 + length] + b" " * 250_000
    files["model-00001-of-00003.safetensors"] = (
        struct.pack("<Q", len(longer)) + longer + whole[8 + length :]
    )
    hub.add_model("ann/parts", files)
    facts = find_model("ann/parts", tmp_path).facts
    assert facts.parameters == read_model_facts("starter", tmp_path).parameters
    assert len(facts.weight_files) == 3
    ranges = [one.range for one in hub.asked(r"-00001-of.*safetensors") if one.storage]
    assert ranges == ["bytes=0-99999", f"bytes=100000-{7 + len(longer)}"]


def test_a_second_look_asks_only_which_commit_it_is(hub: FakeHub, tmp_path: Path) -> None:
    repo = hub.add_model("ann/tiny", model_files())
    first = find_model("ann/tiny", tmp_path).facts
    hub.requests.clear()
    assert find_model("ann/tiny", tmp_path).facts == first
    assert [one.path for one in hub.requests] == ["/api/models/ann/tiny/revision/main"]
    hub.requests.clear()
    pinned = find_model(f"ann/tiny@{repo.refs['main']}", tmp_path).facts
    assert pinned.hub is not None
    assert pinned.hub.commit == repo.refs["main"]
    assert hub.requests == []  # a commit never changes


def test_a_branch_is_pinned_to_its_commit_of_now(hub: FakeHub, tmp_path: Path) -> None:
    from surefit.hub.fake.hub import stored_files

    repo = hub.add_model("ann/tiny", model_files())
    old = repo.refs["main"]
    repo.commit(stored_files({**model_files(), "README.md": b"new"}), "dev")
    assert find_model("ann/tiny@dev", tmp_path).facts.hub.commit == repo.refs["dev"]  # type: ignore[union-attr]
    assert find_model("ann/tiny", tmp_path).facts.hub.commit == old  # type: ignore[union-attr]


def test_files_that_another_client_has_fetched_are_used(hub: FakeHub, tmp_path: Path) -> None:
    from huggingface_hub import snapshot_download

    hub.add_model("ann/tiny", model_files())
    snapshot_download("ann/tiny", endpoint=hub.url, cache_dir=tmp_path / "hf" / "hub", token=False)
    facts = find_model("ann/tiny", tmp_path).facts
    assert missing_files(facts) == ()
    assert facts.hub is not None
    assert facts.hub.download_bytes == 0


def test_what_surefit_has_fetched_is_used_by_another_client(hub: FakeHub, tmp_path: Path) -> None:
    from huggingface_hub import hf_hub_download

    hub.add_model("ann/tiny", model_files())
    folder = find_model("ann/tiny", tmp_path).folder
    cache = tmp_path / "hf" / "hub"
    again = hf_hub_download("ann/tiny", "config.json", cache_dir=cache, local_files_only=True)
    assert Path(again) == folder / "config.json"


CASES = {
    "gated": ({"gated": "manual"}, None, "GATED", "is gated", "accept its licence"),
    "gated-not-let-in": ({"gated": "manual"}, "hf_bob1", "GATED", "is gated", "ask for access"),
    "gated-fine-grained": ({"gated": "auto"}, "hf_fine1", "GATED", "is gated", "gated repositories"),
    "private": ({"private": True}, None, "NOT_FOUND_OR_PRIVATE", "there is no model", "set `HF_TOKEN`"),
    "private-to-others": ({"private": True}, "hf_bob1", "NOT_FOUND_OR_PRIVATE", "there is no model", "member of ann"),
    "disabled": ({"disabled": True}, None, "PERMISSION", "is disabled", "choose another"),
    "bad-token": ({}, "hf_nobody1", "TOKEN_BAD", "token from the variable HF_TOKEN", "make a new one"),
    "expired-token": ({}, "hf_old1", "TOKEN_BAD", "does not accept the token", "unset HF_TOKEN"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_each_refusal_has_its_own_cause_and_next_step(
    hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    settings, token, kind, what, step = CASES[case]
    hub.add_model("ann/it", model_files(), **settings)  # type: ignore[arg-type]
    hub.add_token("hf_bob1", "bob")
    hub.add_token("hf_fine1", "cid", "fineGrained", reads_gated=False)
    hub.add_token("hf_old1", "ann", expired=True)
    if token:
        monkeypatch.setenv("HF_TOKEN", token)
    error = refused("ann/it", tmp_path)
    assert error.details["class"] == kind
    assert what in error.what
    assert step in error.next_step
    assert error.where == "model"
    assert "hf_" not in error.as_text()


def test_those_who_may_see_it_do(
    hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.add_model("ann/it", model_files(), gated="manual", private=True, readers={"bob"})
    hub.add_token("hf_bob1", "bob")
    monkeypatch.setenv("HF_TOKEN", "hf_bob1")
    origin = find_model("ann/it", tmp_path).facts.hub
    assert origin is not None
    assert origin.access == "private"


def test_a_misspelt_name_and_a_revision_that_is_not_there(hub: FakeHub, tmp_path: Path) -> None:
    hub.add_model("ann/tiny", model_files())
    missing = refused("ann/tinny", tmp_path)
    assert missing.exit_code == ExitCode.USAGE
    assert "search=tinny" in missing.next_step
    revision = refused("ann/tiny@v9", tmp_path)
    assert "'v9'" in revision.what
    assert revision.worker_exit == WorkerExit.INPUT_MISSING


def test_a_data_set_is_named_as_one(hub: FakeHub, tmp_path: Path) -> None:
    hub.add_dataset("ann/rows", {"train.jsonl": "{}"})
    error = refused("ann/rows", tmp_path)
    assert "is a data set" in error.what
    assert "data.train: ann/rows" in error.next_step


CONTENTS = {
    "gguf": ({"m.gguf": b"GGUF"}, "m.gguf", "original model"),
    "gguf-with-config": ({"config.json": b"{}", "m.gguf": b"GGUF"}, "m.gguf", "original model"),
    "pickle": ({"config.json": b"{}", "pytorch_model.bin": b"x"}, "pytorch_model.bin", "refs/pr/"),
    "adapter": ({"adapter_config.json": b"{}", "adapter_model.safetensors": b"x"}, "adapter", "base model"),
    "pipeline": ({"model_index.json": b"{}", "unet/x.safetensors": b"x"}, "pipeline", "ForCausalLM"),
    "inner": ({"big/config.json": b"{}"}, "no config.json", "--include 'big/*'"),
    "empty": ({"README.md": b"x"}, "no config.json", "/tree"),
    "no-weights": ({"config.json": b"{}"}, "no weights", "/tree"),
}  # fmt: skip


@pytest.mark.parametrize("case", CONTENTS)
def test_what_is_no_model_is_called_what_it_is(hub: FakeHub, tmp_path: Path, case: str) -> None:
    files, what, step = CONTENTS[case]
    hub.add_model("ann/it", files)
    error = refused("ann/it", tmp_path)
    assert error.exit_code == ExitCode.NO
    assert what in error.what
    assert step in error.next_step
    assert hub.asked(r"resolve") == []  # not a byte of it is fetched


def test_damage_in_the_repository_is_told_to_its_publisher(hub: FakeHub, tmp_path: Path) -> None:
    files = model_files()
    files["model.safetensors"] = files["model.safetensors"][:-100]
    hub.add_model("ann/cut", files)
    error = refused("ann/cut", tmp_path)
    assert "is cut off" in error.what
    assert "/discussions" in error.next_step


def test_a_config_that_steers_the_libraries_is_refused(hub: FakeHub, tmp_path: Path) -> None:
    files = model_files()
    config = {**json.loads(files["config.json"]), "_attn_implementation_internal": "a/b"}
    hub.add_model("ann/evil", {**files, "config.json": json.dumps(config)})
    assert "CVE-2026-4372" in refused("ann/evil", tmp_path).why


def test_python_files_of_a_repository_are_never_fetched(hub: FakeHub, tmp_path: Path) -> None:
    hub.add_model("ann/tiny", {**model_files(), "modeling_evil.py": b"raise SystemExit"})
    found = find_model("ann/tiny", tmp_path)
    assert hub.asked(r"\.py") == []
    assert not list(found.folder.rglob("*.py"))


def test_names_that_lead_out_of_the_cache_are_not_written(hub: FakeHub, tmp_path: Path) -> None:
    hub.add_model("ann/tiny", {**model_files(), "../../../evil.json": b"x", "/abs.json": b"x"})
    found = find_model("ann/tiny", tmp_path).facts
    assert found.hub is not None
    assert all(".." not in one.path and not one.path.startswith("/") for one in found.hub.files)


def test_a_folder_is_read_without_asking_anybody(hub: FakeHub, tmp_path: Path) -> None:
    facts = find_model(str(starter_folder()), tmp_path).facts
    assert facts.hub is None
    with pytest.raises(SurefitError):
        find_model("chats.jsonl", tmp_path)
    assert hub.requests == []


def test_a_start_without_network_or_room_is_refused_before_it(
    hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.add_model("ann/tiny", model_files())
    facts = find_model("ann/tiny", tmp_path).facts
    refuse_unfetchable(facts)
    monkeypatch.setattr("surefit.hub.fetching.free_bytes", lambda _folder: 1000)
    with pytest.raises(SurefitError) as full:
        refuse_unfetchable(facts)
    assert full.value.worker_exit == WorkerExit.DISK
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(SurefitError) as offline:
        refuse_unfetchable(facts)
    assert "HF_HUB_OFFLINE" in offline.value.what
