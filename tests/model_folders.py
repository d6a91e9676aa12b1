"""Model folders written by hand: config.json and safetensors files of zeros, no library."""

import json
import math
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

SIZES = {"F32": 4, "F16": 2, "BF16": 2, "I8": 1, "F8_E4M3": 1}
FAMILY_FIXTURES = Path(__file__).parent / "fixtures" / "families"

TINY = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 8,
    "intermediate_size": 12,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "vocab_size": 20,
    "max_position_embeddings": 64,
    "tie_word_embeddings": True,
}


def tiny_shapes(layers: int = 2) -> dict[str, list[int]]:
    """The tensors that `TINY` promises, counted by hand."""
    shapes = {"model.embed_tokens.weight": [20, 8], "model.norm.weight": [8]}
    for layer in range(layers):
        block = {
            "self_attn.q_proj": [8, 8],
            "self_attn.k_proj": [4, 8],
            "self_attn.v_proj": [4, 8],
            "self_attn.o_proj": [8, 8],
            "mlp.gate_proj": [12, 8],
            "mlp.up_proj": [12, 8],
            "mlp.down_proj": [8, 12],
            "input_layernorm": [8],
            "post_attention_layernorm": [8],
        }
        shapes.update({f"model.layers.{layer}.{name}.weight": one for name, one in block.items()})
    return shapes


def write_safetensors(path: Path, shapes: Mapping[str, list[int]], dtype: str = "F32") -> None:
    """A valid safetensors file of zeros."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, shape in shapes.items():
        size = math.prod(shape) * SIZES[dtype]
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [end, end + size]}
        end += size
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + bytes(end))


def write_model(
    folder: Path,
    config: Mapping[str, Any] | None = None,
    shapes: Mapping[str, list[int]] | None = None,
    dtype: str = "F32",
) -> Path:
    """A model folder with one weight file."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(TINY if config is None else config))
    write_safetensors(folder / "model.safetensors", shapes or tiny_shapes(), dtype)
    return folder
