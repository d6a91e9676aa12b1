"""Weights between 0 and 1 reach the loss that is optimised: compared with sums made by hand."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_run import losses, metrics, write_model, write_run

from surefit.plan.plan import Plan
from surefit.runs.folder import RunFolder

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("model"))


def weigh(run: RunFolder, split: str, weights: "np.ndarray[Any, Any]") -> None:
    """Give each token of a split its weight."""
    mask = np.fromfile(run.data / f"{split}.mask.u8", dtype="u1")
    (weights * mask).astype("<f4").tofile(run.data / f"{split}.weights.f32")


def row_weights(run: RunFolder, split: str, values: tuple[float, ...]) -> "np.ndarray[Any, Any]":
    """A weight for all tokens of a row, the values in turn."""
    ends = np.fromfile(run.data / f"{split}.offsets.u64", dtype="<u8").astype("int64")
    each = [values[n % len(values)] for n in range(len(ends) - 1)]
    return np.repeat(np.asarray(each, dtype="float64"), np.diff(ends))


def learn(run: RunFolder) -> RunFolder:
    """Train in this process."""
    from surefit.train.journal import Journal
    from surefit.train.run import train
    from surefit.train.stop import StopSignal

    plan = run.read(run.plan, Plan)
    assert plan
    train(plan, Journal(run, 1), StopSignal())
    return run


def weighted_loss_of(run: RunFolder, split: str, model: Any) -> float:
    """sum(weight x cross-entropy) / sum(weight), row by row, with nothing of the worker's."""
    import torch

    ids = np.fromfile(run.data / f"{split}.ids.u32", dtype="<u4").astype("int64")
    weights = np.fromfile(run.data / f"{split}.weights.f32", dtype="<f4")
    ends = np.fromfile(run.data / f"{split}.offsets.u64", dtype="<u8").astype("int64")
    total, weight = 0.0, 0.0
    for start, end in itertools.pairwise(ends):
        row = torch.from_numpy(ids[start:end])
        with torch.no_grad():
            scores = model(input_ids=row[None])["logits"][0].log_softmax(-1)
        for place in range(1, len(row)):
            total -= float(weights[start + place]) * float(scores[place - 1, row[place]])
            weight += float(weights[start + place])
    return total / weight


@pytest.mark.parametrize(
    "how",
    [
        {"layout": "flat"},
        {"layout": "padded"},
        {"layout": "padded", "by_length": True, "micro_batch": 4, "accumulation": 5},
        {"packing": True, "max_length": 128, "micro_batch": 1, "accumulation": 20},
    ],
)
def test_the_loss_is_the_weighted_mean(tmp_path: Path, model: Path, how: dict[str, Any]) -> None:
    import transformers

    from surefit.train.lines import PackedLines
    from surefit.train.rows import PreparedRows

    changes = {
        "batch": 20,
        "micro_batch": 20,
        "accumulation": 1,
        "epochs": 1,
        "steps": 1,
        "warmup_steps": 0,
        **how,
    }
    run = write_run(tmp_path / "run", model, eval_rows=6, **changes)
    if changes.get("packing"):
        lines = len(PackedLines(PreparedRows(run.data, "train"), 128, 17))
        run = write_run(tmp_path / "run", model, eval_rows=6, sequences=lines, **changes)
    for split in ("train", "eval"):
        weigh(run, split, row_weights(run, split, (1.0, 0.25, 0.5)))
    plain = transformers.AutoModelForCausalLM.from_pretrained(model).eval()
    expected = weighted_loss_of(run, "train", plain)
    learn(run)
    assert losses(run) == [pytest.approx(expected, abs=1e-5)]
    unweighted = write_run(
        tmp_path / "plain", model, **{**changes, "packing": False, "layout": "flat"}
    )
    assert losses(learn(unweighted))[0] != pytest.approx(expected, abs=1e-3)
    import peft

    trained = peft.PeftModel.from_pretrained(plain, run.model).eval()
    reported = metrics(run, "eval")[-1].loss
    assert weighted_loss_of(run, "eval", trained) == pytest.approx(reported, abs=1e-5)


def test_one_weight_for_all_changes_nothing(tmp_path: Path, model: Path) -> None:
    plain = learn(write_run(tmp_path / "plain", model))
    run = write_run(tmp_path / "half", model)
    weigh(run, "train", row_weights(run, "train", (0.5,)))
    assert losses(learn(run)) == pytest.approx(losses(plain), abs=2e-6)


def test_rows_of_little_weight_teach_little(tmp_path: Path, model: Path) -> None:
    """Gradients follow the weights: a set of two kinds of rows, one of them nearly silent."""
    norms = {}
    for name, values in (("first", (1.0, 1e-6)), ("all", (1.0, 1.0))):
        run = write_run(tmp_path / name, model, batch=20, micro_batch=20, accumulation=1, epochs=2)
        weigh(run, "train", row_weights(run, "train", values))
        learn(run)
        norms[name] = metrics(run)[0].gradient_norm
    assert norms["first"] != pytest.approx(norms["all"], rel=1e-2)
