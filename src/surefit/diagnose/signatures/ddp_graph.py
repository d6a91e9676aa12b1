"""SF705 DDP_GRAPH."""

from typing import ClassVar

from surefit.diagnose.signatures.signature import Found, TextSignature


class DataParallelGraph(TextSignature):
    """Data parallel found parameters without gradient, or one that was ready twice.

    ## What happened
    Distributed data parallel waits for the gradient of every trainable parameter, once per step.
    One came never, or twice.

    ## Why
    A head or adapter takes no part in the loss; or gradient checkpointing in its older form runs a
    layer twice.

    ## Example
        RuntimeError: Expected to have finished reduction in the prior iteration before starting a
        new one.

    ## What to do
    Freeze or remove the parameters that are not used (their numbers are in the message), or set
    `find_unused_parameters=True`; with checkpointing use `use_reentrant=False`.
    """

    code = "SF705"
    failure_class = "DDP_GRAPH"
    title = "Unused or twice-used parameters under data parallel"
    patterns = (
        r"Expected to have finished reduction[\s\S]*?did not receive grad for rank \d+: "
        r"(?P<indices>[\d ]+)",
        r"Expected to have finished reduction in the prior iteration|find_unused_parameters",
        r"marked (?:a variable|as) ready (?:only )?(?:once|twice)|mark a variable ready only once",
        r"parameters? (?:that )?(?:were|was) not used in (?:producing|computing) (?:the )?loss",
        r"Your training graph has changed in this iteration|DDP.{0,60}static graph",
    )
    defaults: ClassVar[dict[str, str]] = {"indices": ""}
    what = "data parallel found parameters without a gradient, or one used twice{place}"
    why = "{text}{numbers}"
    next_step = (
        "freeze or remove the parameters that take no part in the loss (or set "
        "`find_unused_parameters=True`); with gradient checkpointing use `use_reentrant=False`"
    )

    def words(self, found: Found) -> dict[str, str]:
        """The numbers of the parameters."""
        words = super().words(found)
        numbers = f"; parameters {words['indices']} got none" if words["indices"] else ""
        return {**words, "numbers": numbers}
