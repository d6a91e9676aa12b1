"""Names of runs: sortable by time, readable, unlikely to be taken: ``20261130-2215-starter-lora-k3f``."""

import re
import secrets
from datetime import datetime
from pathlib import PurePath

_ALPHABET = (
    "abcdefghjkmnpqrstuvwxyz23456789"  # without i, l, o, 0, 1: read aloud and typed without doubt
)
_LONGEST_MODEL = 24
NAME_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def new_run_name(model: str, method: str, now: datetime | None = None) -> str:
    """A name for a run that begins now (local time).

    Args:
        model: the model as the recipe names it; its last path part is used.
        method: the method's type, such as ``lora``.
        now: another moment than now, for tests.
    """
    moment = (now or datetime.now().astimezone()).strftime("%Y%m%d-%H%M")
    ending = "".join(secrets.choice(_ALPHABET) for _ in range(3))
    return f"{moment}-{_slug(PurePath(model).name)}-{method}-{ending}"


def _slug(text: str) -> str:
    """The letters and digits of a text, in lower case, joined by single dashes."""
    slug = re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-.")[:_LONGEST_MODEL].strip("-.")
    return slug or "model"
