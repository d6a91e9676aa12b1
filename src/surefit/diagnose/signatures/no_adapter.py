"""SF311 NO_ADAPTER."""

from surefit.diagnose.signatures.signature import TextSignature


class NoAdapter(TextSignature):
    """A quantised model was to be trained without an adapter.

    ## What happened
    The weights are in 4 or 8 bit, and nothing trainable was attached to them.

    ## Why
    Gradients cannot change quantised weights. QLoRA trains a small adapter beside them.

    ## Example
        ValueError: You cannot perform fine-tuning on purely quantized models. Please attach
        trainable adapters on top of the quantized model

    ## What to do
    Switch LoRA on, or load the model in 16 bit for a full fine-tune.
    """

    code = "SF311"
    failure_class = "NO_ADAPTER"
    title = "A quantised model without an adapter"
    patterns = (
        r"cannot (?:perform )?fine-?tun\w*.{0,20}purely quantized",
        r"quantized models?.{0,60}attach(?:ed)? (?:a )?trainable adapters?",
        r"(?:4|8)-?bit.{0,60}(?:without|requires?) (?:a |an )?(?:LoRA|PEFT|adapter)",
        r"not possible to fine-?tune a (?:4|8)-?bit.{0,40}(?:without|adapter)",
    )
    what = "a quantised model was to be trained without an adapter"
    why = "gradients cannot change 4-bit or 8-bit weights: {text}"
    next_step = "switch LoRA on (QLoRA), or load the model in 16 bit for a full fine-tune"
