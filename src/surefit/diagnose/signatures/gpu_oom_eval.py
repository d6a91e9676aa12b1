"""SF104 GPU_OOM_EVAL."""

from surefit.diagnose.signatures.gpu_memory import GpuCase, GpuOutOfMemory


class GpuOutOfMemoryInEvaluation(GpuOutOfMemory):
    """GPU memory ran out during an evaluation.

    ## What happened
    Training fitted, the evaluation did not. It comes at the first evaluation, often hours into the
    run.

    ## Why
    Evaluation uses its own batch size (8 by default in transformers), keeps the logits of every row
    unless told otherwise, and evaluation rows may be longer than training rows.

    ## Example
        File ".../transformers/trainer.py", line 4500, in prediction_step
        torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 7.83 GiB.

    ## What to do
    Evaluate with batch 1 and do not keep the logits (`prediction_loss_only=True`). The training
    settings can stay.
    """

    code = "SF104"
    failure_class = "GPU_OOM_EVAL"
    title = "GPU memory ran out during evaluation"
    phases = frozenset({"eval"})

    def words(self, case: GpuCase) -> tuple[str, str, str]:
        """The account."""
        memory = case.memory
        return (
            f"{memory.name} ran out of memory during an evaluation; training itself fitted",
            f"the evaluation batch and its logits do not fit: {memory.account}",
            "set the evaluation batch to 1 and do not keep the logits (prediction_loss_only), then "
            "continue from the last checkpoint",
        )
