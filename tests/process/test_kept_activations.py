"""The plan's formula for activations against what torch really keeps, for every family.

Counted: every storage that autograd saves in the worker's own forward pass and loss, each once,
parameters left out. The formula was reasoned from the layers' code; nothing in it is fitted.
"""

import json
import weakref
from pathlib import Path
from typing import Any

import pytest
from model_folders import FAMILY_FIXTURES, write_model

from surefit.models import read_model_facts
from surefit.plan.activations import layer_bytes, tail_bytes
from surefit.plan.lengths import Lengths
from surefit.plan.refusals import resolve_targets
from surefit.plan.setup import Setup
from surefit.recipe.schema import AdapterMethod, DoraMethod, FullMethod, LoraMethod, RsLoraMethod

pytestmark = pytest.mark.process
LENGTHS = (120, 40, 90, 60)
LORA, FULL = LoraMethod(type="lora"), FullMethod(type="full")
VARIANTS: dict[str, dict[str, Any]] = {
    "lora": {},
    "full": {"method": FULL},
    "padded": {"layout": "padded"},
    "rslora": {"method": RsLoraMethod(type="rslora")},
    "dora": {"method": DoraMethod(type="dora")},
    "dropout": {"method": LoraMethod(type="lora", dropout=0.1)},
    "few targets": {"method": LoraMethod(type="lora", targets=("q_proj", "v_proj"))},
    "one row": {"lengths": (200,)},
    "bfloat16": {"precision": "bfloat16"},
}
CASES = [(path.stem, "lora") for path in sorted(FAMILY_FIXTURES.glob("*.json"))]
CASES += [(name, "full") for name in ("llama", "gemma3_text", "phi3", "olmo2")]
CASES += [("llama", name) for name in VARIANTS if name not in ("lora", "full")]


def kept_bytes(setup: Setup, config: dict[str, Any], lengths: tuple[int, ...]) -> int:
    """What autograd saves, without the loss's own values."""
    import numpy as np
    import torch
    import transformers

    from surefit.train.batches import COLLATE
    from surefit.train.loss import kept_logits, summed_loss
    from surefit.train.model import DTYPES, add_adapters
    from surefit.train.rows import Row

    model: Any = transformers.AutoModelForCausalLM.from_config(
        transformers.AutoConfig.for_model(**config),
        attn_implementation=setup.facts.attention,
        dtype=DTYPES[setup.precision],
    )
    if isinstance(setup.method, AdapterMethod):
        model = add_adapters(model, setup.method, setup.targets)
    model.train()
    rows = [
        Row(number, np.arange(3, 3 + length), np.ones(length, bool))
        for number, length in enumerate(lengths)
    ]
    batch = COLLATE[setup.layout](rows)
    weights = {one.untyped_storage().data_ptr() for one in model.parameters()}
    # What only a part of the graph kept that was thrown away again does not count.
    saved: weakref.WeakSet[Any] = weakref.WeakSet()

    class Kept:
        def __init__(self, tensor: Any) -> None:
            self.tensor = tensor
            saved.add(self)

    with torch.autograd.graph.saved_tensors_hooks(Kept, lambda kept: kept.tensor):
        loss = summed_loss(model, batch, kept_logits(model))
    storages = {
        one.tensor.untyped_storage().data_ptr(): one.tensor.untyped_storage() for one in saved
    }
    assert loss.requires_grad
    words = setup.facts.vocabulary
    # log-softmax at the targets; a model that caps its logits keeps those as well.
    of_loss = 4 * words * len(batch["targets"]) * (1 + setup.facts.caps_logits)
    kept = [storage.nbytes() for place, storage in storages.items() if place not in weights]
    return sum(kept) - of_loss


@pytest.mark.parametrize(("family", "variant"), CASES)
def test_the_formula_is_within_two_percent(family: str, variant: str, tmp_path: Path) -> None:
    fixture = json.loads((FAMILY_FIXTURES / f"{family}.json").read_text())
    write_model(tmp_path / "model", fixture["config"], fixture["shapes"])
    facts = read_model_facts("model", tmp_path)
    chosen = {"method": LORA, "layout": "flat", "precision": "float32"} | VARIANTS[variant]
    lengths: tuple[int, ...] = chosen.pop("lengths", LENGTHS)
    method = chosen["method"]
    points = ((0.0, min(lengths)), (1.0, max(lengths)))
    setup = Setup(
        facts=facts,
        targets=resolve_targets(method, facts) if isinstance(method, AdapterMethod) else (),
        lengths=Lengths(len(lengths), points, sum(lengths) / len(lengths), 1.0, True),
        device="cpu",
        micro_batch=len(lengths),
        checkpointing=False,
        batch=len(lengths),
        **chosen,
    )
    flat = setup.layout == "flat"
    positions = sum(lengths) if flat else len(lengths) * max(lengths)
    planned = facts.layers * layer_bytes(setup, positions) + tail_bytes(setup, positions)
    config = {key: value for key, value in fixture["config"].items() if key != "architectures"}
    assert planned == pytest.approx(kept_bytes(setup, config, lengths), rel=0.02)
