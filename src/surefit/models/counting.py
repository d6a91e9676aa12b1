"""Exact parameter counts by kind, from headers, compared with what the config promises."""

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from surefit.errors import Refused
from surefit.models.facts import LinearShape, ParameterCounts
from surefit.models.families import Block, Family, Sizes
from surefit.models.weights import Tensor, Weights
from surefit.units import plural

PARTS_PREFIXES = ("model.", "")  # saved with its head, or as the bare decoder
_HEAD = "lm_head.weight"
_HEAD_NAMES = (_HEAD, "embed_out.weight", "output.weight")
_EMBEDDING = re.compile(
    r"(.*\.)?(embed_tokens|wte|embed_in|word_embeddings|tok_embeddings|embedding)\.weight"
)
_LAYER = re.compile(r"\.(\d+)\.")
_BUFFERS = (".rotary_emb.inv_freq", ".attn.bias", ".attn.masked_bias", ".attention.bias")
_STORED: dict[str, Literal["float32", "float16", "bfloat16"]] = {
    "F32": "float32",
    "F16": "float16",
    "BF16": "bfloat16",
}


def stored_dtype(folder: Path, weights: Weights) -> Literal["float32", "float16", "bfloat16"]:
    """The dtype that holds most of the weights.

    Raises:
        Refused: weights are stored in a format that cannot be trained.
    """
    bytes_by_dtype: Counter[str] = Counter()
    for name, tensor in weights.tensors.items():
        if not name.endswith(_BUFFERS):
            bytes_by_dtype[tensor.dtype] += tensor.count
    foreign = next((dtype for dtype in bytes_by_dtype if dtype not in _STORED), None)
    if foreign or not bytes_by_dtype:
        raise Refused(
            f"the weights are stored as {foreign}"
            if foreign
            else "the weight files hold no tensor",
            f"the headers in {folder} say so; surefit trains weights stored as float32, float16 or "
            "bfloat16, not quantised ones",
            "use the unquantised model that this one was made from",
            where="model",
        )
    return _STORED[bytes_by_dtype.most_common(1)[0][0]]


def count_known(
    folder: Path,
    config: Mapping[str, Any],
    family: Family,
    sizes: Sizes,
    block: Block,
    weights: Weights,
) -> tuple[ParameterCounts, bool]:
    """Counts of a known family, after every header shape was compared with the config.

    Returns:
        The counts, and whether the output head is tied to the embedding.

    Raises:
        Refused: config and weights do not belong together.
    """
    prefix = (
        PARTS_PREFIXES[0] if "model.embed_tokens.weight" in weights.tensors else PARTS_PREFIXES[1]
    )
    tied = bool(config.get("tie_word_embeddings", family.tied_by_default))
    expected = _expected(prefix, sizes, block, tied)
    _compare(folder, expected, weights, tied)
    linear = sum(one.inputs * one.outputs for one in block.linears.values()) * sizes.layers
    vectors = sum(block.vectors.values()) * sizes.layers + sizes.hidden
    table = sizes.vocabulary * sizes.hidden
    counts = ParameterCounts(
        embedding=table, head=0 if tied else table, linear=linear, norm=vectors
    )
    return counts, tied


def _expected(prefix: str, sizes: Sizes, block: Block, tied: bool) -> dict[str, tuple[int, ...]]:
    table = (sizes.vocabulary, sizes.hidden)
    shapes: dict[str, tuple[int, ...]] = {
        f"{prefix}embed_tokens.weight": table,
        f"{prefix}norm.weight": (sizes.hidden,),
    }
    if not tied:
        shapes[_HEAD] = table
    inner = block.shapes()
    for layer in range(sizes.layers):
        shapes.update({f"{prefix}layers.{layer}.{path}": shape for path, shape in inner.items()})
    return shapes


def _compare(
    folder: Path, expected: Mapping[str, tuple[int, ...]], weights: Weights, tied: bool
) -> None:
    found = weights.tensors
    missing = [name for name in expected if name not in found]
    if missing:
        raise _mismatch(
            f"the weights lack {plural(len(missing), 'tensor')} that config.json promises",
            f"the first is {missing[0]!r}; the libraries would fill it with random numbers",
        )
    for name, shape in expected.items():
        if found[name].shape != shape:
            raise _mismatch(
                f"config.json and the weights disagree about {name!r}",
                f"config.json makes it {list(shape)}, the weight file holds "
                f"{list(found[name].shape)} "
                f"({folder})",
            )
    allowed = {_HEAD} if tied else set()
    strange = [name for name in found if name not in expected and name not in allowed]
    strange = [name for name in strange if not name.endswith(_BUFFERS)]
    if strange:
        raise _mismatch(
            f"the weights hold {plural(len(strange), 'tensor')} for which the architecture has "
            "no place",
            f"the first is {strange[0]!r}; the libraries would leave it out without a word",
        )


def _mismatch(what: str, why: str) -> Refused:
    return Refused(
        what,
        why,
        "get config.json and the weight files from the same version of the model",
        where="model",
    )


def embedding_of(weights: Weights) -> tuple[str | None, Tensor | None]:
    """The token embedding of an unknown architecture, by the usual names."""
    for name, tensor in weights.tensors.items():
        if _EMBEDDING.fullmatch(name) and len(tensor.shape) == 2:
            return name, tensor
    return None, None


def layers_in(weights: Weights) -> set[int]:
    """The numbers of the layers that the tensor names show."""
    found = (_LAYER.search(name) for name in weights.tensors)
    return {int(match.group(1)) for match in found if match}


def count_unknown(config: Mapping[str, Any], weights: Weights) -> tuple[ParameterCounts, bool]:
    """Counts of an unknown architecture: by shape and by the usual names alone."""
    embedding_name, embedding = embedding_of(weights)
    head_name = next((name for name in _HEAD_NAMES if name in weights.tensors), None)
    tied = head_name is None or bool(config.get("tie_word_embeddings", False))
    counted: Counter[str] = Counter()
    for name, tensor in weights.tensors.items():
        if name.endswith(_BUFFERS) or name == embedding_name:
            continue
        if name == head_name:
            counted["head"] += 0 if tied else tensor.count
        elif len(tensor.shape) == 1:
            counted["norm"] += tensor.count
        elif len(tensor.shape) == 2 and _LAYER.search(name):
            counted["linear"] += tensor.count
        else:
            counted["other"] += tensor.count
    table = embedding.count if embedding else 0
    kinds = {kind: counted[kind] for kind in ("head", "linear", "norm", "other")}
    return ParameterCounts(embedding=table, **kinds), tied


def generic_linears(weights: Weights) -> tuple[LinearShape, ...]:
    """The matrices of an unknown architecture's first layer, taken as linear layers."""
    layers = layers_in(weights)
    first = min(layers) if layers else 0
    shapes = []
    for name, tensor in weights.tensors.items():
        match = _LAYER.search(name)
        if (
            match
            and int(match.group(1)) == first
            and len(tensor.shape) == 2
            and name.endswith(".weight")
        ):
            last = name.removesuffix(".weight").rsplit(".", 1)[-1]
            shapes.append(LinearShape(name=last, inputs=tensor.shape[1], outputs=tensor.shape[0]))
    return tuple(shapes)
