"""How a worker ends: stopped, killed, refused, broken; and that a run goes on where it was."""

import contextlib
import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tiny_run import (
    losses,
    metrics,
    notes,
    problems,
    run_worker,
    worker_command,
    write_model,
    write_run,
)

from surefit.errors import WorkerExit
from surefit.plan.plan import Plan
from surefit.runs.folder import RunFolder
from surefit.runs.result import Heartbeat, Result

pytestmark = pytest.mark.process

WEIGHTS = "adapter_model.safetensors"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("model"))


def go_on(run: RunFolder) -> RunFolder:
    """Start the run again, in this process."""
    from surefit.train.journal import Journal
    from surefit.train.run import train
    from surefit.train.stop import StopSignal

    plan = run.read(run.plan, Plan)
    assert plan
    train(plan, Journal(run, 1), StopSignal())
    return run


@contextlib.contextmanager
def started(run: RunFolder) -> Iterator[subprocess.Popen[str]]:
    worker = subprocess.Popen(
        worker_command(run), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        yield worker
    finally:
        if worker.poll() is None:
            worker.kill()
            worker.wait()


def wait_for(what: Callable[[], Any], worker: subprocess.Popen[str], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "waited too long"
        assert worker.poll() is None, worker.communicate()[0]
        time.sleep(0.02)


def step_of(run: RunFolder) -> int:
    found = metrics(run)
    return found[-1].step if found else 0


@pytest.fixture(scope="module")
def unstopped(tmp_path_factory: pytest.TempPathFactory, model: Path) -> RunFolder:
    return go_on(write_run(tmp_path_factory.mktemp("unstopped"), model, epochs=40))


def test_a_stop_finishes_the_step_and_keeps_it_and_the_run_goes_on_from_there(
    tmp_path: Path, model: Path, unstopped: RunFolder
) -> None:
    from surefit.runs.checkpoints import is_whole

    run = write_run(tmp_path, model, epochs=40)
    with started(run) as worker:
        wait_for(lambda: step_of(run) >= 5, worker)
        worker.send_signal(signal.SIGTERM)
        output, _ = worker.communicate(timeout=20)
    assert worker.returncode == WorkerExit.TEMPORARY, output
    step = step_of(run)
    assert step < 120
    assert is_whole(run.checkpoints / f"step-{step}")
    assert f"after step {step}" in notes(run, "stopped")[0].text
    assert not run.result.exists()
    assert not problems(run)

    go_on(run)
    assert notes(run, "resumed")
    assert losses(run) == losses(unstopped)
    assert (run.model / WEIGHTS).read_bytes() == (unstopped.model / WEIGHTS).read_bytes()
    one, other = (each.read(each.result, Result) for each in (run, unstopped))
    assert one
    assert other
    assert (one.tokens, one.trained_tokens) == (other.tokens, other.trained_tokens)


def test_a_killed_run_goes_on_from_its_newest_whole_checkpoint(
    tmp_path: Path, model: Path, unstopped: RunFolder
) -> None:
    from surefit.runs.checkpoints import is_whole

    run = write_run(tmp_path, model, epochs=40, checkpoint_every_steps=4)
    with started(run) as worker:
        wait_for(lambda: step_of(run) >= 14, worker)
        worker.kill()
        worker.wait()
    kept = sorted(run.checkpoints.glob("step-*"), key=lambda folder: int(folder.name[5:]))
    assert len(kept) <= 3, "at most the kept two and one being written"
    # A damaged one is passed over: the one before it is taken.
    newest = kept[-1]
    with (newest / "optimizer.pt").open("r+b") as handle:
        handle.write(b"damage")
    assert not is_whole(newest)
    go_on(run)
    assert notes(run, "resumed")[0].details["folder"] == kept[-2].name
    assert losses(run)[-20:] == losses(unstopped)[-20:]
    assert (run.model / WEIGHTS).read_bytes() == (unstopped.model / WEIGHTS).read_bytes()


def test_a_run_stopped_after_its_last_step_only_proves_its_result(
    tmp_path: Path, model: Path
) -> None:
    whole = go_on(write_run(tmp_path / "whole", model, epochs=1.5))
    again = write_run(tmp_path / "again", model, epochs=1.5)
    shutil.copytree(whole.checkpoints, again.checkpoints)
    go_on(again)
    assert not metrics(again)
    assert (again.model / WEIGHTS).read_bytes() == (whole.model / WEIGHTS).read_bytes()
    one, other = (each.read(each.result, Result) for each in (whole, again))
    assert one
    assert other
    assert (one.final_loss, one.tokens) == (other.final_loss, other.tokens)


def test_a_stop_before_the_first_step_ends_at_once_and_a_second_one_kills(
    tmp_path: Path, model: Path
) -> None:
    run = write_run(tmp_path, model, epochs=40)
    with started(run) as worker:
        wait_for(lambda: (run.path / "heartbeats" / "rank0.json").exists(), worker)
        worker.send_signal(signal.SIGINT)
        assert worker.wait(timeout=20) == WorkerExit.TEMPORARY
    assert "no step was made yet" in notes(run, "stopped")[0].text

    code = (
        "import signal, time, os\n"
        "from surefit.train.stop import StopSignal\n"
        "stop = StopSignal(); stop.waits_for_step = True; stop.listen()\n"
        "os.kill(os.getpid(), signal.SIGTERM); print(stop.requested, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGTERM); time.sleep(9)\n"
    )
    second = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert second.stdout == "SIGTERM\n"
    assert second.returncode == -signal.SIGTERM


def test_the_heart_beats_while_the_worker_works(tmp_path: Path, model: Path) -> None:
    run = write_run(tmp_path, model)
    assert run_worker(run).returncode == 0
    beat = run.read(run.path / "heartbeats" / "rank0.json", Heartbeat)
    assert beat
    assert beat.step == 6
    assert beat.memory_bytes
    assert beat.memory_bytes > 2**26
    assert beat.moved
    assert beat.moved <= beat.time
    peaks = notes(run, "memory")[0].details
    assert peaks["planned_bytes"] == 2**30
    assert peaks["train"] >= peaks["load_model"] > 0


def test_the_worker_outlives_its_parent_and_keeps_its_words(tmp_path: Path) -> None:
    log, ready = tmp_path / "worker.log", tmp_path / "ready"
    code = (
        "import sys, time, pathlib\n"
        "from surefit.train.environment import prepare_process\n"
        f"prepare_process(pathlib.Path({str(log)!r}))\n"
        f"pathlib.Path({str(ready)!r}).touch(); time.sleep(0.5)\n"
        "print('first'); print('second'); print('third', file=sys.stderr)\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert child.stdout
    assert child.stderr
    while not ready.exists():
        time.sleep(0.02)
    child.stdout.close()
    child.stderr.close()
    child.send_signal(signal.SIGHUP)
    assert child.wait(timeout=20) == 0
    assert sorted(log.read_text().split()) == ["first", "second", "third"]


def test_a_full_disk_ends_the_worker_with_its_own_code(tmp_path: Path, model: Path) -> None:
    run = write_run(tmp_path, model)
    run.events.symlink_to("/dev/full")
    done = run_worker(run)
    assert done.returncode == WorkerExit.DISK
    assert "the disk is full" in done.stderr
    assert "Traceback" not in done.stderr


def poison(folder: Path, source: Path) -> Path:
    """A copy of the model with one weight that is no number."""
    import torch
    from safetensors.torch import load_file, save_file

    shutil.copytree(source, folder)
    weights = load_file(folder / "model.safetensors")
    weights["model.layers.1.mlp.up_proj.weight"][0, 0] = torch.nan
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


def ended(run: RunFolder) -> Any:
    """The error that ends the run, in this process."""
    from surefit.errors import SurefitError

    with pytest.raises(SurefitError) as caught:
        go_on(run)
    return caught.value


def test_a_loss_that_is_no_number_stops_the_worker_at_once(tmp_path: Path, model: Path) -> None:
    run = write_run(tmp_path / "run", poison(tmp_path / "model", model))
    done = run_worker(run)
    assert done.returncode == WorkerExit.NUMERIC
    problem = problems(run)[0]
    assert problem.what == "the loss of step 1 is nan"
    assert problem.exit_code == 76
    assert problem.what in done.stderr
    assert "Traceback" not in done.stderr
    assert not metrics(run)
    kept = json.loads((run.path / "bad_batch.json").read_text())
    assert [row["row"] for row in kept["rows"]] == problem.details["rows"]
    assert len(kept["rows"]) == 8
    assert kept["rows"][0]["ids"]


def test_the_rehearsal_finds_it_before_the_first_step(tmp_path: Path, model: Path) -> None:
    run = write_run(tmp_path / "run", poison(tmp_path / "model", model), rehearse=True)
    error = ended(run)
    assert error.worker_exit == WorkerExit.NUMERIC
    assert error.what == "the rehearsal failed: start"


def test_a_run_that_blows_up_leaves_a_good_checkpoint(tmp_path: Path, model: Path) -> None:
    import torch

    from surefit.runs.checkpoints import checkpoint_folders, is_whole
    from surefit.train import loop

    class Explosion(loop.Loop):
        def on_step_end(self, _args: Any, state: Any, _control: Any, **extra: Any) -> None:
            super().on_step_end(_args, state, _control, **extra)
            if state.global_step == 3:
                weight = next(iter(p for p in self.trainer.model.parameters() if p.requires_grad))
                with torch.no_grad():
                    weight.mul_(torch.inf)

    run = write_run(tmp_path, model, checkpoint_every_steps=2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("surefit.train.run.Loop", Explosion)
        error = ended(run)
    assert error.worker_exit == WorkerExit.NUMERIC
    assert "step 4" in error.what
    whole = [one.name for one in checkpoint_folders(run.checkpoints) if is_whole(one)]
    assert whole == ["step-2"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"steps": 7}, "steps is 6, planned 7"),
        ({"batch": 4}, "batch is 8, planned 4"),
        ({"targets": ("nothing",)}, "no adapter"),
        ({"allocator": {"MALLOC_TOP_PAD_": "65536"}}, "allocator"),
    ],
)
def test_what_is_not_as_planned_fails_before_the_first_step(
    tmp_path: Path, model: Path, change: dict[str, Any], told: str
) -> None:
    run = write_run(tmp_path, model, **change)
    error = ended(run)
    assert error.worker_exit == WorkerExit.CONFIGURATION
    assert told in error.as_text()
    assert not metrics(run)


def test_a_model_with_other_parameters_than_planned_is_refused(tmp_path: Path, model: Path) -> None:
    run = write_run(tmp_path, model)
    plan = json.loads(run.plan.read_text())
    plan["model"]["layers"] = 3
    run.plan.write_text(json.dumps(plan))
    error = ended(run)
    assert error.worker_exit == WorkerExit.CONFIGURATION
    assert set(error.details["differences"]) == {"adapter_targets", "trainable_parameters"}


def test_the_worker_starts_itself_with_the_planned_environment(tmp_path: Path, model: Path) -> None:
    run = write_run(tmp_path, model, allocator={"MALLOC_TOP_PAD_": "65536"})
    assert run_worker(run).returncode == 0
    assert json.loads(run.effective.read_text())["effective"]["allocator"] == {
        "MALLOC_TOP_PAD_": "65536"
    }


def test_rows_of_another_tokenizer_are_refused(tmp_path: Path, model: Path) -> None:
    run = write_run(tmp_path, model)
    facts = json.loads((run.data / "prepared.json").read_text())
    (run.data / "prepared.json").write_text(json.dumps({**facts, "tokenizer_sha256": "0" * 64}))
    assert "not the one the rows were prepared with" in ended(run).what


@pytest.mark.parametrize("file", ["train.ids.u32", "train.offsets.u64", "prepared.json"])
def test_a_lost_or_cut_file_of_rows_is_named(tmp_path: Path, model: Path, file: str) -> None:
    run = write_run(tmp_path / "gone", model)
    (run.data / file).unlink()
    assert file in ended(run).as_text()
    if file == "train.ids.u32":
        cut = write_run(tmp_path / "cut", model)
        content = (cut.data / file).read_bytes()
        (cut.data / file).write_bytes(content[:-40])
        assert "do not add up" in ended(cut).why


def test_a_token_that_the_model_does_not_have_is_refused(tmp_path: Path, model: Path) -> None:
    run = write_run(tmp_path, model)
    content = bytearray((run.data / "train.ids.u32").read_bytes())
    content[0:4] = (5000).to_bytes(4, "little")
    (run.data / "train.ids.u32").write_bytes(content)
    error = ended(run)
    assert "5,000" in error.what
    assert error.worker_exit == WorkerExit.DATA


def test_a_model_that_learned_nothing_is_no_result(tmp_path: Path, model: Path) -> None:
    # A warm-up longer than the run: the learning rate is 0 in its only step.
    run = write_run(tmp_path, model, rows=8, epochs=1, warmup_steps=5)
    error = ended(run)
    assert error.worker_exit == WorkerExit.NUMERIC
    assert "nothing was learned" in error.what
    assert not run.result.exists()


def test_a_missing_gpu_is_no_resource(tmp_path: Path, model: Path) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a GPU here")
    assert ended(write_run(tmp_path, model, device="cuda")).worker_exit == WorkerExit.NO_RESOURCE


def test_a_folder_without_a_plan_is_refused_without_loading_torch(tmp_path: Path) -> None:
    began = time.monotonic()
    done = run_worker(RunFolder(tmp_path))
    assert done.returncode == WorkerExit.INPUT_MISSING
    assert "holds no plan" in done.stderr
    assert time.monotonic() - began < 5


def test_a_bug_of_ours_shows_its_traceback_and_is_told_as_one(tmp_path: Path, model: Path) -> None:
    run = write_run(tmp_path, model)
    facts = json.loads((run.data / "prepared.json").read_text())
    del facts["splits"]
    (run.data / "prepared.json").write_text(json.dumps(facts))
    done = run_worker(run)
    assert done.returncode == WorkerExit.BUG
    assert "Traceback" in done.stderr
    assert problems(run)[0].what == "surefit failed in the phase prepare_data: KeyError"
