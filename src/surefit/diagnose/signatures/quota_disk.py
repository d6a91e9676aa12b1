"""SF402 QUOTA_DISK."""

from typing import ClassVar

from surefit.diagnose.signatures.signature import Found, TextSignature


class QuotaReached(TextSignature):
    """A storage quota of the user or the account is used up.

    ## What happened
    A write was refused although the disk itself has room: the limit is yours.

    ## Why
    Clusters limit home folders to a few dozen gigabytes; the Hub limits private storage.

    ## Example
        OSError: [Errno 122] Disk quota exceeded: '/home/worker/runs/a1/checkpoint-300'

    ## What to do
    Write to another path (scratch, a project's folder), delete old runs and caches, or ask for
    more.
    """

    code = "SF402"
    failure_class = "QUOTA_DISK"
    title = "A storage quota is used up"
    patterns = (
        r"\[Errno 122\] .*?(?:'(?P<path>[^']+)')?$",
        r"[Dd]isk quota exceeded(?:.*?'(?P<path>[^']+)')?|os error 122|EDQUOT",
        r"[Ss]torage (?:limit|quota) (?:reached|exceeded)|[Pp]rivate (?:repository )?storage limit",
        r"[Qq]uota (?:has been |is )?exceeded.{0,60}(?:disk|storage|space|home|inode)",
        r"(?:[Ss]torage|[Dd]isk|[Ii]node) quota .{0,40}(?:exceeded|reached|used up|exhausted)",
    )
    defaults: ClassVar[dict[str, str]] = {"path": ""}
    what = "your storage quota is used up: {path} could not be written{step}"
    why = "the disk may have room, but your own limit is reached: {text}"
    next_step = "write to another path, or delete old runs and caches there, then {again}"

    def words(self, found: Found) -> dict[str, str]:
        """The path that could not be written."""
        words = super().words(found)
        return {**words, "path": words["path"] or words["output"]}
