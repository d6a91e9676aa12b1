"""SF401 DISK_FULL."""

import re

from surefit.diagnose.signatures.signature import Found, TextSignature


class DiskFull(TextSignature):
    """The disk filled up.

    ## What happened
    A file could not be written because its disk had no room left: a checkpoint, the download
    cache, a prepared data set, or the log itself.

    ## Why
    Every checkpoint of a full fine-tune is about three times the weights (weights and two optimizer
    states), and nothing limits how many are kept unless you say so. Some writers do not even say
    that the disk is full: torch then speaks of an `unexpected pos`, a C++ stream of an `iostream
    error`.

    ## Example
        SafetensorError: Error while serializing: I/O error: No space left on device (os error 28)

    ## What to do
    Free space or write to another disk, keep fewer checkpoints, then start again. A checkpoint
    that was being written is not whole; the one before it is.
    """

    code = "SF401"
    failure_class = "DISK_FULL"
    title = "The disk is full"
    patterns = (
        r"No space left on device.*?(?P<path>'[^']+')?$",
        r"\bos error 28\b|\[Errno 28\]|ENOSPC|StorageFull",
        r"unexpected pos (?P<place1>\d+) vs (?P<place2>\d+)",
        r"basic_ios::clear: iostream error|file write failed|PytorchStreamWriter failed writing",
        r"[Nn]ot enough (?:free )?(?:disk )?space|disk is full|database or disk is full",
    )
    what = "the disk is full: a file could not be written whole{step}"
    why = "the write failed with: {text}{meaning}"
    next_step = (
        "free space on the disk of {output} or keep fewer checkpoints, then {again}; the "
        "checkpoint "
        "before the broken one is whole"
    )

    def accepts(self, found: Found) -> bool:
        """Shared memory and quotas speak of space too; they are other failures."""
        return not re.search(r"shared memory|\bshm\b|Errno 122|[Qq]uota", found.text)

    def words(self, found: Found) -> dict[str, str]:
        """The text of the error, with what it means where it does not say."""
        words = super().words(found)
        said = re.search(r"space|\b28\b|disk", words["text"])
        hint = " (torch's way of saying that the file could not grow: the disk is full)"
        return {**words, "meaning": "" if said else hint}
