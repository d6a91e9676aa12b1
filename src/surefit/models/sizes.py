"""The numbers that shape a model, from the fields of `config.json`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from surefit.errors import Refused
from surefit.models.counting import embedding_of, layers_in
from surefit.models.families import Family, Sizes
from surefit.models.weights import Weights

_NAMES = {
    "hidden_size": ("hidden_size", "n_embd", "d_model", "dim"),
    "num_hidden_layers": ("num_hidden_layers", "n_layer", "num_layers", "n_layers"),
    "num_attention_heads": ("num_attention_heads", "n_head", "num_heads", "n_heads"),
    "intermediate_size": ("intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size"),
    "vocab_size": ("vocab_size",),
}


def read_sizes(
    folder: Path, config: Mapping[str, Any], family: Family | None, weights: Weights
) -> Sizes:
    """Sizes of the model; an unknown architecture may leave some to be taken from the headers.

    Raises:
        Refused: a field is missing or not a positive whole number.
    """
    spare = {} if family else _from_headers(weights)
    path = folder / "config.json"
    hidden, layers, heads, intermediate, vocabulary = (
        _number(path, config, name, spare.get(name)) for name in _NAMES
    )
    kv_heads = _optional(path, config, "num_key_value_heads") or heads
    head_dim = _optional(path, config, "head_dim") or _head_dim(family, hidden, heads)
    if heads % kv_heads:
        raise _bad(path, "num_key_value_heads", f"{kv_heads} does not divide {heads} heads")
    return Sizes(hidden, layers, heads, kv_heads, head_dim, intermediate, vocabulary)


def _head_dim(family: Family | None, hidden: int, heads: int) -> int:
    if family and family.default_head_dim:
        return family.default_head_dim
    return max(1, hidden // heads)


def _from_headers(weights: Weights) -> dict[str, int]:
    """What the headers alone tell of an unknown architecture."""
    _, embedding = embedding_of(weights)
    if embedding is None:
        return {}
    vocabulary, hidden = embedding.shape
    widest = max(
        (max(one.shape) for one in weights.tensors.values() if len(one.shape) == 2), default=hidden
    )
    return {
        "hidden_size": hidden,
        "vocab_size": vocabulary,
        "num_hidden_layers": max(1, len(layers_in(weights))),
        "num_attention_heads": max(1, hidden // 64),
        "intermediate_size": 4 * hidden if widest == vocabulary else widest,
    }


def _number(path: Path, config: Mapping[str, Any], name: str, spare: int | None) -> int:
    for alias in _NAMES[name]:
        found = _optional(path, config, alias)
        if found is not None:
            return found
    if spare is None:
        raise _bad(path, name, "it is missing")
    return spare


def _optional(path: Path, config: Mapping[str, Any], name: str) -> int | None:
    value = config.get(name)
    if value is None:
        return None
    if type(value) is not int or value < 1:
        raise _bad(path, name, f"it must be a positive whole number, not {value!r}")
    return value


def _bad(path: Path, name: str, why: str) -> Refused:
    return Refused(
        f"{path} has no usable {name!r}",
        why,
        "copy or download the model's config.json again",
        where="model",
    )
