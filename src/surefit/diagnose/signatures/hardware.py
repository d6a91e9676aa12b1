"""SF117 HARDWARE."""

from surefit.diagnose.evidence import Evidence
from surefit.diagnose.signatures.signature import Found, TextSignature, find_in_lines


class FaultyHardware(TextSignature):
    """The GPU or its link is faulty.

    ## What happened
    The GPU reported an error of its own: memory that cannot be corrected, a lost link, a reset.

    ## Why
    Hardware breaks. The driver writes an Xid number to the kernel's log: 48, 63, 64, 94, 95
    memory; 79 fallen off the bus; 74 NVLink; 119, 120 the GPU's firmware.

    ## Example
        torch.AcceleratorError: CUDA error: uncorrectable ECC error encountered

    ## What to do
    Run on another machine or GPU from the last checkpoint, and report this one to its operator
    with the lines shown. Nothing in the recipe is wrong.
    """

    code = "SF117"
    failure_class = "HARDWARE"
    title = "The GPU or its link is faulty"
    retryable = True
    plain_lines = True
    patterns = (
        r"uncorrectable (?:NVLink |ECC )?error|cudaErrorECCUncorrectable|double[- ]bit ECC",
        r"\bXid\b.{0,60}?:? ?(?P<xid>48|6[234]|74|79|9[245]|11[09]|12[0-9]|14[0-9])\b",
        r"fallen off the bus|GPU is lost|cudaErrorDeviceUnavailable|GPU has been lost",
        r"unspecified launch failure|cudaErrorLaunchFailure",
        r"hardware stack error|CUDA error: unknown error|NVLink.{0,20}(?:fatal|fail)",
        r"(?:GPU|[Dd]evice) .{0,20}requires? (?:a )?reset|RmInitAdapter failed|nvidia-smi.*ERR!",
    )
    what = "the GPU or its link failed{step}{place}: a fault of the hardware, not of the run"
    why = "{text}"
    next_step = (
        "go on from the last checkpoint on another machine or GPU, and report this one to its "
        "operator "
        "with the lines below"
    )

    def find(self, evidence: Evidence) -> Found | None:
        """Also a line of the kernel's log, which stands beside the exceptions."""
        found = super().find(evidence)
        if found is not None or not evidence.exit.failed:
            return found
        return find_in_lines(
            evidence, r"NVRM: Xid .{0,60}: " + self.patterns[1][8:], evidence.closing
        )
