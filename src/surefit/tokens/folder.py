"""What a model folder says about its tokens: tokenizer.json, its config, its chat template."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from surefit.errors import OutsideError, Refused

_SPECIAL_NAMES = (
    "bos_token",
    "eos_token",
    "unk_token",
    "sep_token",
    "pad_token",
    "cls_token",
    "mask_token",
)
_SLOW_FILES = (
    "tokenizer.model",
    "spiece.model",
    "vocab.json",
    "merges.txt",
    "vocab.txt",
    "tekken.json",
)


@dataclass(frozen=True)
class TokenizerFolder:
    """The parts of a model folder that decide about tokens, as text."""

    folder: Path
    tokenizer_json: str
    config: dict[str, Any]
    chat_template: str | None
    special_tokens: dict[str, str]

    @property
    def sha256(self) -> str:
        """Hash of everything that decides about tokens: tokenizer, template, special tokens."""
        digest = hashlib.sha256()
        parts = (
            self.tokenizer_json,
            self.chat_template or "",
            json.dumps(self.special_tokens, sort_keys=True),
            json.dumps(self.config.get("added_tokens_decoder", {}), sort_keys=True),
        )
        for part in parts:
            digest.update(hashlib.sha256(part.encode()).digest())
        return digest.hexdigest()


def read_tokenizer_folder(folder: Path) -> TokenizerFolder:
    """Read the tokenizer's files.

    Raises:
        Refused: there is no tokenizer.json, or a file is not JSON.
        OutsideError: a file cannot be read.
    """
    tokenizer_file = folder / "tokenizer.json"
    if not tokenizer_file.is_file():
        raise _no_fast_tokenizer(folder)
    config = _read_json(folder / "tokenizer_config.json")
    special = {**_read_json(folder / "special_tokens_map.json"), **_own_special_tokens(config)}
    return TokenizerFolder(
        folder=folder,
        tokenizer_json=_read_text(tokenizer_file),
        config=config,
        chat_template=_chat_template(folder, config),
        special_tokens={
            name: text for name in _SPECIAL_NAMES if (text := _token_text(special.get(name)))
        },
    )


def _own_special_tokens(config: dict[str, Any]) -> dict[str, Any]:
    return {name: config[name] for name in _SPECIAL_NAMES if config.get(name)}


def _token_text(value: Any) -> str | None:
    """A special token is written as text or as an object with `content`."""
    if isinstance(value, dict):
        value = value.get("content")
    return value if isinstance(value, str) else None


def _chat_template(folder: Path, config: dict[str, Any]) -> str | None:
    """The template from its own file, else from the config: one text, or a list of named ones."""
    own_file = folder / "chat_template.jinja"
    if own_file.is_file():
        return _read_text(own_file)
    value = config.get("chat_template")
    if isinstance(value, list):
        named = {
            entry.get("name"): entry.get("template") for entry in value if isinstance(entry, dict)
        }
        value = named.get("default") or next(iter(named.values()), None)
    return value if isinstance(value, str) and value else None


def _read_json(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        value = json.loads(_read_text(path))
    except ValueError as error:
        raise Refused(
            f"{path.name} of the model cannot be read",
            f"{path} is not JSON: {error}",
            f"copy {path.name} from the model's original folder again",
        ) from error
    return value if isinstance(value, dict) else {}


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise Refused(
            f"{path.name} of the model cannot be read",
            f"{path} is not UTF-8 text: {error.reason} at byte {error.start}",
            f"copy {path.name} from the model's original folder again",
        ) from error
    except OSError as error:
        raise OutsideError(
            f"{path.name} of the model cannot be read",
            f"{path}: {error.strerror}",
            f"check that you may read {path}",
        ) from error


def _no_fast_tokenizer(folder: Path) -> Refused:
    if not folder.is_dir():
        return Refused(
            f"there is no model folder {folder}",
            "a model is a folder with config.json, tokenizer.json and safetensors files",
            f"check the path {folder}",
        )
    slow = [name for name in _SLOW_FILES if (folder / name).is_file()]
    if slow:
        return Refused(
            f"the model in {folder} has no tokenizer.json",
            f"it has only {', '.join(slow)}, the slow form of a tokenizer, which surefit does not run",
            "convert it once where transformers is installed: "
            f"AutoTokenizer.from_pretrained({str(folder)!r}).save_pretrained({str(folder)!r})",
        )
    return Refused(
        f"the model in {folder} has no tokenizer.json",
        "without a tokenizer no text can be turned into tokens",
        f"copy tokenizer.json and tokenizer_config.json of the same model into {folder}",
    )
