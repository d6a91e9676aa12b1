"""The environment of a local worker: named variables and nothing else.

A worker reads one folder and writes to it. It gets the token of the Hub only where it has something
to fetch there: what it does not have it cannot print. Anything new that it needs is a line here.
"""

from collections.abc import Mapping

from surefit.plan.plan import TrainingPlan
from surefit.runs import RunFolder

RUN_VARIABLE = "SUREFIT_RUN_FOLDER"  # also how everything that a worker starts is found again

_PASSED = frozenset(
    """PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR PYTHONPATH VIRTUAL_ENV LD_LIBRARY_PATH
    LD_PRELOAD SUREFIT_HOME XDG_CACHE_HOME HF_HOME TORCH_HOME TRITON_CACHE_DIR""".split()  # noqa: SIM905
)
_PASSED_PREFIXES = (
    "LC_",
    "CUDA_",
    "NVIDIA_",
    "NCCL_",
    "GLOO_",
    "HIP_",
    "ROCR_",
    "MKL_",
    "KMP_",
    "OMP_",
)
_SECRET_ENDINGS = ("TOKEN", "SECRET", "PASSWORD", "KEY")


def worker_environment(
    run: RunFolder, training: TrainingPlan, outer: Mapping[str, str]
) -> dict[str, str]:
    """The variables of a worker. What it needs to fetch its model is added by `hub.worker_variables`.

    Args:
        run: its run folder.
        training: threads and the allocator's settings come from here.
        outer: the environment of the supervisor.
    """
    passed = {name: value for name, value in outer.items() if _is_passed(name)}
    threads = str(training.threads)
    return {
        **passed,
        "OMP_NUM_THREADS": threads,
        "MKL_NUM_THREADS": threads,
        "PYTHONFAULTHANDLER": "1",
        "PYTHONUNBUFFERED": "1",
        "PYTHONSAFEPATH": "1",  # a torch.py in the folder where the user stands is not imported
        "PYTHONIOENCODING": "utf-8:backslashreplace",
        "TOKENIZERS_PARALLELISM": "false",
        "HF_HUB_OFFLINE": "1",  # but for what the plan pinned, nothing is fetched
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "DO_NOT_TRACK": "1",
        **training.allocator,
        RUN_VARIABLE: str(run.path),
    }


def _is_passed(name: str) -> bool:
    if name.upper().endswith(_SECRET_ENDINGS):
        return False
    return name in _PASSED or name.startswith(_PASSED_PREFIXES)
