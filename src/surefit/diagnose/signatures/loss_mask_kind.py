"""SF503 LOSS_MASK_KIND."""

from typing import ClassVar

from surefit.diagnose.signatures.signature import TextSignature


class LossMaskKind(TextSignature):
    """A setting about which tokens carry loss does not fit these rows or this template.

    ## What happened
    The loss was to be limited to the assistant's tokens or to completions, and the rows or the
    template do not support that.

    ## Why
    `assistant_only_loss` needs conversations and a template with generation markers;
    `completion_only_loss` needs rows of prompt and completion.

    ## Example
        ValueError: You set `assistant_only_loss=True`, but the dataset is not conversational.

    ## What to do
    Switch the setting off, or map the rows to the form it needs.
    """

    code = "SF503"
    failure_class = "LOSS_MASK_KIND"
    title = "A loss mask that does not fit the rows"
    patterns = (
        r"(?P<option>assistant_only_loss|completion_only_loss|train_on_responses_only|"
        r"train_on_inputs|mask_history)"
        r"\W.{0,160}(?:not conversational|only supported|not supported|incompatible|no "
        r"assistant|requires?"
        r"|does not (?:contain|have|support))",
        r"(?:only supported|not supported|incompatible|requires?).{0,80}(?P<option>assistant_onl"
        r"y_loss|completion_only_loss)",
        r"(?P<option>return_assistant_tokens_mask).{0,120}(?:generation|template)",
        r"template.{0,60}(?:does not (?:contain|have|support)|lacks|without).{0,40}generation",
        r"(?P<option>DataCollatorForCompletionOnlyLM).{0,80}(?:packing|not supported)",
        r"Passing `?formatting_func`? is not compatible with (?P<option>completion[_-]only)",
    )
    defaults: ClassVar[dict[str, str]] = {"option": "the loss-mask setting"}
    what = "`{option}` does not fit these rows or this template"
    why = "{text}"
    next_step = "turn `{option}` off, or give the rows (or the template) the form that it needs"
