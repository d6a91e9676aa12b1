"""SF103 GPU_OOM_FRAGMENT."""

from surefit.diagnose.signatures.gpu_memory import GpuCase, GpuOutOfMemory


class GpuMemoryInPieces(GpuOutOfMemory):
    """GPU memory is free, but in pieces that are too small.

    ## What happened
    PyTorch held more free memory than was wanted ("reserved but unallocated"), but no piece of it
    was large enough.

    ## Why
    Rows of very different lengths, or evaluation between training steps, leave holes of odd sizes.

    ## Example
        33.10 GiB is allocated by PyTorch, and 11.44 GiB is reserved by PyTorch but unallocated.

    ## What to do
    Start again with `PYTORCH_ALLOC_CONF=expandable_segments:True` (before torch 2.9:
    `PYTORCH_CUDA_ALLOC_CONF`). Nothing else has to change.
    """

    code = "SF103"
    failure_class = "GPU_OOM_FRAGMENT"
    title = "GPU memory is in pieces"

    def accepts(self, case: GpuCase) -> bool:
        """Over a fifth of what PyTorch holds is spare, and the spare would do."""
        loading = case.failure.mentions(r":from_pretrained|core_model_loading|:load_model")
        return case.memory.is_fragmented and not loading

    def words(self, case: GpuCase) -> tuple[str, str, str]:
        """How much is spare against what was wanted."""
        memory = case.memory
        return (
            f"{memory.name} has the memory, but in pieces: {memory.spare} is reserved and "
            f"unallocated",
            f"{memory.wanted} was wanted in one piece; {memory.account}; PyTorch holds "
            f"{memory.spare} "
            "that nothing uses",
            "start again with the environment variable `PYTORCH_ALLOC_CONF=expandable_segments:T"
            "rue`",
        )
