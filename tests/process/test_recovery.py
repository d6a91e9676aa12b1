"""What is tried again by itself, what is not, and hangs: under a real supervisor."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import deaths
import pytest
import tiny_run
from supervised import (
    clean_home,
    kill,
    nothing_left,
    preflight_of,
    record_of,
    wait_for,
    wait_for_state,
    worker,
)

from surefit.cli.entry import run as surefit
from surefit.errors import Refused
from surefit.plan.plan import Plan
from surefit.runs import Metric, Note, RunFolder, RunState, Status
from surefit.supervise import observe, resume, start, wait_for_end
from surefit.supervise.attempts import retries
from surefit.supervise.records import SupervisorRecord

pytestmark = pytest.mark.process
SLOW = 240.0


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("SUREFIT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2] / "src"))
    with clean_home(tmp_path / "home") as folder:
        yield folder


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_run.write_model(tmp_path_factory.mktemp("model"))


def begin(tmp_path: Path, name: str, mode: str, *words: str, **changes: object) -> RunFolder:
    ready = preflight_of(tmp_path / "ready", **changes)
    return start(ready, name, command=worker(name, mode, *words))


def notes(run: RunFolder, topic: str) -> list[Note]:
    found = (event for _, event in run.read_events())
    return [event for event in found if isinstance(event, Note) and event.topic == topic]


def test_a_network_that_comes_back_is_waited_for(tmp_path: Path) -> None:
    run = begin(tmp_path, "network", "tries", "74", "done")
    began = time.monotonic()
    view = wait_for_end(run, 40)
    assert view.state is RunState.DONE
    assert time.monotonic() - began > 5
    [note] = notes(run, "recovery")
    assert "try 1 of 5" in note.text
    assert view.problem is None
    assert (run.attempts / "1" / "exit.json").exists()


@pytest.mark.parametrize("code", ["65", "66", "70", "73", "76", "77", "78", "79"])
def test_everything_else_stops_at_once(tmp_path: Path, code: str) -> None:
    run = begin(tmp_path, "stops", "tries", code, "done")
    assert wait_for_end(run, 20).state is RunState.FAILED
    assert not notes(run, "recovery")


def test_memory_gets_a_smaller_micro_batch_and_the_same_rows_a_step_until_nothing_is_smaller(
    tmp_path: Path,
) -> None:
    run = begin(tmp_path, "memory", "tries", *["71"] * 9)
    view = wait_for_end(run, 60)
    assert view.state is RunState.FAILED
    plans = [run.read(run.attempts / str(number) / "plan.json", Plan) for number in (1, 2, 3)]
    made = [(one.training.micro_batch, one.training.accumulation) for one in plans if one]
    assert made == [(4, 2), (2, 4), (1, 8)]
    last = run.read(run.plan, Plan)
    assert last
    assert last.training.gradient_checkpointing
    assert len(notes(run, "recovery")) == 3
    assert "one sequence at a time does not fit" in (view.cause or "")
    assert "goal.max_length: 128" in view.diagnosis.next_step if view.diagnosis else False


def test_a_refused_allocation_leads_to_smaller_steps_with_the_same_rows_and_then_to_an_answer(
    tmp_path: Path, model: Path
) -> None:
    """The limit is the process's own address space, 48 MiB above its start: torch is refused for real."""
    run = long_rows(tmp_path, model, "limited", "memory=48")
    view = wait_for_state(run, RunState.FAILED, RunState.DONE, seconds=SLOW)
    told = [one.text for one in notes(run, "recovery")]
    assert "ran out of memory" in told[0]
    assert "micro-batch 1 x accumulation 8 instead of 2 x 4, the same rows in every step" in told[0]
    assert len(told) <= 2
    if view.state is RunState.FAILED:
        assert "activations are recomputed" in told[1]
        assert "one sequence at a time does not fit" in (view.cause or "")
    free = long_rows(tmp_path, model, "free", "memory=100000")
    assert wait_for_end(free, SLOW).state is RunState.DONE
    last = run.read(run.plan, Plan)
    assert last
    assert last.training.micro_batch * last.training.accumulation == last.training.batch
    made = figures(run)  # how many steps there are depends on when the allocator asks for more
    for step, (tokens, loss) in made.items():
        assert figures(free)[step][0] == tokens
        assert figures(free)[step][1] == pytest.approx(loss, rel=1e-4)


