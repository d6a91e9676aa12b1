"""SF403 PERMISSION."""

from typing import ClassVar

from surefit.diagnose.signatures.signature import TextSignature


class NotPermitted(TextSignature):
    """A file or folder may not be written or read.

    ## What happened
    The file system refused: it is read-only, or belongs to somebody else.

    ## Why
    A folder is mounted read-only, the container runs as another user, or a cache was created by
    root.

    ## Example
        OSError: [Errno 30] Read-only file system: '/mnt/results/kestrel'

    ## What to do
    Choose another folder, or let its owner give this user the right to write.
    """

    code = "SF403"
    failure_class = "PERMISSION"
    title = "A folder that may not be written"
    patterns = (
        r"[Rr]ead-only file system(?:.{0,4}'(?P<path>[^']+)')?",
        r"\[Errno 30\]|os error 30",
        r"\[Errno 13\] Permission denied: '?(?P<path>[^'\n]+)",
        r"\[Errno 1\] Operation not permitted(?:: '(?P<path>[^']+)')?",
        r"(?P<path>/\S+?):? [Pp]ermission denied|[Pp]ermission denied.{0,20}(?P<path2>/\S+)|os "
        r"error 13",
        r"PermissionError|(?P<path>/\S+) is not writ(?:e)?able|[Nn]o write (?:access|permission)",
    )
    defaults: ClassVar[dict[str, str]] = {"path": "a folder"}
    what = "{path} may not be written"
    why = "{text}"
    next_step = (
        "choose another output folder, or let the owner of {path} give this user the right to write"
    )
