"""SF602 PRECISION."""

from surefit.diagnose.diagnosis import Repair
from surefit.diagnose.signatures.signature import Found, TextSignature


class PrecisionMismatch(TextSignature):
    """The precision does not go together with the device or with the weights.

    ## What happened
    A number format was asked for that this device lacks, or tensors of two formats met.

    ## Why
    bf16 needs an Ampere GPU or newer. fp16 with a scaler needs the trained weights in fp32. A model
    loaded in fp16 and an adapter in fp32 meet in one multiplication.

    ## Example
        ValueError: Attempting to unscale FP16 gradients.

    ## What to do
    Use bf16 where the GPU has it, else fp32; keep the trained weights in fp32.
    """

    code = "SF602"
    failure_class = "PRECISION"
    title = "Precision that does not fit"
    patterns = (
        r"Attempting to unscale FP16 gradients",
        r"[Yy]our (?:setup|GPU|device) doesn't support bf16|bf16.{0,60}(?:not supported|"
        r"requires?|unsupported)",
        r"bfloat16.{0,60}(?:not (?:supported|implemented)|requires|only supported)",
        r"[Bb]f(?:loat)?16 is (?:only )?(?:not )?supported on (?:GPUs|devices)",
        r"(?:FP16|fp16|half)[\s-].{0,60}(?:not supported|can only be used|requires|only works) "
        r"?.{0,40}(?:CUDA|GPU|device|CPU)?",
        r"\"?\w+\"? not implemented for '(?:Half|BFloat16|Float8\w*)'",
        r"expected (?:m1 and m2|mat1 and mat2|scalar type|self and mat2).{0,60}(?:same dtype|"
        r"but (?:got|found))",
        r"expected scalar type \w+ but found \w+|Input type \(.{1,40}\) and (?:weight|bias) "
        r"type .{1,40}should be the same",
        r"mat1 and mat2 must have the same dtype|[Mm]ust flatten tensors with (?:the same|"
        r"uniform) dtype",
        r"[Cc]annot flatten integer dtype|dtype mismatch|same dtype, but got",
        r"(?:BF16|FP16) .{0,90}(?:can only be used|is not supported|requires)",
        r"--tf32 requires|fp8.{0,60}(?:requires|not supported)",
        r"result type Float can't be cast|[Tt]ensors must have (?:the )?same dtype",
    )
    what = "the precision does not fit the device or the weights"
    why = "{text}"
    next_step = (
        "use bf16 where the GPU has it, else fp32, and keep the trained weights in fp32 (load "
        "the model in "
        "bf16 or fp32, not fp16)"
    )

    def repairs(self, found: Found) -> tuple[Repair, ...]:
        """fp32 always works."""
        return (Repair(change="how.precision: float32", same_result=False),)
