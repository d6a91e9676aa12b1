"""Tokenizer and chat template to token ids and loss mask, without torch or transformers."""

from surefit.tokens.answers import ANSWERS_ONLY
from surefit.tokens.encoded import EncodedRow, Rendered
from surefit.tokens.template import Message, TemplateRefusalError
from surefit.tokens.tokenizer import ChatTokenizer, load_chat_tokenizer

__all__ = [
    "ANSWERS_ONLY",
    "ChatTokenizer",
    "EncodedRow",
    "Message",
    "Rendered",
    "TemplateRefusalError",
    "load_chat_tokenizer",
]
