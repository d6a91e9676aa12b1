"""What a worker is started with, and how processes are told apart."""

import os
from pathlib import Path

import pytest
from supervised import plan_of

from surefit.errors import UsageError
from surefit.launch import LAUNCHERS, launcher_named
from surefit.launch.local.environment import RUN_VARIABLE, worker_environment
from surefit.launch.process import ProcessIdentity, boot_id, identify
from surefit.runs import RunFolder


def test_a_worker_gets_named_variables_and_no_secret(tmp_path: Path) -> None:
    training = plan_of(
        tmp_path, threads=3, allocator={"PYTORCH_ALLOC_CONF": "expandable_segments:True"}
    ).training
    outer = {
        "PATH": "/bin",
        "LC_ALL": "C",
        "CUDA_VISIBLE_DEVICES": "1",
        "OMP_NUM_THREADS": "64",
        "HF_TOKEN": "hf_x",
        "NCCL_SECRET": "s",
        "AWS_SECRET_ACCESS_KEY": "k",
        "SOMETHING": "else",
    }
    found = worker_environment(RunFolder(tmp_path), training, outer)
    assert not {"HF_TOKEN", "NCCL_SECRET", "AWS_SECRET_ACCESS_KEY", "SOMETHING"} & set(found)
    expected = {
        "PATH": "/bin",
        "CUDA_VISIBLE_DEVICES": "1",
        "OMP_NUM_THREADS": "3",
        "MKL_NUM_THREADS": "3",
        "PYTHONFAULTHANDLER": "1",
        "PYTHONUNBUFFERED": "1",
        "PYTORCH_ALLOC_CONF": "expandable_segments:True",
        RUN_VARIABLE: str(tmp_path),
    }
    assert expected.items() <= found.items()


def test_a_process_is_its_number_its_start_and_its_boot() -> None:
    me = identify(os.getpid())
    assert me is not None
    assert me.is_alive()
    assert not ProcessIdentity(me.pid, me.start_time + 1, me.boot).is_alive()
    assert not ProcessIdentity(me.pid, me.start_time, "earlier").is_alive()
    assert identify(999_999_999) is None
    assert boot_id()


def test_a_launcher_is_found_by_its_name() -> None:
    assert launcher_named("local") is LAUNCHERS[0]
    with pytest.raises(UsageError, match="no launcher 'mars'"):
        launcher_named("mars")
