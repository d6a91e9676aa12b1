"""SF110 QUANT_PLACEMENT."""

from typing import ClassVar

from surefit.diagnose.signatures.signature import Found, TextSignature


class QuantizedOnTheWrongDevice(TextSignature):
    """A quantised model lies on a device where it cannot be trained.

    ## What happened
    A model in 4 or 8 bit was placed on the CPU, on the disk, on several devices or on another
    device than the one that trains.

    ## Why
    `device_map="auto"` spreads a model that does not fit; started once per GPU it loads every copy
    onto GPU 0. Quantised weights cannot be trained where they are offloaded.

    ## Example
        ValueError: Some modules are dispatched on the CPU or the disk. Make sure you have enough
        GPU RAM to fit the quantized model.

    ## What to do
    One copy per process on its own device (`device_map={"": local_rank}`), or shard with FSDP;
    where one copy does not fit a GPU, a smaller model or a bigger GPU.
    """

    code = "SF110"
    failure_class = "QUANT_PLACEMENT"
    title = "A quantised model on the wrong device"
    patterns = (
        r"[Ss]ome modules are dispatched on the (?P<where>CPU or the disk)",
        r"8-bit or 4-bit precision on (?P<where>multiple devices)",
        r"8-bit or 4-bit precision on a (?P<where>different device)",
        r"8-bit or 4-bit precision with (?P<where>CPU or disk offload)",
        r"loaded in (?:8|4)-?bit.{0,80}(?P<where>(?:multiple|different) device|offload)",
        r"(?:4|8)-?bit.{0,60}(?:not supported|cannot be).{0,40}(?P<where>offload|disk|CPU)",
        r"`?\.to`? is not supported for `?(?:4-bit|8-bit).{0,60}(?P<where>correct devices?)",
    )
    defaults: ClassVar[dict[str, str]] = {"where": ""}
    what = "the quantised weights of {model} lie on {place_named}"
    why = "4-bit and 8-bit weights train only as one whole copy on the process's own GPU: {text}"
    next_step = (
        'load one copy per process on its own GPU (`device_map={{"": local_rank}}`) or shard '
        "with FSDP; "
        "if one copy does not fit a GPU, use a smaller model or a bigger GPU"
    )

    def words(self, found: Found) -> dict[str, str]:
        """Where they lie, in words."""
        words = super().words(found)
        where = words["where"]
        named = "another device than the one that trains"
        if "CPU" in where or "offload" in where or "disk" in where:
            named = "the CPU or the disk, because the GPU has no room for them"
        elif "multiple" in where:
            named = "several devices"
        return {**words, "place_named": named}
