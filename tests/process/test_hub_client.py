"""The installed huggingface_hub against the fake Hub: it works with it, and what it raises is understood."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from surefit.diagnose import diagnose, gather_evidence

pytestmark = pytest.mark.process
TESTS = Path(__file__).parents[1]
CASES = (
    "GATED-no-token",
    "GATED-not-let-in",
    "GATED-data",
    "NOT_FOUND_OR_PRIVATE-missing",
    "NOT_FOUND_OR_PRIVATE-with-token",
    "NOT_FOUND_OR_PRIVATE-revision",
    "TOKEN_BAD",
    "TOKEN_READONLY-create",
    "TOKEN_READONLY-upload",
    "RATE_LIMIT",
    "HUB_DOWN",
    "HUB_DOWN-cut",
    "HUB_DOWN-refused",
)
WORKS = """
import os, sys
from pathlib import Path
from hub_on_loopback import model_files
from surefit.hub.fake import FakeHub

folder = Path(sys.argv[1])
with FakeHub() as hub:
    os.environ.update(HF_ENDPOINT=hub.url, HF_HOME=str(folder / "cache"), HF_HUB_DISABLE_XET="1")
    from huggingface_hub import HfApi, hf_hub_download, snapshot_download

    files = model_files()
    repo = hub.add_model("ann/tiny", files, gated="auto")
    hub.add_dataset("ann/rows", {"a/train.jsonl": "{}", "README.md": "x"})
    hub.add_token("hf_ann1", "ann", role="write", orgs=("club",))
    hub.add_token("hf_fine1", "cid", role="fineGrained", scopes=("repo.content.read",))
    api = HfApi(token="hf_ann1")
    info = api.model_info("ann/tiny", files_metadata=True)
    assert info.sha == repo.refs["main"] and info.gated == "auto"
    assert {s.rfilename: s.size for s in info.siblings} == {k: len(v) for k, v in files.items()}
    place = Path(snapshot_download("ann/tiny", token="hf_ann1"))
    assert {f.name: f.read_bytes() for f in place.iterdir()} == files
    assert api.get_safetensors_metadata("ann/tiny").parameter_count == {"BF16": 1115264}
    assert api.file_exists("ann/tiny", "config.json") and not api.file_exists("ann/tiny", "no.json")
    assert sorted(f.path for f in api.list_repo_tree("ann/rows", repo_type="dataset")) == ["README.md", "a"]
    assert hf_hub_download("ann/rows", "a/train.jsonl", repo_type="dataset")
    assert [b.name for b in api.list_repo_refs("ann/tiny").branches] == ["main"]
    me = api.whoami()
    assert me["name"] == "ann" and me["auth"]["accessToken"]["role"] == "write"
    fine = HfApi(token="hf_fine1").whoami()["auth"]["accessToken"]["fineGrained"]
    assert fine["scoped"][0]["permissions"] == ["repo.content.read"]
    api.auth_check("ann/tiny"); api.auth_check("ann/tiny", write=True)
    assert api.create_repo("club/new", private=True).repo_id == "club/new"
    assert api.create_repo("club/new", exist_ok=True).repo_id == "club/new"
    api.upload_folder(repo_id="club/new", folder_path=place)
    new = hub.repos["model", "club/new"]
    stored = {path: file.read() for path, file in new.commits[new.refs["main"]].items()}
    assert stored == files
    api.delete_file("config.json", repo_id="club/new")
    assert "config.json" not in new.commits[new.refs["main"]]
    hub.fail(r"GET /models/club/new", cut_after=700_000, times=1)
    again = Path(hf_hub_download("club/new", "model.safetensors", token="hf_ann1"))
    assert again.read_bytes() == files["model.safetensors"]
    assert {one.token for one in hub.requests if one.storage} == {None}
print("all of it works")
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    paths = os.pathsep.join([str(TESTS), str(TESTS.parent / "src")])
    return subprocess.run(
        [sys.executable, *arguments, str(folder)],
        env={**kept, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def test_the_real_client_reads_and_writes_on_the_fake_hub(tmp_path: Path) -> None:
    done = run(tmp_path, "-c", WORKS)
    assert "all of it works" in done.stdout, done.stderr[-3000:]


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("logs")
    done = run(folder, str(TESTS / "hub_client_cases.py"))
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


@pytest.mark.parametrize("case", CASES)
def test_what_the_real_client_raises_is_diagnosed(logs: Path, case: str) -> None:
    log = (logs / case / "log.txt").read_text()
    assert "Traceback" in log, log
    found = diagnose(gather_evidence(logs / case))
    assert found.failure_class == case.partition("-")[0], log[-1500:]
