"""Parts of a content list that are not text."""

from typing import Any


def picture_in(content: Any) -> str | None:
    """The type of the first part of a content list that is no text, such as ``image_url``."""
    if not isinstance(content, list):
        return None
    for part in content:
        if isinstance(part, dict) and isinstance(part.get("type"), str) and part["type"] != "text":
            return str(part["type"])
    return None
