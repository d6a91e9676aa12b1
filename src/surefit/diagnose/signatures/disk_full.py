"""SF401 DISK_FULL."""

from surefit.diagnose.evidence import Evidence
from surefit.diagnose.signatures.signature import Found, TextSignature


class DiskFull(TextSignature):
    """The disk filled up.

    ## What happened
    A file could not be written because its disk had no room left: a checkpoint, the download cache, a
    prepared data set, or the log itself.

    ## Why
    Every checkpoint of a full fine-tune is about three times the weights (weights and two optimizer
    states), and nothing limits how many are kept unless you say so. Some writers do not even say that
    the disk is full: torch then speaks of an `unexpected pos`, a C++ stream of an `iostream error`.

    ## Example
        SafetensorError: Error while serializing: I/O error: No space left on device (os error 28)

    ## What to do
    Free space or write to another disk, keep fewer checkpoints, then start again. A checkpoint that was
    being written is not whole; the one before it is.
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
    why = "{text}"
    next_step = (
        "free space on the disk of {output} or keep fewer checkpoints, then {again}; the checkpoint "
        "before the broken one is whole"
    )

    def accepts(self, evidence: Evidence, found: Found) -> bool:
        """Shared memory and quotas speak of space too; they are other failures."""
        text = found.failure.text if found.failure else found.lines[0].text
        return not any(word in text for word in ("shared memory", "/dev/shm", "shm", "Errno 122"))

    def words(self, evidence: Evidence, found: Found) -> dict[str, str]:
        """The text of the error, with what it means where it does not say."""
        line = found.lines[0].text.strip()
        silent = "space" not in line and "28" not in line
        hint = (
            " (torch's way of saying that the file could not grow: the disk is full)"
            if silent
            else ""
        )
        return {**super().words(evidence, found), "text": f"the write failed with: {line}{hint}"}
