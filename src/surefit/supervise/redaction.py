"""Secrets taken out of a stream of bytes before it reaches a file."""

import re
from collections.abc import Iterable, Mapping

REDACTED = b"[redacted]"

# What tokens look like, whatever they are called.
_SHAPES = (
    # Not `hf_transfer` and not `task-management`: a token has a digit or a capital, or is long.
    rb"hf_(?:(?=[a-z]*[A-Z0-9])[A-Za-z0-9]{6,512}|[a-z]{16,512})",
    rb"(?<![A-Za-z0-9])(?:sk|rk|pk)-(?:(?=[a-z_\-]*[A-Z0-9])[A-Za-z0-9_\-]{8,512}|[a-z_\-]{20,512})",
    rb"gh[opsur]_[A-Za-z0-9]{8,512}",
    rb"github_pat_[A-Za-z0-9_]{8,512}",
    rb"glpat-[A-Za-z0-9_\-]{8,512}",
    rb"xox[abprs]-[A-Za-z0-9\-]{8,512}",
    rb"AKIA[A-Z0-9]{12,64}",
    rb"eyJ[A-Za-z0-9_\-]{8,2048}\.[A-Za-z0-9_\-]{8,2048}(?:\.[A-Za-z0-9_\-]{1,2048})?",
    rb"(?i:bearer)[ \t]+[A-Za-z0-9_\-.~+/=]{6,2048}",
    rb"(?<=://)[^\s/@:]{1,256}:[^\s/@]{1,256}(?=@)",
)
# What every shape contains, in lower case: a text without any of these is passed without a second look,
# which is a hundred times faster than to look for the shapes.
_SIGNS = (
    b"hf_",
    b"sk-",
    b"rk-",
    b"pk-",
    b"ghp_",
    b"gho_",
    b"ghs_",
    b"ghu_",
    b"ghr_",
    b"github_pat_",
    b"glpat-",
    b"xox",
    b"akia",
    b"eyj",
    b"bearer",
    b"://",
)
_SECRET_NAME = re.compile(
    r"TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|CREDENTIAL", re.IGNORECASE
)
_SHORTEST_SECRET = 6  # shorter values, such as "1" or "true", would blot out ordinary words
_LONGEST_HELD = 64 * 1024
_OVERLAP = 8 * 1024
# What may be the beginning of a secret: the last run without white space, and a `Bearer ` before it.
_OPEN_END = re.compile(rb"(?:(?i:bearer)[ \t]+)?\S*\Z")


def secret_values(environment: Mapping[str, str]) -> set[str]:
    """The values of variables whose names say that they are secret."""
    return {
        value
        for name, value in environment.items()
        if _SECRET_NAME.search(name) and len(value) >= _SHORTEST_SECRET
    }


class Redactor:
    """Takes secrets out of a stream, also when one is split over several reads.

    The end of what was fed is held back while it may be the beginning of a secret: up to the next
    white space, at most 64 KiB.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        known = {line.strip() for value in secrets for line in [value, *value.splitlines()]}
        longest_first = sorted(
            (one for one in known if len(one) >= _SHORTEST_SECRET), key=len, reverse=True
        )
        values = [re.escape(one.encode()) for one in longest_first]
        self._values = [one.encode() for one in longest_first]
        self._pattern = re.compile(b"|".join([*values, *_SHAPES]))
        self._held = b""

    def feed(self, content: bytes) -> bytes:
        """What can be written now."""
        text = self._held + content
        cut = self._safe_cut(text)
        redacted, self._held = self._redact(text[:cut]), text[cut:]
        return redacted

    def finish(self) -> bytes:
        """The rest, at the end of the stream."""
        rest, self._held = self._redact(self._held), b""
        return rest

    def _redact(self, text: bytes) -> bytes:
        lowered = text.lower()
        if not any(sign in lowered for sign in _SIGNS) and not any(
            one in text for one in self._values
        ):
            return text
        return self._pattern.sub(REDACTED, text)

    def _safe_cut(self, text: bytes) -> int:
        """Where the text may be divided without dividing a secret."""
        window = max(0, len(text) - _LONGEST_HELD)
        open_end = _OPEN_END.search(text, window)
        cut = open_end.start() if open_end else len(text)
        if cut == window and window > 0:  # a run without white space, longer than any secret
            cut = len(text) - _OVERLAP
        cut = min(cut, self._start_of_value_at_end(text))
        for match in self._pattern.finditer(text, max(0, cut - _OVERLAP)):
            if match.start() < cut < match.end():
                return match.start()
        return cut

    def _start_of_value_at_end(self, text: bytes) -> int:
        """Where a known value with white space in it may have begun."""
        start = len(text)
        for value in self._values:
            for length in range(min(len(value) - 1, len(text)), 0, -1):
                if text.endswith(value[:length]):
                    start = min(start, len(text) - length)
                    break
        return start
