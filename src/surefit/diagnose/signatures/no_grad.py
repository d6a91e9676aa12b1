"""SF603 NO_GRAD."""

from surefit.diagnose.signatures.signature import TextSignature


class NoGradient(TextSignature):
    """Nothing requires a gradient.

    ## What happened
    The loss does not depend on anything that can be trained, so that there is nothing to compute.

    ## Why
    Everything is frozen, or gradient checkpointing cut the path: with frozen embeddings its older
    form (`use_reentrant=True`) sees inputs without gradient and drops the whole graph.

    ## Example
        RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn

    ## What to do
    Use gradient checkpointing with `use_reentrant=False` (or call `enable_input_require_grads()`),
    and make sure that the adapter is trainable.
    """

    code = "SF603"
    failure_class = "NO_GRAD"
    title = "Nothing requires a gradient"
    patterns = (
        r"does not require grad and does not have a grad_fn|does not require grad",
        r"[Nn]one of the (?:inputs|parameters) .{0,20}requires?_grad",
        r"optimizer got an empty parameter list|no (?:trainable )?parameters? (?:to (?:train|"
        r"optimize)|require)",
        r"[Nn]o trainable parameters|trainable params: 0\b|Trying to backward .{0,30}no grad",
        r"No inf checks were recorded",
        r"One of the differentiated Tensors (?:does not require grad|appears to not have been "
        r"used)",
    )
    what = "nothing requires a gradient, so nothing can be trained"
    why = "{text}"
    next_step = (
        "use gradient checkpointing with `use_reentrant=False` (or call "
        "`enable_input_require_grads()`), and "
        "check that the adapter or some weights are trainable"
    )
    context = (r"None of the inputs have requires_grad",)
