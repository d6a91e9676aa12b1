"""The launcher contract: the same five calls do the same with every launcher of the registry."""

import dataclasses
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from supervised import clean_home, plan_of, wait_for

from surefit.launch import LAUNCHERS, Features, Job, Launcher, Order
from surefit.runs import RunFolder, create_run_folder

pytestmark = pytest.mark.process


@pytest.fixture(params=LAUNCHERS, ids=lambda launcher: launcher.name)
def launcher(request: pytest.FixtureRequest) -> Launcher:
    found: Launcher = request.param
    return found


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunFolder]:
    monkeypatch.setenv("SUREFIT_HOME", str(tmp_path / "home"))
    with clean_home(tmp_path / "home"):
        yield create_run_folder("contract")


def order(run: RunFolder, code: str) -> Order:
    return Order(run, plan_of(run.path / "m").training, (sys.executable, "-c", code))


def ended(launcher: Launcher, job: Job) -> None:
    wait_for("an end", lambda: not launcher.status(job).alive)


def test_features_are_declared(launcher: Launcher) -> None:
    declared = dataclasses.asdict(launcher.features)
    assert set(declared) == {field.name for field in dataclasses.fields(Features)}
    assert all(isinstance(value, bool) for value in declared.values())


@pytest.mark.parametrize("code", [0, 75])
def test_submit_logs_and_collect(launcher: Launcher, run: RunFolder, code: int) -> None:
    source = launcher.logs(run, None)
    job = launcher.submit(order(run, f"print('heard'); import sys; sys.exit({code})"))
    ended(launcher, job)
    status = launcher.collect(run, job)
    heard = source.read()
    source.close()
    assert heard == b"heard\n"
    assert (status.code, status.signal) == (code, None)


def test_a_job_is_all_there_is_to_know(launcher: Launcher, run: RunFolder) -> None:
    source = launcher.logs(run, None)
    job = launcher.submit(order(run, "import time; time.sleep(60)"))
    again = Job.model_validate_json(job.model_dump_json())
    assert type(launcher)().status(again).alive
    launcher.cancel(run, again, firm=True)
    ended(launcher, again)
    source.close()
    assert launcher.collect(run, again).signal == 9


def test_cancel_is_gentle_first(launcher: Launcher, run: RunFolder) -> None:
    code = (
        "import signal, sys, time; signal.signal(15, lambda *_: sys.exit(75)); "
        "print('ready', flush=True); time.sleep(60)"
    )
    source = launcher.logs(run, None)
    job = launcher.submit(order(run, code))
    wait_for("ready", source.read)
    launcher.cancel(run, job, firm=False)
    ended(launcher, job)
    source.close()
    assert launcher.collect(run, job).code == 75


def test_collect_ends_what_the_worker_left(launcher: Launcher, run: RunFolder) -> None:
    child = "import time; time.sleep(60)"
    code = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {child!r}])"
    source = launcher.logs(run, None)
    job = launcher.submit(order(run, code))
    ended(launcher, job)
    began = time.monotonic()
    launcher.collect(run, job)
    source.close()
    assert time.monotonic() - began < 2
