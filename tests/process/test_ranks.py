"""Several ranks for real: the same learning as one process, and what happens when one of them dies."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tiny_run import (
    FULL,
    losses,
    metrics,
    notes,
    problems,
    run_worker,
    worker_command,
    write_model,
    write_run,
)

from surefit.diagnose import diagnose, gather_evidence
from surefit.errors import WorkerExit
from surefit.runs.checkpoints import is_whole
from surefit.runs.folder import RunFolder
from surefit.runs.result import Effective, Heartbeat, Rehearsal, Result

pytestmark = pytest.mark.process

FAULTY = Path(__file__).parents[1] / "rank_faults.py"
SLOW = 240.0
DDP: dict[str, Any] = {"strategy": "ddp", "ranks": 2, "accumulation": 1}
FSDP: dict[str, Any] = {"strategy": "fsdp", "ranks": 2, "accumulation": 1}
# The last step of an epoch has one row: one rank has none.
ROWS = 17


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("model"))


def done(folder: Path, model: Path, **changes: Any) -> RunFolder:
    """A run that was trained to its end."""
    run = write_run(folder, model, rows=ROWS, eval_rows=5, **changes)
    ended = run_worker(run, SLOW)
    assert ended.returncode == 0, ended.stdout[-3000:] + ended.stderr[-3000:]
    return run


@pytest.fixture(scope="module")
def single(tmp_path_factory: pytest.TempPathFactory, model: Path) -> RunFolder:
    return done(tmp_path_factory.mktemp("single"), model, eval_every_steps=2)


@pytest.fixture(scope="module")
def ddp(tmp_path_factory: pytest.TempPathFactory, model: Path) -> RunFolder:
    folder = tmp_path_factory.mktemp("ddp")
    return done(folder, model, **DDP, eval_every_steps=2, rehearse=True)


@pytest.fixture(scope="module")
def fsdp(tmp_path_factory: pytest.TempPathFactory, model: Path) -> RunFolder:
    folder = tmp_path_factory.mktemp("fsdp")
    return done(folder, model, **FSDP, eval_every_steps=2, rehearse=True)


def weights_of(run: RunFolder) -> dict[str, Any]:
    from safetensors.torch import load_file

    (file,) = run.model.glob("*.safetensors")
    return load_file(file)


def assert_same_learning(one: RunFolder, other: RunFolder, most: float = 1e-6) -> None:
    """Same losses, same tokens, same weights, up to rounding."""
    assert losses(one) == pytest.approx(losses(other), abs=most)
    assert [m.gradient_norm for m in metrics(one)] == pytest.approx(
        [m.gradient_norm for m in metrics(other)], abs=10 * most
    )
    assert [m.loss for m in metrics(one, "eval")] == pytest.approx(
        [m.loss for m in metrics(other, "eval")], abs=most
    )
    assert [(m.tokens, m.trained_tokens) for m in metrics(one)] == [
        (m.tokens, m.trained_tokens) for m in metrics(other)
    ]
    mine, theirs = weights_of(one), weights_of(other)
    assert mine.keys() == theirs.keys()
    for name, weight in mine.items():
        assert weight.shape == theirs[name].shape, name
        assert float((weight - theirs[name]).abs().max()) <= most, name


def test_ddp_learns_what_one_process_learns(single: RunFolder, ddp: RunFolder) -> None:
    assert_same_learning(single, ddp)


def test_fsdp_learns_what_one_process_learns(single: RunFolder, fsdp: RunFolder) -> None:
    assert_same_learning(single, fsdp)


def test_fsdp_trains_all_weights_as_one_process_does(tmp_path: Path, model: Path) -> None:
    setting = {"method": FULL, "learning_rate": 1e-3}
    alone = done(tmp_path / "alone", model, **setting)
    assert_same_learning(alone, done(tmp_path / "fsdp", model, **setting, **FSDP), 2e-6)


def test_ranks_and_passes_may_be_cut_in_any_way(
    tmp_path: Path, model: Path, single: RunFolder
) -> None:
    small = {"micro_batch": 1, "accumulation": 4, "layout": "padded", "eval_every_steps": 2}
    assert_same_learning(single, done(tmp_path, model, **{**DDP, **small}))


@pytest.mark.parametrize("strategy", ["ddp", "fsdp"])
def test_what_ran_is_read_from_the_live_objects(
    strategy: str, request: pytest.FixtureRequest
) -> None:
    run: RunFolder = request.getfixturevalue(strategy)
    found = run.read(run.effective, Effective)
    assert found
    assert not found.differences
    real = found.effective
    assert (real["strategy"], real["ranks"], real["collectives"]) == (strategy, 2, "gloo")
    assert real["held_by_each_rank"] == ("1/2" if strategy == "fsdp" else "1/1")
    assert real["batch"] == 8
    assert real["steps"] == 6


@pytest.mark.parametrize("strategy", ["ddp", "fsdp"])
def test_a_run_of_ranks_is_rehearsed_and_proven(
    strategy: str, request: pytest.FixtureRequest
) -> None:
    run: RunFolder = request.getfixturevalue(strategy)
    rehearsal = run.read(run.path / "rehearsal.json", Rehearsal)
    result = run.read(run.result, Result)
    assert rehearsal
    assert result
    assert all(check.passed for check in rehearsal.checks)
    assert result.verification.max_difference <= result.verification.tolerance
    assert result.verification.change_from_base > 0
    beats = [run.read(run.heartbeat(rank), Heartbeat) for rank in (0, 1)]
    assert [beat.rank for beat in beats if beat] == [0, 1]
    (step,) = run.checkpoints.glob("step-6")
    assert is_whole(step)
    own = {"rng_state_0.pth", "rng_state_1.pth"}
    if strategy == "fsdp":
        own |= {"optimizer_0.pt", "optimizer_1.pt"}
    assert own <= {file.name for file in step.iterdir()}


def wait_for(what: Callable[[], Any], worker: "subprocess.Popen[bytes]") -> None:
    end = time.monotonic() + SLOW
    while not what():
        assert time.monotonic() < end, "waited too long"
        assert worker.poll() is None, "it ended before"
        time.sleep(0.02)


def begin(run: RunFolder, *command: str) -> "subprocess.Popen[bytes]":
    (run.path / "log").mkdir(exist_ok=True)
    with run.log.open("wb") as log:
        return subprocess.Popen(command or worker_command(run), stdout=log, stderr=log)


def ranks_of(parent: int) -> list[int]:
    """Process ids of the ranks, in their order."""
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    return [int(child) for child in children]


def is_gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] in "ZX"
    except OSError:
        return True


@pytest.mark.parametrize("strategy", [DDP, FSDP], ids=["ddp", "fsdp"])
def test_a_killed_run_of_ranks_goes_on_as_if_it_had_not_been(
    tmp_path: Path, model: Path, strategy: dict[str, Any]
) -> None:
    setting = {"epochs": 14, "checkpoint_every_steps": 4, **strategy}
    whole = done(tmp_path / "whole", model, **setting)
    run = write_run(tmp_path / "killed", model, rows=ROWS, eval_rows=5, **setting)
    worker = begin(run)
    wait_for(lambda: list(run.checkpoints.glob("step-*[48]")) and len(metrics(run)) >= 6, worker)
    members = ranks_of(worker.pid)
    worker.kill()
    worker.wait()
    end = time.monotonic() + 3
    while not all(is_gone(pid) for pid in members):
        assert time.monotonic() < end, "a rank outlives its parent"
        time.sleep(0.02)
    assert len(metrics(run)) < 42, "it was over before it was killed"
    assert run_worker(run, SLOW).returncode == 0
    assert notes(run, "resumed")
    by_step = {m.step: m.loss for m in metrics(run)}
    assert [by_step[m.step] for m in metrics(whole)] == pytest.approx(losses(whole), abs=1e-6)
    mine, theirs = weights_of(run), weights_of(whole)
    assert max(float((mine[name] - theirs[name]).abs().max()) for name in theirs) <= 1e-6


def test_a_stop_ends_all_ranks_after_the_same_step_with_a_checkpoint(
    tmp_path: Path, model: Path
) -> None:
    run = write_run(tmp_path, model, rows=ROWS, epochs=400, **FSDP)
    worker = begin(run)
    wait_for(lambda: len(metrics(run)) >= 3, worker)
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(timeout=30) == WorkerExit.TEMPORARY, run.log.read_text()[-3000:]
    step = metrics(run)[-1].step
    assert is_whole(run.checkpoints / f"step-{step}")
    assert f"after step {step}" in notes(run, "stopped")[0].text
    assert not problems(run)


def test_a_killed_rank_ends_the_others_and_is_named(tmp_path: Path, model: Path) -> None:
    run = write_run(tmp_path, model, rows=ROWS, epochs=4000, **DDP)
    worker = begin(run)
    wait_for(lambda: len(metrics(run)) >= 2, worker)
    first, second = ranks_of(worker.pid)
    began = time.monotonic()
    os.kill(second, signal.SIGKILL)
    assert worker.wait(timeout=10) == -signal.SIGKILL
    assert time.monotonic() - began < 3
    assert is_gone(first)
    (run.path / "exit.json").write_text(json.dumps({"signal": 9, "time": time.time()}))
    found = diagnose(gather_evidence(run.path))
    assert (found.failure_class, found.root_rank) == ("KILLED", 1), found
    assert "rank 1" in found.what


@pytest.mark.parametrize(
    ("fault", "code", "says"),
    [("raises", WorkerExit.BUG, "the fault of this test"), ("exits", 3, "exit code 3")],
)
def test_a_failing_rank_ends_the_others_and_is_named(
    tmp_path: Path, model: Path, fault: str, code: int, says: str
) -> None:
    run = write_run(tmp_path, model, rows=ROWS, **DDP)
    worker = begin(run, sys.executable, str(FAULTY), fault, str(run.path))
    wait_for(lambda: len(metrics(run)) >= 2, worker)
    assert worker.wait(timeout=10) == code, run.log.read_text()[-3000:]
    ends = json.loads((run.path / "ranks.json").read_text())
    assert [one["rank"] for one in ends if one["first"]] == [1]
    assert max(one["time"] for one in ends) - min(one["time"] for one in ends) < 3
    (run.path / "exit.json").write_text(json.dumps({"code": code, "time": time.time()}))
    found = diagnose(gather_evidence(run.path))
    assert found.root_rank == 1, found
    assert says in f"{found.what} {found.why}", found


@pytest.mark.parametrize(
    ("fault", "setting", "code", "says"),
    [
        ("ddp_instead", FSDP, WorkerExit.CONFIGURATION, "strategy is 'ddp', planned 'fsdp'"),
        ("no_average", DDP, WorkerExit.CONFIGURATION, "strategy is 'single', planned 'ddp'"),
        ("saves_its_share", FSDP, WorkerExit.CONFIGURATION, "differs when read back"),
        ("nan", DDP, WorkerExit.NUMERIC, "the loss of step 3 is nan"),
    ],
)
def test_what_goes_wrong_without_an_error_is_caught(
    tmp_path: Path, model: Path, fault: str, setting: dict[str, Any], code: int, says: str
) -> None:
    run = write_run(tmp_path, model, rows=ROWS, checkpoint_every_steps=2, **setting)
    ended = subprocess.run(
        [sys.executable, str(FAULTY), fault, str(run.path)],
        capture_output=True,
        text=True,
        timeout=SLOW,
        check=False,
    )
    assert ended.returncode == code, ended.stdout[-3000:]
    (problem,) = problems(run)
    assert says in f"{problem.what} {problem.why}"
    assert not run.result.exists()
    if fault == "nan":  # every rank says so: nobody in particular
        assert "rank" not in problem.details


def test_torchrun_may_start_the_ranks(tmp_path: Path, model: Path, ddp: RunFolder) -> None:
    run = write_run(tmp_path, model, rows=ROWS, eval_rows=5, **DDP, eval_every_steps=2)
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    ended = subprocess.run(
        [*torchrun, "-m", "surefit.train", str(run.path)],
        capture_output=True,
        text=True,
        timeout=SLOW,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    assert losses(run) == losses(ddp)


def test_another_number_of_ranks_than_planned_is_refused(tmp_path: Path, model: Path) -> None:
    run = write_run(tmp_path, model, rows=ROWS, **DDP)
    place = {"RANK": "0", "WORLD_SIZE": "4", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "1"}
    ended = subprocess.run(
        worker_command(run),
        env={**os.environ, **place},
        capture_output=True,
        text=True,
        timeout=SLOW,
        check=False,
    )
    assert ended.returncode == WorkerExit.CONFIGURATION
    assert "4 ranks were started, and the plan is for 2" in ended.stderr


def test_a_checkpoint_of_other_ranks_is_refused(
    tmp_path: Path, model: Path, fsdp: RunFolder
) -> None:
    import shutil

    run = write_run(tmp_path, model, rows=ROWS, eval_rows=5, **DDP)
    shutil.copytree(fsdp.checkpoints, run.checkpoints)
    ended = run_worker(run, SLOW)
    assert ended.returncode == WorkerExit.CONFIGURATION
    (problem,) = problems(run)
    assert "of 2 ranks (fsdp), and the plan is for 2 (ddp)" in problem.what
    assert "how.strategy: fsdp" in problem.next


def test_a_supervisor_knows_a_killed_rank_within_3_seconds(
    tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from supervised import clean_home, nothing_left, record_of, wait_for_state
    from tiny_run import conversations

    from surefit.recipe import recipe_from
    from surefit.runs import RunState
    from surefit.supervise import preflight, start

    monkeypatch.setenv("SUREFIT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2] / "src"))
    rows = [json.dumps({"messages": one}) for one in conversations(40)]
    (tmp_path / "rows.jsonl").write_text("\n".join(rows) + "\n")
    recipe = {
        "model": str(model),
        "data": {"train": "rows.jsonl"},
        "method": {"type": "lora", "rank": 4},
        "goal": {"epochs": 5000, "max_length": 128},
        "how": {"threads": 1, "ranks": 2, "precision": "float32"},
    }
    with clean_home(tmp_path / "home") as home:
        run = start(preflight(recipe_from(recipe, tmp_path)))
        wait_for_state(run, RunState.TRAINING, RunState.FAILED, seconds=SLOW)
        _, second = ranks_of(record_of(run).worker_pid or 0)
        began = time.monotonic()
        os.kill(second, signal.SIGKILL)
        view = wait_for_state(run, RunState.FAILED, seconds=10)
        assert time.monotonic() - began < 3
        assert view.diagnosis is not None
        assert (view.diagnosis.failure_class, view.diagnosis.root_rank) == ("KILLED", 1)
        assert "rank 1" in (view.cause or "")
        nothing_left(home)
