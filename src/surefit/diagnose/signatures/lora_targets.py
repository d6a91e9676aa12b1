"""SF301 LORA_TARGETS."""

from typing import ClassVar

from surefit.diagnose.diagnosis import Repair
from surefit.diagnose.signatures.signature import Found, TextSignature


class LoraTargets(TextSignature):
    """The adapter's targets do not exist in this model, or may not carry an adapter.

    ## What happened
    LoRA was told to attach to layers by name, and the model has no such layers, or layers of a
    kind that cannot be adapted.

    ## Why
    Every architecture names its layers in its own way: `q_proj` in Llama, `c_attn` in GPT-2,
    `query_key_value` in older GPT-NeoX. `lm_head` is refused by trainers that compute the loss
    from its weight directly.

    ## Example
        Target modules {'c_attn', 'c_proj'} not found in the base model.

    ## What to do
    Use all linear layers (`target_modules="all-linear"`); surefit's plan names them from the
    model's own configuration. Remove `lm_head` from a list of your own.
    """

    code = "SF301"
    failure_class = "LORA_TARGETS"
    title = "Adapter targets that this model lacks"
    patterns = (
        r"[Tt]arget[_ ]modules? (?P<targets>.+?) (?:was |were )?not found in the base model",
        r"adapter to .?(?P<targets>lm_head|embed_tokens|[\w.]+)[^\w]{1,2} ?is not supported",
        r"[Tt]arget module (?P<targets>.+?) is not supported",
        r"No (?:target )?modules were targeted|[Pp]lease specify `?target_modules`?",
        r"target_modules=(?P<targets>.+?) were set but no module was matched",
        r"(?P<targets>\{[^}]*\}|\[[^\]]*\]).{0,30}(?:target modules|not found "
        r"in).{0,30}(?:model|not found)",
        r"target (?:module|layer)s? (?P<targets>.+?) (?:do(?:es)? not exist|(?:is|are) missing)",
    )
    defaults: ClassVar[dict[str, str]] = {"targets": "you named"}
    what = "the adapter's targets {targets} cannot be used in this model"
    why = "its layers have other names, or may not carry an adapter: {text}"
    next_step = "{remedy}, then {again}"

    def words(self, found: Found) -> dict[str, str]:
        """Another list for names that are not there; one name less for `lm_head`."""
        words = super().words(found)
        head = "lm_head" in words["targets"]
        use_all = 'use all linear layers (`target_modules="all-linear"`)'
        return {**words, "remedy": "remove `lm_head` from the targets" if head else use_all}

    def repairs(self, found: Found) -> tuple[Repair, ...]:
        """The plan's own list."""
        return (Repair(change="method.targets: all-linear", same_result=False),)
