"""SF309 SIZE_MISMATCH."""

import re
from typing import ClassVar

from surefit.diagnose.phases import find_phase
from surefit.diagnose.signatures.signature import Found, TextSignature


class SizeMismatch(TextSignature):
    """Weights of other shapes than the model has.

    ## What happened
    Saved weights were loaded into a model whose tensors have other sizes.

    ## Why
    An adapter of another rank, a checkpoint of another base model, or a vocabulary that was resized
    before saving but not before loading.

    ## Example
        size mismatch for ...q_proj.lora_A.default.weight: copying a param with shape
        torch.Size([16, 64]) from checkpoint, the shape in current model is torch.Size([64, 64]).

    ## What to do
    Use the base model, the rank and the vocabulary that the weights were made with, or start fresh.
    """

    code = "SF309"
    failure_class = "SIZE_MISMATCH"
    title = "Weights of other shapes"
    patterns = (
        r"size mismatch for (?P<tensor>\S+?): copying a param with shape "
        r"(?:torch\.Size\()?\[?(?P<saved>[\d, ]+)"
        r"\]?\)? from checkpoint,? (?:the )?(?:shape|where the shape "
        r"is)[^\[\d]*\[?(?P<wanted>[\d, ]+)",
        r"size mismatch for (?P<tensor>\S+)|(?:size|shape)s? (?:mismatch|do(?:es)? not match)",
        r"ignore_mismatched_sizes|were found in the checkpoint and .{0,40} in the model "
        r"instantiated",
        r"[Tt]rying to set a tensor of shape (?:torch\.Size\()?\[?(?P<saved>[\d, ]+)\]?\)? in "
        r"\"?(?P<tensor>\S+?)\"? "
        r"\(which has shape (?:torch\.Size\()?\[?(?P<wanted>[\d, ]+)",
        r"The size of tensor a \(\d+\) must match the size of tensor b",
        r"Error\(s\) in loading state_dict",
    )
    defaults: ClassVar[dict[str, str]] = {
        "tensor": "the weights",
        "saved": "another shape",
        "wanted": "its own",
    }
    what = (
        "saved weights have other shapes than the model: {tensor} has [{saved}], the model "
        "[{wanted}]"
    )
    why = "{reason}"
    next_step = (
        "use the base model and the settings that the weights were made with ({same}), "
        "or start fresh"
    )

    def accepts(self, found: Found) -> bool:
        """Tensors that do not match in a forward pass are another kind of error."""
        if not re.search(r"size of tensor a|do(?:es)? not match", found.text):
            return True
        return found.failure is not None and found.failure.mentions(
            r"load_|set_module_tensor|merge"
        )

    def phase_of(self, found: Found) -> str | None:
        """Weights are loaded before the first step, also where the log does not show it."""
        told = find_phase(found.evidence, found.failure, found.evidence.root.rank)
        return "load_model" if told == "unknown" else told

    def words(self, found: Found) -> dict[str, str]:
        """Which setting differs, as the tensor's name and shapes tell."""
        words = super().words(found)
        lora = "lora_" in words["tensor"]
        table = re.search("embed|lm_head|wte|shared", words["tensor"])
        ranks = [words["saved"].split(",")[0].strip(), words["wanted"].split(",")[0].strip()]
        if lora and all(part.isdigit() for part in ranks):
            pair = [
                int(words[k].split(",")[-1 if "lora_B" in words["tensor"] else 0])
                for k in ("saved", "wanted")
            ]
            reason, same = (
                f"the adapter was trained with rank {pair[0]}, this run asks for {pair[1]}",
                "the same rank",
            )
        elif table:
            reason, same = (
                "the vocabulary has another size: tokens were added, or it is another base",
                "the same base and tokens",
            )
        else:
            reason, same = words["text"], "the same base, rank and vocabulary"
        return {**words, "reason": reason, "same": same}
