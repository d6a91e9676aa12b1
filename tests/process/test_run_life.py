"""The life of a run under a real supervisor: ends, deaths, stops and losses, with a worker of our own."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from supervised import (
    clean_home,
    is_alive,
    kill,
    living,
    nothing_left,
    preflight_of,
    record_of,
    wait_for,
    wait_for_state,
    worker,
)

from surefit.errors import OutsideError, Refused, UsageError
from surefit.runs import ExitStatus, Note, RunFolder, RunState, Status, list_run_folders
from surefit.runs.tail import LogTail
from surefit.supervise import follow, list_runs, observe, request_stop, start, wait_for_end
from surefit.supervise.bounded_log import HEAD_BYTES, TAIL_BYTES
from surefit.supervise.records import StopRequest, SupervisorRecord

pytestmark = pytest.mark.process


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("SUREFIT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2] / "src"))
    with clean_home(tmp_path / "home") as folder:
        yield folder


def begin(tmp_path: Path, name: str, mode: str, *words: str, **changes: object) -> RunFolder:
    ready = preflight_of(tmp_path / "ready", **changes)
    return start(ready, name, command=worker(name, mode, *words))


def states(run: RunFolder) -> list[str]:
    return [str(event.state) for _, event in run.read_events() if isinstance(event, Status)]


def test_a_run_with_its_evidence_is_done(tmp_path: Path) -> None:
    run = begin(tmp_path, "good", "done")
    view = wait_for_end(run, 20)
    assert view.state is RunState.DONE
    assert states(run) == ["queued", "rehearsing", "training", "verifying", "done"]
    assert view.result is not None
    assert view.exit == ExitStatus(code=0, oom_kill=view.exit.oom_kill, time=view.exit.time)
    assert run.log.read_text() == "training\n"
    assert run.recipe_text.read_text() == "model: starter\n"
    assert json.loads(run.dataset.read_text())["prepared"] == str(run.data)
    assert not (run.path / "log" / "worker.pipe").exists()


@pytest.mark.parametrize("mode", ["code", "damaged"])
def test_exit_code_0_is_no_evidence(tmp_path: Path, mode: str) -> None:
    run = begin(tmp_path, "empty", mode, "0")
    view = wait_for_end(run, 20)
    assert view.state is RunState.FAILED
    assert view.exit is not None
    assert view.exit.code == 0
    assert view.cause


def test_a_killed_worker_is_failed_with_its_cause_within_3_seconds(tmp_path: Path) -> None:
    run = begin(tmp_path, "killed", "sleep")
    wait_for_state(run, RunState.TRAINING)
    began = time.monotonic()
    kill(record_of(run).worker_pid or 0)
    view = wait_for_state(run, RunState.FAILED, seconds=3)
    assert time.monotonic() - began < 3
    assert view.exit is not None
    assert view.exit.signal == signal.SIGKILL
    assert view.diagnosis is not None
    assert view.cause == view.diagnosis.what or "SIGKILL" in (view.cause or "")


def test_the_run_goes_on_when_the_program_that_started_it_is_killed(tmp_path: Path) -> None:
    script = (
        "import sys, time; sys.path.insert(0, sys.argv[1]); from pathlib import Path; import supervised;"
        "from surefit.supervise import start;"
        "ready = supervised.preflight_of(Path(sys.argv[2]));"
        "start(ready, 'alone', command=supervised.worker('alone', 'done', '2'));"
        "print('started', flush=True); time.sleep(60)"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", script, str(Path(__file__).parents[1]), str(tmp_path / "ready")],
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert parent.stdout is not None
    assert parent.stdout.readline() == b"started\n"
    os.killpg(parent.pid, signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    [run] = list_run_folders()
    assert wait_for_end(run, 20).state is RunState.DONE
    assert run.log.read_text() == "training\n"


def test_stop_ends_the_whole_tree_within_10_seconds(tmp_path: Path, home: Path) -> None:
    run = begin(tmp_path, "deaf", "deaf")
    wait_for_state(run, RunState.TRAINING)
    wait_for("supervisor, worker, child and grandchild", lambda: len(living(home)) == 4)
    began = time.monotonic()
    request_stop(run)
    view = wait_for_state(run, RunState.STOPPED, seconds=10)
    assert time.monotonic() - began < 10
    nothing_left(home)
    assert "checkpoint of step 3 is kept" in (view.cause or "")
    assert (run.checkpoints / "step-3" / "manifest.json").exists()


def test_a_gentle_stop_takes_no_longer_than_the_worker_needs(tmp_path: Path) -> None:
    run = begin(tmp_path, "gentle", "checkpoint")
    wait_for_state(run, RunState.TRAINING)
    began = time.monotonic()
    request_stop(run)
    view = wait_for_state(run, RunState.STOPPED, seconds=5)
    assert time.monotonic() - began < 3
    assert view.exit is not None
    assert view.exit.code == 75


def test_stopping_at_once_gives_no_grace(tmp_path: Path) -> None:
    run = begin(tmp_path, "now", "deaf")
    wait_for_state(run, RunState.TRAINING)
    request_stop(run)
    request_stop(run, at_once=True)
    wait_for_state(run, RunState.STOPPED, seconds=4)


def test_what_a_worker_leaves_behind_is_ended_with_it(tmp_path: Path, home: Path) -> None:
    run = begin(tmp_path, "orphan", "orphan")
    assert wait_for_end(run, 20).state is RunState.FAILED
    nothing_left(home)


def test_a_second_supervisor_takes_the_same_worker_over(tmp_path: Path) -> None:
    run = begin(tmp_path, "heir", "done", "4")
    wait_for_state(run, RunState.TRAINING)
    before = record_of(run)
    kill(before.pid)
    view = observe(run)
    assert view.alive
    assert view.evidence
    after = record_of(run)
    assert (after.worker_pid, after.takeovers) == (before.worker_pid, 1)
    view = wait_for_end(run, 20)
    assert view.state is RunState.DONE
    assert any(isinstance(note, Note) and note.topic == "supervisor" for note in view.notes)


def test_what_is_printed_while_nobody_watches_is_kept(tmp_path: Path) -> None:
    words = ["~"] * 10 + ["nobody hears this\n"] + ["~"] * 8
    run = begin(tmp_path, "silent", "say", *words)
    wait_for_state(run, RunState.TRAINING)
    kill(record_of(run).pid)
    time.sleep(4.5)
    observe(run)
    wait_for_state(run, RunState.FAILED, RunState.LOST)
    assert "nobody hears this" in run.log.read_text()


def test_a_run_stops_also_when_its_supervisor_is_dead(tmp_path: Path, home: Path) -> None:
    run = begin(tmp_path, "headless", "checkpoint")
    wait_for_state(run, RunState.TRAINING)
    kill(record_of(run).pid)
    request_stop(run)
    assert wait_for_state(run, RunState.STOPPED, seconds=10).cause
    nothing_left(home)


def test_everything_dead_at_once_is_lost_with_evidence(tmp_path: Path) -> None:
    run = begin(tmp_path, "reboot", "sleep")
    wait_for_state(run, RunState.TRAINING)
    record = record_of(run)
    os.kill(record.pid, signal.SIGKILL)
    kill(record.worker_pid or 0)
    view = observe(run)
    assert view.state is RunState.LOST
    assert str(record.pid) in (view.cause or "")
    assert str(record.worker_pid) in (view.cause or "")
    assert "step 3" in (view.cause or "")
    wait_for("lost on record", lambda: run.state()[0] is RunState.LOST)


def test_a_success_that_nobody_saw_is_still_a_success(tmp_path: Path) -> None:
    run = begin(tmp_path, "unseen", "done", "2")
    wait_for_state(run, RunState.TRAINING)
    record = record_of(run)
    kill(record.pid)
    wait_for("worker gone", lambda: not is_alive(record.worker_pid or 0))
    observe(run)
    assert wait_for_state(run, RunState.DONE).result is not None


def test_a_stale_number_that_another_process_has_now_is_never_killed(
    tmp_path: Path, home: Path
) -> None:
    run = begin(tmp_path, "stale", "sleep")
    wait_for_state(run, RunState.TRAINING)
    record = record_of(run)
    os.kill(record.pid, signal.SIGKILL)
    kill(record.worker_pid or 0)
    stranger = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        assert record.job is not None
        stale = record.model_copy(
            update={
                "worker_pid": stranger.pid,
                "job": record.job.model_copy(update={"pid": stranger.pid, "details": {}}),
            }
        )
        run.write(run.supervisor, stale)
        request_stop(run)
        wait_for_state(run, RunState.STOPPED)
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_two_runs_wait_for_each_other(tmp_path: Path) -> None:
    first = begin(tmp_path, "first", "sleep")
    wait_for_state(first, RunState.TRAINING)
    second = begin(tmp_path, "second", "done")
    view = wait_for_state(second, RunState.QUEUED)
    view = wait_for("a note", lambda: (now := observe(second)).notes and now)
    assert "first" in view.notes[0].text
    assert not view.alive
    request_stop(first)
    assert wait_for_end(second, 20).state is RunState.DONE


def test_the_device_stays_taken_while_a_worker_without_supervisor_lives(tmp_path: Path) -> None:
    first = begin(tmp_path, "holder", "sleep")
    wait_for_state(first, RunState.TRAINING)
    kill(record_of(first).pid)
    second = begin(tmp_path, "waiter", "done")
    time.sleep(0.5)
    assert observe(second, recover=False).state is RunState.QUEUED
    request_stop(first)
    assert wait_for_end(second, 20).state is RunState.DONE


def test_a_queued_run_can_be_stopped(tmp_path: Path) -> None:
    first = begin(tmp_path, "front", "sleep")
    wait_for_state(first, RunState.TRAINING)
    second = begin(tmp_path, "back", "done")
    request_stop(second)
    wait_for_state(second, RunState.STOPPED, seconds=3)
    assert not (second.path / "result.json").exists()
    request_stop(first)
    wait_for_state(first, RunState.STOPPED)


def test_the_limit_of_hours_stops_with_a_warning_before(tmp_path: Path) -> None:
    run = begin(tmp_path, "limited", "checkpoint", limit_seconds=2.0)
    view = wait_for_state(run, RunState.STOPPED)
    assert "limits.hours" in (view.cause or "")
    assert "limit" in [note.topic for note in view.notes]
    ask = run.read(run.stop_request, StopRequest)
    assert ask is not None
    assert ask.how == "limit"


def test_a_flood_is_bounded_and_keeps_its_first_and_last_lines(tmp_path: Path) -> None:
    run = begin(tmp_path, "flood", "flood", "100")
    assert wait_for_end(run, 60).state is RunState.DONE
    text = run.log.read_bytes()
    assert len(text) <= HEAD_BYTES + 2 * TAIL_BYTES + 200
    assert text.startswith(b"training\nline 000000000")
    assert text.endswith(b"the last line\n")
    assert text.count(b"bytes were left out here") == 1
    assert LogTail(run.log).poll() == text


def test_a_secret_split_over_writes_reaches_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    planted, known = "hf_AbCdEfGh1234567890", "correct horse battery"
    monkeypatch.setenv("HF_TOKEN", planted)
    monkeypatch.setenv("MY_PASSWORD", known)
    words = ["a hf_AbCd", "~", "EfGh1234", "~", "567890 b\n", "Bearer ", "~", "abc123456\n"]
    words += ["correct hor", "~", "se battery", "\nend\n"]
    run = begin(tmp_path, "secret", "say", *words)
    wait_for_state(run, RunState.TRAINING, RunState.FAILED)
    lines = [" ".join(one.cmdline()) for one in living(home)]
    assert not [line for line in lines if planted in line and "fake_worker" not in line]
    wait_for_end(run, 20)
    assert run.log.read_text() == ("training\na [redacted] b\n[redacted]\n[redacted]\nend\n")
    for file in home.rglob("*"):
        if file.is_file():
            content = file.read_bytes()
            assert planted.encode() not in content, file
            assert known.encode() not in content, file


def test_a_name_is_taken_once(tmp_path: Path) -> None:
    run = begin(tmp_path, "mine", "done")
    with pytest.raises(UsageError, match="exists already"):
        begin(tmp_path, "mine", "done")
    wait_for_end(run, 20)
    assert [one.id for one in list_run_folders()] == ["mine"]


def test_a_start_that_fails_half_way_leaves_nothing(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready = preflight_of(tmp_path / "ready")
    (tmp_path / "ready" / "prepared" / "prepared.json").unlink()
    (tmp_path / "ready" / "prepared" / "prepared.json").mkdir()

    def full(*_: object) -> None:
        raise OutsideError("no space", "the disk is full", "free some")

    monkeypatch.setattr("surefit.supervise.starting.write_atomically", full)
    with pytest.raises(OutsideError):
        start(ready, "half")
    assert list((home / "runs").iterdir()) == []


def test_ctrl_c_while_the_folder_is_written_leaves_nothing(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("surefit.supervise.starting.place_prepared", interrupted)
    with pytest.raises(KeyboardInterrupt):
        start(preflight_of(tmp_path / "ready"), "half")
    assert list((home / "runs").iterdir()) == []


def test_ctrl_c_while_the_supervisor_starts_leaves_a_whole_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from surefit.supervise import starting

    spawn = starting.spawn_supervisor

    def interrupted(run: RunFolder, command: tuple[str, ...]) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        spawn(run, command)

    monkeypatch.setattr(starting, "spawn_supervisor", interrupted)
    with pytest.raises(KeyboardInterrupt):
        begin(tmp_path, "whole", "done")
    [run] = list_run_folders()
    assert wait_for_end(run, 20).state is RunState.DONE


def test_a_worker_that_cannot_be_started_fails_with_its_cause(tmp_path: Path) -> None:
    run = start(preflight_of(tmp_path / "ready"), "nothing", command=("/no/such/program",))
    view = wait_for_state(run, RunState.FAILED)
    assert "could not be started" in (view.cause or "")
    assert view.problem is not None


def test_a_plan_that_does_not_fit_starts_nothing(tmp_path: Path, home: Path) -> None:
    with pytest.raises(Refused, match="does not fit"):
        begin(tmp_path, "large", "done", verdict="does_not_fit")
    assert not (home / "runs").exists()


def test_sigterm_to_the_supervisor_ends_the_run_in_order(tmp_path: Path, home: Path) -> None:
    run = begin(tmp_path, "shutdown", "checkpoint")
    wait_for_state(run, RunState.TRAINING)
    os.kill(record_of(run).pid, signal.SIGTERM)
    view = wait_for_state(run, RunState.STOPPED)
    assert "the system" in (view.cause or "")
    nothing_left(home)


def test_following_gives_every_event_once_and_ends(tmp_path: Path) -> None:
    run = begin(tmp_path, "followed", "done", "1")
    moments = list(follow(run, poll_seconds=0.05))
    numbers = [number for moment in moments for number, _ in moment.events]
    assert numbers == list(range(1, len(numbers) + 1))
    assert moments[-1].view.state is RunState.DONE
    assert len(numbers) == len(list(run.read_events()))


def test_an_ended_run_is_in_the_index_and_the_index_is_disposable(
    tmp_path: Path, home: Path
) -> None:
    run = begin(tmp_path, "indexed", "done")
    wait_for_end(run, 20)
    wait_for("supervisor gone", lambda: not living(home))
    [before] = list_runs()
    (home / "index.sqlite3").unlink()
    [after] = list_runs()
    assert before == after
    assert (home / "index.sqlite3").exists()


def test_the_supervisor_is_small(tmp_path: Path) -> None:
    import psutil

    run = begin(tmp_path, "small", "sleep")
    wait_for_state(run, RunState.TRAINING)
    memory = psutil.Process(record_of(run).pid).memory_full_info().uss
    assert memory < 60 * 10**6
    request_stop(run, at_once=True)
    wait_for_state(run, RunState.STOPPED)


def test_only_one_supervisor_watches(tmp_path: Path) -> None:
    run = begin(tmp_path, "single", "sleep")
    wait_for_state(run, RunState.TRAINING)
    second = subprocess.run(
        [sys.executable, "-m", "surefit.supervise", str(run.path)], capture_output=True, text=True
    )
    assert "watched already" in second.stderr
    assert record_of(run).takeovers == 0
    request_stop(run, at_once=True)
    wait_for_state(run, RunState.STOPPED)


def test_a_worker_of_a_supervisor_that_could_not_write_it_down_is_found(tmp_path: Path) -> None:
    run = begin(tmp_path, "found", "checkpoint")
    wait_for_state(run, RunState.TRAINING)
    record = record_of(run)
    kill(record.pid)
    forgetful = SupervisorRecord(pid=record.pid, start_time=record.start_time, boot=record.boot)
    run.write(run.supervisor, forgetful)
    observe(run)
    assert record_of(run).worker_pid == record.worker_pid
    request_stop(run)
    wait_for_state(run, RunState.STOPPED)
