"""Numbers as people read them. GiB is 2**30 bytes; dollars and hours are what a bill shows."""

import math
import re

KIB, MIB, GIB = 2**10, 2**20, 2**30
_DURATION_STEPS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


def bytes_text(count: float) -> str:
    """Bytes in the largest unit that keeps one digit before the point: ``1.5 GiB``, ``12 MiB``."""
    if count >= GIB:
        return f"{count / GIB:.1f} GiB"
    if count >= MIB:
        return f"{count / MIB:.0f} MiB"
    if count >= KIB:
        return f"{count / KIB:.0f} KiB"
    return f"{count:.0f} B"


def seconds_text(seconds: float) -> str:
    """A duration in its two largest units: ``2 h 5 min``, ``41 s``, ``0.4 s``, ``less than 0.1 s``."""
    if not math.isfinite(seconds):
        return "more than can be counted"
    if 0 < seconds < 0.05:
        return "less than 0.1 s"
    if seconds < 1:
        return f"{seconds:.1f} s"
    rest = round(seconds)
    parts = []
    for name, size in _DURATION_STEPS:
        amount, rest = divmod(rest, size)
        if amount:
            parts.append(f"{amount:,} {name}")
    return " ".join(parts[:2])


def count_text(count: int) -> str:
    """A whole number with thousands separators: ``12,345``."""
    return f"{count:,}"


def parameters_text(count: int) -> str:
    """A number of parameters: ``70.6B``, ``135M``, ``1.9M``."""
    for size, letter in ((10**9, "B"), (10**6, "M"), (10**3, "k")):
        if count >= size:
            amount = count / size
            return f"{amount:.1f}{letter}" if amount < 100 else f"{amount:.0f}{letter}"
    return str(count)


def plural(count: int, noun: str, many: str | None = None) -> str:
    """A count with its noun: ``1 row``, ``2 rows``."""
    return f"{count_text(count)} {noun if count == 1 else many or noun + 's'}"


def shortened(text: str, limit: int = 60) -> str:
    """A text on one line, cut in the middle of nowhere with an ellipsis when longer than `limit`."""
    flat = re.sub(r"\s+", " ", text).strip()
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def share_of(text: str) -> float | None:
    """The share that a text such as ``5%`` names (0.05), or None when it names none."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*%\s*", text)
    return float(match.group(1)) / 100 if match else None


def dollars_text(amount: float) -> str:
    """Dollars as a bill shows them; small amounts keep what can be seen: ``$2.50``, ``$0.0012``."""
    if amount >= 0.01 or amount == 0:
        return f"${amount:,.2f}"
    return f"${amount:.4f}" if amount >= 0.0001 else "under $0.0001"
