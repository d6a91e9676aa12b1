"""SF101 GPU_OOM_LOAD."""

from surefit.diagnose.signatures.gpu_memory import GpuCase, GpuOutOfMemory


class GpuOutOfMemoryLoading(GpuOutOfMemory):
    """GPU memory ran out while the model was loaded.

    ## What happened
    The weights did not fit the GPU. No batch was computed yet, so no setting of the batch helps.

    ## Why
    The weights alone need 2 bytes a parameter in 16 bit, about 0.6 in 4 bit. Under data parallel
    every GPU holds a full copy: more GPUs do not help. Sometimes another process holds the memory.

    ## Example
        torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 448.00 MiB. GPU 0 has a total
        capacity of 44.40 GiB of which 1.06 GiB is free.

    ## What to do
    If another process holds the card, stop it or use a free one. Otherwise load in 4 bit, shard the
    weights over the GPUs (FSDP or ZeRO-3), or take a smaller model or a bigger GPU.
    """

    code = "SF101"
    failure_class = "GPU_OOM_LOAD"
    title = "GPU memory ran out while loading"
    phases = frozenset({"import", "load_tokenizer", "load_model", "prepare_data"})

    def accepts(self, case: GpuCase) -> bool:
        """Loading asks for small pieces; fragments are no excuse there."""
        return case.phase in self.phases

    def words(self, case: GpuCase) -> tuple[str, str, str]:
        """The account, and another process's share of it."""
        memory = case.memory
        what = f"{memory.name} ran out of memory while the model was loaded"
        if memory.other_process:
            why = f"another process holds most of it: {memory.account}"
            return (
                what,
                why,
                (
                    f"stop process {memory.other_process} (it holds {memory.other_held} of "
                    f"{memory.name}) "
                    "or use a free GPU, then run again"
                ),
            )
        model = case.evidence.plan.model or "the model"
        why = f"the weights of {model} do not fit: {memory.account}"
        return (
            what,
            why,
            (
                "load in 4 bit (QLoRA), shard the weights over several GPUs (FSDP or "
                "ZeRO-3), or "
                "take a smaller model or a bigger GPU; data parallel puts a full copy on every GPU"
            ),
        )
