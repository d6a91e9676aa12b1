"""The families whose rules are known. A new one costs a file, a fixture and a line here."""

from surefit.models.families.family import Block, Config, Family, Sizes
from surefit.models.families.gemma import GEMMA, GEMMA2, GEMMA3
from surefit.models.families.llama import GRANITE, LLAMA, MISTRAL, SMOLLM3
from surefit.models.families.olmo2 import OLMO2
from surefit.models.families.phi3 import PHI3
from surefit.models.families.qwen import QWEN2, QWEN3

FAMILIES: tuple[Family, ...] = (
    LLAMA,
    MISTRAL,
    GRANITE,
    SMOLLM3,
    QWEN2,
    QWEN3,
    GEMMA,
    GEMMA2,
    GEMMA3,
    PHI3,
    OLMO2,
)


def family_of(model_type: str) -> Family | None:
    """The family with this `model_type`, or None where its rules are not known."""
    return next((one for one in FAMILIES if model_type in one.model_types), None)


__all__ = ["FAMILIES", "Block", "Config", "Family", "Sizes", "family_of"]
