"""Build logs of dead runs in the forms that libraries print them."""

from surefit.diagnose import Evidence
from surefit.diagnose.assembly import build
from surefit.diagnose.evidence import Beat, Exit
from surefit.diagnose.logs import clean_lines

# Loud and harmless: every wording is tried with these before it.
NOISE = """\
[launcher] previous attempt: CUDA out of memory at micro-batch 16, restarted at micro-batch 2
wandb: Network error (ReadTimeout), entering retry loop.
E0000 00:00:1779123843.1 2201 cuda_dnn.cc:8310] Unable to register cuDNN factory: already registered
huggingface/tokenizers: The current process just got forked. Disabling parallelism to avoid
deadlocks... /v/lib/python3.11/site-packages/torch/utils/data/dataloader.py:759: UserWarning:
'pin_memory' argument is set
  super().__init__(loader)
[notice] error log goes to standard output; timeout 600 s, retry on error; killed jobs are requeued
[env] memory watch: host 64 GB, alarm at 95 %, disk quota 2 TB, GPU quota 8
2026-05-05 08:11:02,118 INFO sft: torch 2.13.0+cu130, cuda available: True, 1 devices
2026-05-05 08:11:02,120 INFO sft: loading tokenizer from acme/heron-8b
2026-05-05 08:11:03,004 INFO sft: loading model
"""
PACKAGES = "/v/lib/python3.11/site-packages"


def trace(error: str, *calls: str, rank: int | None = None) -> str:
    """A traceback. A call is ``path:function`` in the site-packages, or ``path:line:function``."""
    lines = ["Traceback (most recent call last):"]
    lines += ['  File "/srv/train.py", line 84, in <module>', "    main()"]
    for call in calls:
        path, _, function = call.rpartition(":")
        whole = path if path.startswith("/") else f"{PACKAGES}/{path}"
        lines += [
            f'  File "{whole}", line 12, in {function}',
            f"    return {function}(x)",
            "           ^^^^",
        ]
    lines += error.split("\n")
    prefix = "" if rank is None else f"[rank{rank}]: "
    return "\n".join(prefix + line for line in lines) + "\n"


def steps(count: int, total: int = 3000, loss: str = "1.20") -> str:
    """A progress bar and figures that reach step `count`."""
    text = ""
    for step in range(1, count + 1):
        text += (
            f"\r {100 * step // total:3d}%|##        | {step}/{total} "
            f"[00:{step:02d}<09:00,  1.2it/s]"
        )
        text += (
            f"\n{{'loss': '{loss}', 'grad_norm': '0.41', 'learning_rate': '1e-4', 'epoch': "
            f"'0.{step}'}}\n"
        )
    return text


def torchrun_end(root: int, code: int, others: dict[int, int], name: str = "") -> str:
    """The report that torchrun prints."""
    told = f"  ({name})" if name else ""
    text = (
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
        + "=" * 60
        + "\nFailures:\n"
    )
    for number, (rank, exit_code) in enumerate(others.items(), start=1):
        text += (
            f"[{number}]:\n  time      : 2026-05-22_20:30:23\n  host      : n1\n  rank      : "
            f"{rank} "
            f"(local_rank: {rank})\n  exitcode  : {exit_code} (pid: {200 + rank})\n"
        )
    text += "-" * 60 + "\nRoot Cause (first observed failure):\n[0]:\n"
    text += (
        f"  rank      : {root} (local_rank: {root})\n  exitcode  : {code} (pid: "
        f"{200 + root}){told}\n"
    )
    return text + "=" * 60 + "\n"


def evidence(
    log: str,
    code: int | None = 1,
    signal: int | None = None,
    *,
    oom_kill: int | None = None,
    scheduler: str | None = None,
    files: dict[str, int] | None = None,
    beats: tuple[Beat, ...] = (),
    noise: bool = True,
) -> Evidence:
    """The evidence of a run that printed `log` and ended so."""
    text = (NOISE if noise else "") + log
    if signal is None and code is not None and (code < 0 or code > 128):
        code, signal = (None, -code) if code < 0 else (code, code - 128)
    return build(
        clean_lines([(1, text.encode())], "log.txt"),
        exit=Exit(code, signal, oom_kill, scheduler, known=True),
        files=files,
        heartbeats=beats,
    )
