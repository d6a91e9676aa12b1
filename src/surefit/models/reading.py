"""ModelFacts of a folder: config and headers read, compared with each other, and counted."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from surefit.errors import Refused
from surefit.models.config import custom_code, read_config
from surefit.models.counting import (
    count_known,
    count_unknown,
    generic_linears,
    stored_dtype,
)
from surefit.models.facts import LinearShape, ModelFacts, ParameterCounts
from surefit.models.families import Family, Sizes, family_of
from surefit.models.folder import resolve_model_folder
from surefit.models.sizes import read_sizes
from surefit.models.weights import Weights, read_weights

_VISION_FIELDS = ("vision_config", "audio_config", "speech_config")


def read_model_facts(source: str, base_folder: Path) -> ModelFacts:
    """Everything that planning needs to know about a model, without loading it.

    Args:
        source: as in the recipe: `starter` or a folder, relative to `base_folder`.
        base_folder: the folder of the recipe.

    Raises:
        RecipeError: there is no such folder.
        Refused: the folder holds no model that surefit trains, or a damaged one.
        OutsideError: a file may not be read.
    """
    folder = resolve_model_folder(source, base_folder)
    return facts_of(source, folder, lambda: read_weights(folder))


def facts_of(source: str, folder: Path, weights_of: Callable[[], Weights]) -> ModelFacts:
    """The facts of a folder that holds at least `config.json`.

    Args:
        source: as the recipe names it.
        folder: where the config is.
        weights_of: reads the headers, once the config is one that can be trained.

    Raises:
        Refused: no model that surefit trains, or a damaged one.
        OutsideError: a file may not be read.
    """
    config = read_config(folder)
    model_type = str(config.get("model_type") or "")
    family = family_of(model_type)
    architecture = _architecture(folder, config, family)
    code = custom_code(config)
    if code and family is None:
        raise Refused(
            f"the model needs its own Python code ({code[0]})",
            f"{folder / 'config.json'} asks for it (auto_map), the architecture "
            f"{architecture!r} is not "
            "built into the training libraries, and surefit never runs code from a model's folder",
            "choose a model whose architecture is built in, for example Llama, Qwen, Gemma or "
            "Mistral",
            where="model",
        )
    weights = weights_of()
    sizes = read_sizes(folder, config, family, weights)
    counts, blocks, tied = _counted(folder, config, family, sizes, weights)
    return _facts(
        source, folder, config, family, architecture, sizes, counts, blocks, tied, weights, code
    )


def _facts(
    source: str,
    folder: Path,
    config: Mapping[str, Any],
    family: Family | None,
    architecture: str,
    sizes: Sizes,
    counts: ParameterCounts,
    blocks: tuple[LinearShape, ...],
    tied: bool,
    weights: Weights,
    code: tuple[str, ...],
) -> ModelFacts:
    positions = config.get("max_position_embeddings", config.get("n_positions"))
    return ModelFacts(
        source=source,
        folder=str(folder),
        model_type=str(config.get("model_type") or ""),
        architecture=architecture,
        known_family=family is not None,
        hidden_size=sizes.hidden,
        layers=sizes.layers,
        heads=sizes.heads,
        kv_heads=sizes.kv_heads,
        head_dim=sizes.head_dim,
        intermediate_size=sizes.intermediate,
        vocabulary=sizes.vocabulary,
        max_positions=positions if type(positions) is int and positions > 0 else None,
        tied_embeddings=tied,
        stored_dtype=stored_dtype(folder, weights),
        parameters=counts,
        block_linears=blocks,
        weight_files=weights.files,
        weight_bytes=weights.size_bytes,
        attention=family.attention if family else "sdpa",
        isolates_flat_rows=family is not None and family.isolates_flat_rows,
        norms_per_block=family.norms_per_block if family else 2,
        norms_come_after=family is not None and family.norms_come_after,
        query_key_norm=family is not None and family.query_key_norm,
        fused_projections=family is not None and family.fused_projections,
        caps_logits=bool(
            config.get(
                "final_logit_softcapping", family is not None and family.caps_logits_by_default
            )
        ),
        ignored_code=code,
    )


def _architecture(folder: Path, config: Mapping[str, Any], family: Family | None) -> str:
    named = config.get("architectures")
    first = named[0] if isinstance(named, list) and named and isinstance(named[0], str) else None
    name = first or (family.architecture if family else None)
    tower = next((field for field in _VISION_FIELDS if config.get(field)), None)
    if name is None:
        raise Refused(
            f"{folder / 'config.json'} does not say what kind of model it is",
            "it names no `architectures`, and its `model_type` "
            f"({config.get('model_type') or 'absent'}) is not one whose rules are known",
            "copy or download the model's config.json again",
            where="model",
        )
    if tower or not name.endswith(("ForCausalLM", "LMHeadModel")):
        raise Refused(
            f"the model is a {name}, and this version of surefit trains text models only",
            f"{folder / 'config.json'} "
            + (
                f"describes more than text ({tower})"
                if tower
                else "names a class that is no causal LM"
            ),
            "choose a model whose config names a class that ends with ForCausalLM",
            where="model",
        )
    if family and name != family.architecture:
        raise Refused(
            f"config.json contradicts itself: model_type {config.get('model_type')!r} with "
            f"class {name!r}",
            f"a {config.get('model_type')} model is a {family.architecture}",
            "copy or download the model's config.json again",
            where="model",
        )
    return name


def _counted(
    folder: Path, config: Mapping[str, Any], family: Family | None, sizes: Sizes, weights: Weights
) -> tuple[ParameterCounts, tuple[LinearShape, ...], bool]:
    if family is None:
        counts, tied = count_unknown(config, weights)
        return counts, generic_linears(weights), tied
    block = family.block(sizes, config)
    counts, tied = count_known(folder, config, family, sizes, block, weights)
    return counts, tuple(block.linears.values()), tied
