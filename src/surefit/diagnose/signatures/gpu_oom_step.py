"""SF102 GPU_OOM_STEP."""

from surefit.diagnose.diagnosis import Repair
from surefit.diagnose.phases import find_step
from surefit.diagnose.signatures.gpu_memory import GpuCase, GpuOutOfMemory


class GpuOutOfMemoryInStep(GpuOutOfMemory):
    """GPU memory ran out in the forward pass, the backward pass or the optimizer's step.

    ## What happened
    The model was loaded, but a training step needed more memory than the GPU has. It may come after
    hundreds of good steps: the first long batch decides.

    ## Why
    Activations grow with micro-batch times length; the logits take length times vocabulary;
    optimizer states appear at the first step.

    ## Example
        torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 5.86 GiB. GPU 2 has a total
        capacity of 79.25 GiB of which 4.95 GiB is free.

    ## What to do
    Micro-batch 1 with more accumulation gives the same result in less memory. Then gradient
    checkpointing, a smaller optimizer, shorter sequences (that one changes the result).
    """

    code = "SF102"
    failure_class = "GPU_OOM_STEP"
    title = "GPU memory ran out in a training step"
    phases = frozenset({"rehearsal", "first_step", "train", "unknown"})

    def words(self, case: GpuCase) -> tuple[str, str, str]:
        """The account, the step and the rank."""
        memory = case.memory
        step, rank = find_step(case.evidence, case.evidence.root.rank), case.evidence.root.rank
        where = f" in step {step}" if step else " in the first step"
        where += f" on rank {rank}" if rank is not None else ""
        failure = case.evidence.root.failure
        if failure is not None and "No executable batch size" in failure.text:
            return (
                "no batch size fits the GPU: even one sequence is too large",
                "the search for a batch size that fits reached zero (No executable batch size "
                "found)",
                "shorten the sequences, turn gradient checkpointing on, use 4 bit (QLoRA)"
                ", or "
                "take a bigger GPU",
            )
        other = memory.other_process
        share = f"; stop process {other} if it is not yours" if other else ""
        return (
            f"{memory.name} ran out of memory{where}",
            f"activations and optimizer do not fit beside the weights: {memory.account}",
            f"set the micro-batch to 1 and raise accumulation (same result), turn gradient "
            f"checkpointing on, or shorten the sequences{share}",
        )

    def repairs(self, case: GpuCase) -> tuple[Repair, ...]:
        """Smaller micro-batch first: it keeps the result."""
        micro, length = case.evidence.plan.micro_batch, case.evidence.plan.max_length
        found = (
            [Repair(change=f"how.micro_batch: {max(1, micro // 2)}", same_result=True)]
            if micro and micro > 1
            else []
        )
        found += [Repair(change="how.gradient_checkpointing: true", same_result=True)]
        found += (
            [Repair(change=f"goal.max_length: {length // 2}", same_result=False)] if length else []
        )
        return tuple(found)
