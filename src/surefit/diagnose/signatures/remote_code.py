"""SF305 REMOTE_CODE."""

from surefit.diagnose.signatures.signature import TextSignature


class RemoteCode(TextSignature):
    """The model wants to run Python code from its own repository.

    ## What happened
    The repository holds code of its own, and running it was not allowed.

    ## Why
    Such code does whatever its author wants on your machine. surefit never runs it.

    ## Example
        The repository plover-code-3b contains custom code which must be executed to correctly load
        the model. Please pass the argument `trust_remote_code=True`

    ## What to do
    Choose a model that needs no code of its own. In another trainer: have the code reviewed and
    allow it for that exact commit only.
    """

    code = "SF305"
    failure_class = "REMOTE_CODE"
    title = "The model brings its own code"
    patterns = (
        r"(?:repository|repo)(?: for)? (?P<repo>\S+) contains custom code",
        r"trust_remote_code ?= ?True",
        r"(?<!\S)(?P<repo>\S+) (?:requires|needs) .{0,20}(?:remote|custom) code|allow_remote_code",
        r"requires you to execute the (?:configuration|modeling|dataset)? ?(?:script|file)",
        r"Dataset scripts are no longer supported, but found (?P<repo>\S+)",
    )
    what = "{model} brings Python code of its own, which was not allowed to run (trust_remote_code)"
    why = "{text}"
    next_step = (
        "choose a model without code of its own, or have the code reviewed and allow it for "
        "that exact "
        "commit only"
    )
