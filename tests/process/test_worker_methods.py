"""Every kind of adapter for real: what the live objects are, that it learns, and that its file is it."""

from pathlib import Path
from typing import Any

import pytest
from tiny_run import LORA, SHAPES, losses, plan_for, write_model, write_run

from surefit.plan.plan import Plan
from surefit.recipe.schema import AdapterMethod, DoraMethod, QloraMethod, RsLoraMethod
from surefit.runs.folder import RunFolder
from surefit.runs.result import Effective, Result

pytestmark = pytest.mark.process

TARGETS = tuple(shape.name for shape in SHAPES)
METHODS: dict[str, AdapterMethod] = {
    "lora": LORA,
    "rslora": RsLoraMethod(type="rslora", rank=4),
    "dora": DoraMethod(type="dora", rank=4),
    "qlora": QloraMethod(type="qlora", rank=4),
    "qlora of single quantisation": QloraMethod(type="qlora", rank=4, double_quantization=False),
}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("model"))


def learn(folder: Path, model: Path, method: AdapterMethod, **changes: Any) -> RunFolder:
    from surefit.train.journal import Journal
    from surefit.train.run import train
    from surefit.train.stop import StopSignal

    run = write_run(folder, model, method=method, targets=TARGETS, **changes)
    plan = run.read(run.plan, Plan)
    assert plan
    train(plan, Journal(run, 1), StopSignal())
    return run


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, model: Path) -> dict[str, RunFolder]:
    return {
        name: learn(tmp_path_factory.mktemp("run"), model, method, rehearse=True)
        for name, method in METHODS.items()
    }


@pytest.mark.parametrize("name", METHODS)
def test_it_is_what_was_planned_and_its_file_is_what_was_trained(
    runs: dict[str, RunFolder], name: str
) -> None:
    run, method = runs[name], METHODS[name]
    found = run.read(run.effective, Effective)
    result = run.read(run.result, Result)
    assert found
    assert result
    assert found.differences == ()
    assert found.effective["adapter_kind"] == method.type
    quantized = found.effective["quantized"]
    if isinstance(method, QloraMethod):
        expected = {"type": "nf4", "double": method.double_quantization, "modules": 14}
        assert quantized == expected
        assert "torch.uint8" in found.effective["frozen_dtypes"]
    else:
        assert quantized is None
    assert result.verification.max_difference <= result.verification.tolerance
    assert result.verification.change_from_base > 0
    first, *_, last = losses(run)
    assert first is not None
    assert last is not None
    assert last < first


def test_each_of_them_learns_differently(runs: dict[str, RunFolder]) -> None:
    final = {name: tuple(losses(run)) for name, run in runs.items()}
    assert len(set(final.values())) == len(METHODS), final


def test_dora_trains_a_length_beside_each_adapter(runs: dict[str, RunFolder]) -> None:
    counts = {}
    for name in ("lora", "dora"):
        found = runs[name].read(runs[name].effective, Effective)
        assert found
        counts[name] = found.effective["trainable_parameters"]
    assert counts["dora"] - counts["lora"] == 2 * sum(shape.outputs for shape in SHAPES)


def test_an_evaluation_leaves_the_gradients_of_4_bit_weights_alone(model: Path) -> None:
    """bitsandbytes repacks its weights in a pass without gradients and then unpacks them wrongly."""
    import torch

    from surefit.train.batches import collate_flat
    from surefit.train.loss import kept_logits, summed_loss
    from surefit.train.model import build_for_training, trainable
    from surefit.train.rows import Row

    plan = plan_for(model, 8, method=METHODS["qlora"], targets=TARGETS)
    built = build_for_training(plan, torch.device("cpu"))
    for name, weight in trainable(built).items():
        if "lora_B" in name:
            torch.nn.init.normal_(weight, std=0.05)
    ids = torch.arange(3, 40).numpy()
    batch = collate_flat([Row(0, ids, ids > 0)])

    def gradients() -> dict[str, torch.Tensor]:
        built.train()
        built.zero_grad()
        summed_loss(built, batch, kept_logits(built)).backward()
        return {
            name: weight.grad.clone()
            for name, weight in trainable(built).items()
            if weight.grad is not None
        }

    before = gradients()
    built.eval()
    with torch.no_grad():
        summed_loss(built, batch, kept_logits(built))
    after = gradients()
    assert before.keys() == after.keys() == trainable(built).keys()
    assert all(torch.equal(before[name], after[name]) for name in before)


def test_a_swapped_kind_of_adapter_is_refused(
    tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from surefit.train import model as building
    from surefit.train.failures import ConfigurationDiffers

    usual = building.LoraConfig
    monkeypatch.setattr(
        building, "LoraConfig", lambda **words: usual(**{**words, "use_dora": False})
    )
    with pytest.raises(ConfigurationDiffers, match="adapter_kind is 'lora', planned 'dora'"):
        learn(tmp_path, model, METHODS["dora"])
