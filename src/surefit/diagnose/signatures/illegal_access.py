"""SF116 ILLEGAL_ACCESS."""

from surefit.diagnose.signatures.signature import TextSignature


class IllegalAccess(TextSignature):
    """A GPU kernel touched memory that is not its own.

    ## What happened
    CUDA stopped the program with an illegal or misaligned memory access.

    ## Why
    Usually a bug in a fused kernel (attention, loss, optimizer), sometimes an index outside a
    table. The line in the traceback is often not the guilty one, because kernels run
    asynchronously.

    ## Example
        torch.AcceleratorError: CUDA error: an illegal memory access was encountered

    ## What to do
    Repeat once from the last checkpoint with fused kernels off; `CUDA_LAUNCH_BLOCKING=1` for one
    step shows the true line. If it comes again on other hardware, report it to the kernel's
    authors.
    """

    code = "SF116"
    failure_class = "ILLEGAL_ACCESS"
    title = "Illegal memory access on the GPU"
    retryable = True
    patterns = (
        r"illegal memory access|cudaErrorIllegalAddress|CUDA_ERROR_ILLEGAL_ADDRESS",
        r"CUDA error: misaligned address|cudaErrorMisalignedAddress|an illegal instruction was enc",
        r"Warp (?:Illegal|Out-of-range) (?:Address|Instruction)",
    )
    what = "a GPU kernel touched memory that is not its own{step}{place}"
    why = "{text}; the line in the traceback may not be the guilty one"
    next_step = (
        "repeat once from the last checkpoint with fused kernels (liger, flash attention) off, and "
        "`CUDA_LAUNCH_BLOCKING=1` for one step to see the true line"
    )
    context = (r"\b(?:liger|flash|fused|triton|xformers)\b.*(?:applied|enabled|using)",)
