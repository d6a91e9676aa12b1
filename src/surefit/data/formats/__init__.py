"""The registry of formats, in the order in which a row is asked."""

from surefit.data.formats.alpaca import Alpaca
from surefit.data.formats.messages import Messages
from surefit.data.formats.preference import Preference, UnpairedPreference
from surefit.data.formats.prompt_completion import PromptCompletion
from surefit.data.formats.shape import Columns, Format
from surefit.data.formats.sharegpt import ShareGpt
from surefit.data.formats.text import PlainText

FORMATS: tuple[type[Format], ...] = (
    Messages,
    ShareGpt,
    Preference,
    UnpairedPreference,
    Alpaca,
    PromptCompletion,
    PlainText,
)
BY_NAME: dict[str, type[Format]] = {kind.name: kind for kind in FORMATS}

__all__ = ["BY_NAME", "FORMATS", "Columns", "Format"]
