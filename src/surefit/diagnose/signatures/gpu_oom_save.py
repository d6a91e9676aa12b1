"""SF105 GPU_OOM_SAVE."""

from surefit.diagnose.signatures.gpu_memory import GpuCase, GpuOutOfMemory


class GpuOutOfMemorySaving(GpuOutOfMemory):
    """GPU memory ran out while saving or merging.

    ## What happened
    The training was done or interrupted for a checkpoint, and gathering or merging the weights on
    a GPU did not fit.

    ## Why
    A sharded model is gathered into one full copy on one GPU; a merge holds base and result
    together.

    ## Example
        File "merge.py", line 15, in <module>
            model = model.merge_and_unload()
        torch.OutOfMemoryError: CUDA out of memory.

    ## What to do
    Merge on the CPU, or shard by shard; save sharded. The adapter or the last whole checkpoint is
    not lost.
    """

    code = "SF105"
    failure_class = "GPU_OOM_SAVE"
    title = "GPU memory ran out while saving or merging"
    phases = frozenset({"save", "merge", "push", "verify"})

    def words(self, case: GpuCase) -> tuple[str, str, str]:
        """The account, and what is safe."""
        memory = case.memory
        doing = "merging" if case.phase == "merge" else "saving"
        return (
            f"{memory.name} ran out of memory while {doing}",
            f"a full copy of the weights is gathered on one GPU: {memory.account}",
            "merge on the CPU (or shard by shard), and save sharded; the trained adapter or the "
            "last "
            "checkpoint is still there",
        )
