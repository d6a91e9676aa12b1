"""A plan traced: the worker's package asked in a process of its own, its answers kept."""

import os
import subprocess
import sys
from pathlib import Path

from pydantic import ValidationError

from surefit.data import DatasetReport
from surefit.errors import OutsideError, WorkerExit
from surefit.home import traces_folder, write_atomically
from surefit.models.config import read_config
from surefit.plan import Plan
from surefit.plan.tracing import TraceRequest, TraceResult, versions

_LONGEST_SECONDS = 600


def trace_plan(plan: Plan, report: DatasetReport) -> TraceResult:
    """What a plan's largest micro-batch needs, from the recipe's real modules. Seconds, or at once
    where the same was traced before with the same packages.

    Raises:
        OutsideError: the training packages are not installed, or the model cannot be traced.
    """
    request = request_of(plan, report)
    file = traces_folder() / f"{request.key(versions())}.json"
    known = _read(file)
    if known is not None:
        return known
    result = run_trace(request)
    write_atomically(file, result.model_dump_json())
    return result


def request_of(plan: Plan, report: DatasetReport) -> TraceRequest:
    """The plan's largest micro-batch in the worker's words: every row as long as the longest."""
    training, tokens = plan.training, report.tokens
    longest = min(training.max_length, tokens.longest) if tokens else training.max_length
    if training.packing:
        longest = training.max_length
    share = tokens.trained / tokens.total if tokens and tokens.total else 1.0
    return TraceRequest(
        config=read_config(Path(plan.model.folder)),
        method=training.method,
        targets=training.targets,
        device=training.device,
        precision=training.precision,
        layout=training.layout,
        lengths=(longest,) * training.micro_batch,
        packing=training.packing,
        trained_share=share,
        gradient_checkpointing=training.gradient_checkpointing,
        accumulation=min(2, training.accumulation),
        max_gradient_norm=training.max_gradient_norm,
        attention=training.attention,
    )


def run_trace(request: TraceRequest) -> TraceResult:
    """The answer of `python -m surefit.train.trace`.

    Raises:
        OutsideError: it ended without one.
    """
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "surefit.train.trace"],
            input=request.model_dump_json(),
            capture_output=True,
            text=True,
            timeout=_LONGEST_SECONDS,
            env=environment,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise _failed(f"it took longer than {_LONGEST_SECONDS} seconds") from error
    if done.returncode == 0:
        return TraceResult.model_validate_json(done.stdout)
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    if lines and lines[-1].startswith("ModuleNotFoundError"):
        raise OutsideError(
            "the plan cannot be traced here",
            lines[-1],
            "install the training packages with `pip install 'surefit[train]'`, or plan without `--trace`",
            worker_exit=WorkerExit.NO_RESOURCE,
        )
    raise _failed(lines[-1] if lines else f"it ended with code {done.returncode}")


def _failed(why: str) -> OutsideError:
    return OutsideError(
        "the plan could not be traced",
        why,
        "plan without `--trace`: the arithmetic needs no library and stands as it is",
    )


def _read(file: Path) -> TraceResult | None:
    try:
        return TraceResult.model_validate_json(file.read_bytes())
    except (OSError, ValidationError):
        return None
