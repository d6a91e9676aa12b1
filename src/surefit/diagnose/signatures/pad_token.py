"""SF502 PAD_TOKEN."""

from surefit.diagnose.signatures.signature import TextSignature


class PadToken(TextSignature):
    """The tokenizer has no padding token.

    ## What happened
    Rows of different lengths were to be put into one batch, and the tokenizer has no token to fill
    them up with.

    ## Why
    Many base models were trained on full blocks and never needed one.

    ## Example
        ValueError: Asking to pad but the tokenizer does not have a padding token.

    ## What to do
    Use an existing token (eos or unk) as padding, and mask it by position, never by its id. Do not
    add a new token: the embeddings would have to grow.
    """

    code = "SF502"
    failure_class = "PAD_TOKEN"
    title = "No padding token"
    patterns = (
        r"does not have a pad(?:ding)?[ _]token|Asking to pad but",
        r"[Cc]annot handle batch sizes > 1 if no padding token is defined",
        r"(?:no|without a?|missing) pad(?:ding)?[ _]token|pad_token(?:_id)?.{0,40}(?:not set|"
        r"None|must be (?:set|defined))",
        r"[Tt]okenizer.{0,40}pad(?:ding)?[ _]token.{0,30}(?:required|missing|not)",
    )
    what = "the tokenizer of {model} has no padding token"
    why = "{text}"
    next_step = (
        "set the padding token to the eos or unk token (no new token, no resizing), then {again}"
    )