def test_a_kernels_kill_for_memory_leads_to_a_smaller_micro_batch(
    tmp_path: Path, model: Path
) -> None:
    if why := deaths.allowed():
        pytest.skip(why)
    run = deaths.begin(tmp_path, model, "killed", "oom", micro_batch=2)
    deaths.limit_group(run)
    wait_for("a second worker", lambda: notes(run, "recovery"), SLOW)
    [first] = retries(run)
    assert first.kind == "memory"
    assert first.change.startswith("micro-batch 1 x accumulation 8 instead of 2 x 4")
    assert '"oom_kill": 1' in (run.attempts / "1" / "exit.json").read_text()
    wait_for_state(run, RunState.FAILED, RunState.STOPPED, seconds=SLOW)


def test_a_hang_is_ended_with_its_stacks_within_its_limit_and_5_seconds(
    tmp_path: Path, home: Path
) -> None:
    run = begin(tmp_path, "hung", "hang", silent_seconds=2.0)
    wait_for_state(run, RunState.TRAINING)
    began = time.monotonic()
    view = wait_for_state(run, RunState.FAILED, seconds=7)
    assert time.monotonic() - began < 7
    assert view.diagnosis is not None
    assert view.diagnosis.failure_class == "HANG"
    assert "wait_for_somebody" in view.diagnosis.why
    assert any("fake_worker.py" in line.text for line in view.diagnosis.evidence)
    assert view.problem is not None
    assert view.problem.exit_code == 79
    nothing_left(home)


def test_a_stopped_process_hangs_too(tmp_path: Path) -> None:
    run = begin(tmp_path, "frozen", "sleep", silent_seconds=2.0)
    wait_for_state(run, RunState.TRAINING)
    os.kill(record_of(run).worker_pid or 0, signal.SIGSTOP)
    view = wait_for_state(run, RunState.FAILED, seconds=10)
    assert view.diagnosis is not None
    assert view.diagnosis.failure_class == "HANG"
    assert "no stack could be had" in view.diagnosis.why


def test_what_still_reads_is_no_hang(tmp_path: Path) -> None:
    run = begin(tmp_path, "reading", "reading", "6", silent_seconds=3.0)
    assert wait_for_end(run, 30).state is RunState.DONE


def test_dollars_are_time_times_price_warned_of_stopped_at_and_refused_when_used_up(
    tmp_path: Path,
) -> None:
    run = begin(
        tmp_path, "costly", "checkpoint", limit_dollars=0.01, dollars_per_hour=12.0
    )  # 3 seconds
    view = wait_for_state(run, RunState.STOPPED, seconds=10)
    assert "the limit of $0.01 at $12.00 an hour (`limits.dollars`) is reached" in (
        view.cause or ""
    )
    assert notes(run, "limit")
    with pytest.raises(Refused, match="used up its limit") as refused:
        resume(run)
    assert "--set limits.dollars=0.02" in refused.value.next_step
    resume(run, ("limits.dollars=5",), command=worker(run.id, "done"))
    assert wait_for_end(run, 20).state is RunState.DONE
    states = [str(one.state) for _, one in run.read_events() if isinstance(one, Status)]
    assert states.count("queued") == 2


def test_stopping_while_a_retry_is_waited_for_ends_the_run(tmp_path: Path) -> None:
    run = begin(tmp_path, "impatient", "tries", "74", "done")
    wait_for("the wait", lambda: notes(run, "recovery"))
    assert surefit(["stop", run.id]) == 0
    assert run.state()[0] is RunState.STOPPED


def test_a_supervisor_lost_while_it_waits_to_retry_is_replaced(tmp_path: Path) -> None:
    run = begin(tmp_path, "waiting", "tries", "74", "done")
    wait_for("the wait", lambda: notes(run, "recovery"))
    record = run.read(run.supervisor, SupervisorRecord)
    assert record
    kill(record.pid)
    observe(run)
    wait_for("another supervisor", lambda: observe(run).watched)
    assert surefit(["stop", run.id]) == 0


def long_rows(folder: Path, model: Path, name: str, fault: str) -> RunFolder:
    return deaths.begin(
        folder, model, name, fault, micro_batch=2, letters=60, checkpointing=False, silent=60
    )


def figures(run: RunFolder) -> dict[int, tuple[int | None, float | None]]:
    found = (event for _, event in run.read_events())
    return {
        one.step: (one.tokens, one.loss)
        for one in found
        if isinstance(one, Metric) and one.split == "train"
    }
