"""Writes the fixture of a model family: what transformers builds from a small config.

    python tests/record_family.py CONFIG.json > tests/fixtures/families/NAME.json

No weight is made: the model stands on torch's meta device.
"""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any


def record(config: dict[str, Any]) -> dict[str, Any]:
    """The fixture of a config: parameters, tied or not, linear layers of a block, all shapes."""
    import torch
    import transformers

    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "config.json").write_text(json.dumps(config), encoding="utf-8")
        read = transformers.AutoConfig.from_pretrained(folder)
    with torch.device("meta"):
        model = transformers.AutoModelForCausalLM.from_config(read)
    named = dict(model.named_parameters())  # a tied weight stands in it once
    linears = {
        name.rsplit(".", 1)[-1]
        for name, module in model.named_modules()
        if ".layers.0." in name and isinstance(module, torch.nn.Linear)
    }
    return {
        "written_with": f"transformers {transformers.__version__}: "
        "AutoModelForCausalLM.from_config on the meta device",
        "config": {**config, "architectures": [type(model).__name__]},
        "parameters": sum(weight.numel() for weight in named.values()),
        "tied": bool(model.config.tie_word_embeddings),
        "linears": sorted(linears),
        "shapes": {name: list(weight.shape) for name, weight in named.items()},
    }


if __name__ == "__main__":
    print(json.dumps(record(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))), indent=1))
