"""SF112 LAUNCHER."""

import re

from surefit.diagnose.signatures.signature import Found, TextSignature


class LauncherMismatch(TextSignature):
    """Processes and GPUs do not match.

    ## What happened
    More processes were started than GPUs are visible, two processes took the same GPU, or one
    process found several GPUs where the program needs one process per GPU.

    ## Why
    `--nproc-per-node` differs from the visible GPUs, CUDA_VISIBLE_DEVICES hides some, or a script
    was started with `python` on a machine with several GPUs.

    ## Example
        torch.AcceleratorError: CUDA error: invalid device ordinal

    ## What to do
    Start exactly one process per visible GPU, or make one GPU visible for a program that handles
    one.
    """

    code = "SF112"
    failure_class = "LAUNCHER"
    title = "Processes and GPUs do not match"
    patterns = (
        r"[Ii]nvalid device (?:ordinal|id\b|argument)",
        r"device_map=.auto. in any distributed mode",
        r"Duplicate GPU detected",
        r"does not support .?nn\.DataParallel",
        r"does not support multi[- ]?GPU|multi[- ]?GPU (?:setups? |training )?(?:is|are) not "
        r"(?:yet )?supp",
        r"not supported for multi-?GPU|only supports? (?:a )?single GPU|does not work with "
        r"multiple GPUs",
        r"(?:local_)?rank \d+.{0,40}(?:only|but).{0,20}\d+ (?:GPU|device)s?",
        r"num_processes.{0,40}(?:exceeds|greater than|larger than).{0,30}(?:GPU|device)",
        r"No (?:more )?devices? (?:left|available) for rank",
    )
    what = "the number of processes does not match the visible GPUs{place}{counts}"
    why = "{text}"
    next_step = (
        "start one process per visible GPU{flag}; for a program that handles only one GPU, "
        "start one "
        "process with `CUDA_VISIBLE_DEVICES=0`"
    )

    def words(self, found: Found) -> dict[str, str]:
        """How many processes were started and how many GPUs are there, where the log tells."""
        evidence = found.evidence
        ranks = {line.rank for line in evidence.lines if line.rank is not None}
        ranks |= {exit_.rank for exit_ in evidence.rank_exits if exit_.rank is not None}
        asked = [m[1] for _, m in evidence.find_all(r"--nproc[-_]per[-_]node[= ](\d+)")]
        started = int(asked[-1]) if asked else max(ranks) + 1 if ranks else None
        told = [m[1] for _, m in evidence.find_all(r"cuda available: True, (\d+) device")]
        listed = {m[1] for _, m in evidence.find_all(r"^\|\s+(\d+)\s+NVIDIA ")}
        gpus = int(told[-1]) if told else len(listed) or None
        known = started is not None and gpus is not None and re.search("ordinal", found.text)
        counts = f": {started} started, {gpus} GPUs visible" if known else ""
        flag = f" (`--nproc-per-node {gpus}`)" if known else ""
        return {**super().words(found), "counts": counts, "flag": flag}
