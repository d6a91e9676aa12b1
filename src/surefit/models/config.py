"""Read `config.json` as data, and refuse what would make the training stack do something else."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from surefit.errors import OutsideError, Refused
from surefit.home import refuse_irregular

# Private fields that published configs carry and that hold no instruction.
_HARMLESS_PRIVATE = frozenset(
    {
        "_name_or_path",
        "_model_name_or_path",
        "_commit_hash",
        "_attn_implementation_autoset",
        "_flash_attn_2_enabled",
        "_pre_quantization_dtype",
        "_sliding_window_pattern",
    }
)
_KERNEL_FIELDS = ("attn_implementation", "experts_implementation")
_LARGEST_CONFIG = 4 * 2**20


def read_config(folder: Path) -> dict[str, Any]:
    """The fields of `config.json`.

    Raises:
        Refused: it is no JSON object, or a field may steer the libraries (CVE-2026-4372).
        OutsideError: it may not be read.
    """
    path = folder / "config.json"
    try:
        refuse_irregular(path)
        if path.stat().st_size > _LARGEST_CONFIG:
            raise _broken(
                path, f"it has {path.stat().st_size:,} bytes; a config has a few thousand"
            )
        fields = json.loads(path.read_bytes())
    except OSError as error:
        raise OutsideError(
            f"cannot read {path}",
            error.strerror or str(error),
            f"check that {path} is a file that you may read",
            where="model",
        ) from error
    except (ValueError, RecursionError) as error:
        raise _broken(path, f"it is not valid JSON: {error}") from error
    if not isinstance(fields, dict):
        raise _broken(path, "it must hold one object, { ... }")
    _refuse_private_fields(path, fields)
    _refuse_quantised(path, fields)
    return fields


def _broken(path: Path, why: str) -> Refused:
    return Refused(
        f"{path} cannot be used",
        why,
        "copy or download the model's config.json again",
        where="model",
    )


def _fields_below(value: Any, prefix: str = "") -> Iterator[tuple[str, str, Any]]:
    """Every (path, name, value) in nested objects and lists."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield f"{prefix}{name}", str(name), inner
            yield from _fields_below(inner, f"{prefix}{name}.")
    elif isinstance(value, list):
        for position, inner in enumerate(value):
            yield from _fields_below(inner, f"{prefix}{position}.")


def _refuse_private_fields(path: Path, fields: Mapping[str, Any]) -> None:
    for field, name, value in _fields_below(fields):
        private = name.startswith("_") and name not in _HARMLESS_PRIVATE
        hub_kernel = name in _KERNEL_FIELDS and isinstance(value, str) and "/" in value
        if private or hub_kernel:
            raise Refused(
                f"{path} holds the private field {field!r}, which surefit does not know",
                "fields of this kind can make the training libraries load code from elsewhere "
                "(CVE-2026-4372), so unknown ones are refused whatever their value",
                f"delete {field!r} from {path} if you know where it came from; otherwise get "
                "the model from its own publisher",
                where="model",
            )


def _refuse_quantised(path: Path, fields: Mapping[str, Any]) -> None:
    settings = fields.get("quantization_config")
    if not settings:
        return
    kind = settings.get("quant_method") if isinstance(settings, Mapping) else None
    raise Refused(
        f"the model is already quantised ({kind or 'quantization_config is set'})",
        f"{path} says so; weights rounded for inference cannot be trained, and this version of "
        "surefit does not train adapters on them",
        "use the unquantised model that this one was made from",
        where="model",
    )


def custom_code(fields: Mapping[str, Any]) -> tuple[str, ...]:
    """The Python classes that the config wants to be loaded from the model's folder."""
    entries = fields.get("auto_map")
    if not isinstance(entries, Mapping):
        return ()
    return tuple(sorted(str(value) for value in entries.values()))
