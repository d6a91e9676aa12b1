"""Models of the Hub in real workers: from the id to the proof, and the ways in which that ends."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
import tiny_run
from hub_on_loopback import hub_on_loopback
from supervised import clean_home, wait_for, wait_for_state

from surefit.diagnose import diagnose, gather_evidence
from surefit.errors import WorkerExit
from surefit.hub.fake import FakeHub
from surefit.recipe import load_recipe
from surefit.runs import RunFolder, RunState
from surefit.supervise import preflight, request_stop, start, wait_for_end

pytestmark = pytest.mark.process
SLOW = 240.0
TOKEN = "Planted-Value-4711-xyz"  # of no known shape: it is known by its value alone
STORED = r"GET /models/ann/tiny/"
ASKED = r"GET /ann/tiny/resolve"
RATE_LIMITED = {"status": 429, "headers": {"Retry-After": "300"}}


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2] / "src"))
    with hub_on_loopback(tmp_path, monkeypatch) as server, clean_home(tmp_path / "home"):
        yield server


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_run.write_model(tmp_path_factory.mktemp("model"))


def write_recipe(folder: Path, hub: FakeHub, model: Path, **settings: object) -> Path:
    hub.add_model("ann/tiny", model, **settings)
    rows = [json.dumps({"messages": one}) for one in tiny_run.conversations(40)]
    hub.add_dataset("ann/rows", {"train.jsonl": "\n".join(rows) + "\n"})
    recipe = folder / "recipe.yaml"
    recipe.write_text(
        "model: ann/tiny\ndata: {train: ann/rows}\nmethod: {type: lora, rank: 4}\n"
        "goal: {epochs: 2, max_length: 128}\nhow: {threads: 1}\n"
    )
    return recipe


def watched(command: list[str], home: Path) -> tuple[subprocess.Popen[str], set[str], set[str]]:
    """A command until its end, with what the process list showed of its processes meanwhile."""
    child = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=home.parent
    )
    arguments, holders = set(), set()
    while child.poll() is None:
        for process in psutil.process_iter():
            try:
                line = " ".join(process.cmdline())
                arguments.add(line)
                if TOKEN in process.environ().values() and "surefit.train" in line:
                    holders.add(phase_of(home))
            except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
                continue
        time.sleep(0.1)
    return child, arguments, holders


def phase_of(home: Path) -> str:
    """The phase that the events of the one run name last."""
    events = [
        json.loads(line)
        for file in home.glob("runs/*/events.jsonl")
        for line in file.read_text().splitlines()
    ]
    phases = [event["name"] for event in events if event["kind"] == "phase"]
    return phases[-1] if phases else "before"


def files_with(text: str, folder: Path) -> list[Path]:
    """The files below a folder that hold a text."""
    return [
        path
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink() and text.encode() in path.read_bytes()
    ]


def test_a_recipe_of_hub_ids_becomes_a_proven_model_and_the_token_is_nowhere(
    hub: FakeHub, tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = write_recipe(tmp_path, hub, model, gated="manual")
    hub.add_token(TOKEN, "ann")
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    # Twice while the headers are read, once while the weights are fetched.
    hub.fail(STORED + r"\w+/model.safetensors", cut_after=50_000, times=3)
    hub.requests.clear()
    home = tmp_path / "home"
    command = [sys.executable, "-m", "surefit", "train", str(recipe), "--json", "--name", "hub"]
    child, arguments, holders = watched(command, home)
    output = child.stdout.read() if child.stdout else ""
    run = RunFolder(home / "runs" / "hub")
    assert child.returncode == 0, output[-3000:]
    assert run.result.is_file()
    plan = json.loads(run.plan.read_text())
    assert plan["model"]["hub"]["commit"] == hub.repos["model", "ann/tiny"].refs["main"]
    phases = [
        event.name
        for _, event in run.read_events()
        if event.kind == "phase" and event.status == "ended"
    ]
    assert phases[0] == "download"
    assert tiny_run.notes(run, "hub")  # the cut, and that it went on
    # The token: sent to the Hub, held by the worker while it fetches, and nowhere else.
    assert {one.token for one in hub.requests if not one.storage} == {TOKEN}
    assert {one.token for one in hub.requests if one.storage} == {None}
    assert holders <= {"before", "download"}
    assert not [line for line in arguments if TOKEN in line]
    assert TOKEN not in output
    assert files_with(TOKEN, tmp_path) == []
    # Whoever gets the adapter finds its base by its name, not by a path of this machine.
    adapter = json.loads((run.model / "adapter_config.json").read_text())
    assert adapter["base_model_name_or_path"] == "ann/tiny"
    assert adapter["revision"] == plan["model"]["hub"]["commit"]
    # What was fetched came from the pinned commit, and the training asked for nothing more.
    weights = hub.asked(r"GET /ann/tiny/resolve/.*model\.safetensors")
    assert len(weights) == 4  # the headers in two pieces, the cut piece, the rest


def begin(hub: FakeHub, folder: Path, model: Path) -> RunFolder:
    """A run as `start` writes it, whose worker has not begun: it is started by hand."""
    loaded = load_recipe(write_recipe(folder, hub, model))
    return start(preflight(loaded), "hub", command=(sys.executable, "-c", "raise SystemExit(75)"))


def run_worker(run: RunFolder) -> subprocess.CompletedProcess[str]:
    """The worker alone, so that nobody tries it again."""
    for stale in (run.events, run.exit):
        stale.unlink(missing_ok=True)
    environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        tiny_run.worker_command(run), capture_output=True, text=True, env=environment, check=False
    )
    run.log.write_text(done.stdout + done.stderr)
    return done


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"gated": "manual"}, "GATED"),
        ({"private": True}, "NOT_FOUND_OR_PRIVATE"),
        ({"commits": {}}, "NOT_FOUND_OR_PRIVATE"),
    ],
    ids=["gated", "private", "gone"],
)
def test_a_model_that_was_shut_after_the_plan_fails_with_its_cause(
    hub: FakeHub, tmp_path: Path, model: Path, change: dict[str, object], kind: str
) -> None:
    ready = preflight(load_recipe(write_recipe(tmp_path, hub, model)))
    for name, value in change.items():
        setattr(hub.repos["model", "ann/tiny"], name, value)
    view = wait_for_end(start(ready), SLOW)
    assert view.state is RunState.FAILED, view.run.log.read_text()[-2000:]
    assert view.diagnosis is not None
    assert view.diagnosis.failure_class == kind
    assert view.diagnosis.phase == "download"
    assert "ann/tiny" in view.diagnosis.what


@pytest.mark.parametrize(
    ("match", "damage", "kind", "code"),
    [
        (ASKED, RATE_LIMITED, "RATE_LIMIT", WorkerExit.NETWORK),
        (ASKED, {"status": 401}, "NOT_FOUND_OR_PRIVATE", WorkerExit.INPUT_MISSING),
        (STORED, {"cut_after": 0}, "HUB_DOWN", WorkerExit.NETWORK),
        (STORED, {"corrupt": True}, "HUB_DOWN", WorkerExit.NETWORK),
    ],
    ids=["rate-limit", "unknown-caller", "cut", "damaged"],
)
def test_a_worker_that_cannot_fetch_says_why(
    hub: FakeHub,
    tmp_path: Path,
    model: Path,
    match: str,
    damage: dict[str, object],
    kind: str,
    code: WorkerExit,
) -> None:
    run = begin(hub, tmp_path, model)
    wait_for_end(run, 30)
    hub.fail(match, **damage)
    done = run_worker(run)
    assert done.returncode == code, done.stderr[-2000:]
    found = diagnose(gather_evidence(run.path))
    assert found.failure_class == kind
    assert found.phase == "download"
    assert "Traceback" not in done.stderr


def test_a_stop_while_it_downloads_ends_it_at_once_and_keeps_what_came(
    hub: FakeHub, tmp_path: Path, model: Path
) -> None:
    hub_slow = hub.fail(STORED, bytes_per_second=20_000)
    run = start(preflight(load_recipe(write_recipe(tmp_path, hub, model))))
    cache = tmp_path / "hf" / "hub"
    wait_for("some bytes", lambda: any(one.stat().st_size for one in partials(cache)), SLOW)
    began = time.monotonic()
    request_stop(run)
    view = wait_for_state(run, RunState.STOPPED, seconds=10)
    assert time.monotonic() - began < 10
    assert view.cause
    assert hub_slow.hits
    assert partials(cache)[0].stat().st_size > 0


def partials(cache: Path) -> list[Path]:
    """The files that were begun and are not whole."""
    return sorted(cache.rglob("*.surefit.incomplete"))
