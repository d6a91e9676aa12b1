"""SF310 RESUME_BAD."""

import re

from surefit.diagnose.evidence import Evidence
from surefit.diagnose.signatures.signature import Found, TextSignature

_CHECKPOINT = (
    r"(?<![\w./~-])[\w./~-]{0,200}?(?:checkpoint|global_step|step)[-_]?\d{1,9}[\w./-]{0,80}"
)
_STATE_KEYS = (
    r"^KeyError: ['\"]?(?:beta\d?|betas|exp_avg\w*|step|momentum\w*|state|"
    r"param_groups|scale|eps|foreach|fused|amsgrad|maximize|row|col|factored|"
    r"\d+)['\"]?$"
)
_OPTIMIZER = r"optim|lr_scheduler|_load_optimizer|load_state_dict"


class ResumeBad(TextSignature):
    """The checkpoint to resume from is absent, incomplete or of another kind of run.

    ## What happened
    The run should go on from a checkpoint, and that checkpoint cannot be used.

    ## Why
    It was being written when the run died, it was deleted, it was saved by another number of
    processes, or the optimizer differs from the one that wrote it.

    ## Example
        FileNotFoundError: No such file or directory: '/data/ck/checkpoint-20/trainer_state.json'

    ## What to do
    Resume from the complete checkpoint before it, with the same optimizer and number of processes;
    or load its weights only and start the optimizer anew.
    """

    code = "SF310"
    failure_class = "RESUME_BAD"
    title = "A checkpoint that cannot be resumed"
    patterns = (
        r"Can't find a valid checkpoint at (?P<checkpoint>\S+)",
        r"No valid checkpoint found in output directory \(?(?P<checkpoint>[^\s)]+)",
        rf"(?:No such file or directory|[Nn]ot found|does not exist|[Uu]nable to (?:open|find|"
        rf"load)).{{0,60}}?(?P<checkpoint>{_CHECKPOINT})",
        rf"(?P<checkpoint>{_CHECKPOINT}).{{0,80}}(?:does not exist|not found|incomplete|invalid|"
        rf"missing|corrupt)",
        r"zero_pp_rank_\d+_mp_rank_\d+\w*\.pt",
        r"loaded state dict (?:contains a parameter group|has a different number of parameter "
        r"groups)",
        r"(?:resume|resuming).{0,60}(?:but|not|no).{0,40}(?P<checkpoint>checkpoint\S*)",
        r"(?:world size|number of (?:processes|ranks|GPUs)).{0,60}(?:checkpoint|resum|different|"
        r"mismatch)",
        r"Attempting to resume from (?P<checkpoint>\S+).{0,60}but",
        _STATE_KEYS,
    )
    what = "the run cannot go on from {checkpoint}"
    why = "{text}{reason}"
    next_step = "{remedy}"

    def accepts(self, found: Found) -> bool:
        """A missing key speaks of a checkpoint only inside an optimizer, and only while resuming."""
        if not found.failure or not re.match(_STATE_KEYS, found.failure.last.text):
            return "adapter_config" not in found.text
        return found.failure.mentions(_OPTIMIZER) and _resumed(found.evidence) is not None

    def words(self, found: Found) -> dict[str, str]:
        """Which checkpoint, and whether it is the optimizer that differs."""
        words = super().words(found)
        checkpoint = words.get("checkpoint") or _resumed(found.evidence) or "the checkpoint"
        other = re.search(_STATE_KEYS, found.text, re.MULTILINE) or "parameter group" in found.text
        reason = (
            "; the saved optimizer state is of another optimizer or of other parameters"
            if other
            else ""
        )
        remedy = (
            f"resume with the optimizer and parameters that wrote {checkpoint}, or load only "
            f"its weights"
            if other
            else "resume from the complete checkpoint before it; one that was being written is "
            "not whole"
        )
        return {**words, "checkpoint": checkpoint, "reason": reason, "remedy": remedy}

    def phase_of(self, found: Found) -> str | None:
        """Resuming is the start of training."""
        return "first_step"


def _resumed(evidence: Evidence) -> str | None:
    """The checkpoint that the log names."""
    for line, match in evidence.find_all(rf"(?P<checkpoint>{_CHECKPOINT})"):
        if re.search(r"resum|[Ll]oading|continu", line.text):
            return match["checkpoint"]
    return None
