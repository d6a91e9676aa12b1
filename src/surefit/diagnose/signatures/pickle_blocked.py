"""SF306 PICKLE_BLOCKED."""

from surefit.diagnose.signatures.signature import TextSignature


class PickleBlocked(TextSignature):
    """A weight or state file needs unpickling, which was refused.

    ## What happened
    A `.bin` or `.pt` file is a Python pickle. Loading one can run any code, so that torch loads
    only plain tensors from it, and this file holds more.

    ## Why
    The file is old, or somebody put something else into it.

    ## Example
        _pickle.UnpicklingError: Weights only load failed.

    ## What to do
    Use the safetensors version of the model. Do not switch the check off for a file from somebody
    else.
    """

    code = "SF306"
    failure_class = "PICKLE_BLOCKED"
    title = "A pickle was refused"
    patterns = (
        r"Weights only load failed",
        r"[Uu]nsupported (?:global|GLOBAL|class|operand).{0,80}(?:weights_only|blocked|pickle|"
        r"allowed)",
        r"serious vulnerability issue in `?torch\.load|CVE-2025-32434",
        r"require users to upgrade torch to at least v2\.6",
        r"(?:pickle|\.bin).{0,80}(?:refused|not allowed|blocked|unsafe|disallowed)",
    )
    what = "a file that needs unpickling was refused"
    why = "{text}"
    next_step = (
        "use the safetensors version of {model}; do not switch the check off for a file that "
        "somebody "
        "else wrote"
    )
