"""What is learned does not depend on how the work is cut up, and the result is what it says."""

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import tiny_run
from tiny_run import FULL, losses, metrics, write_model, write_run

from surefit.plan.plan import Plan
from surefit.runs.folder import RunFolder
from surefit.runs.result import Effective, Rehearsal, Result

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("model"))


def learn(folder: Path, model: Path, **changes: Any) -> RunFolder:
    """Train in this process: the same code as the worker's, without its start."""
    from surefit.train.journal import Journal
    from surefit.train.run import train
    from surefit.train.stop import StopSignal

    run = write_run(folder, model, **changes)
    plan = run.read(run.plan, Plan)
    assert plan
    train(plan, Journal(run, 1), StopSignal())
    return run


@pytest.fixture(scope="module")
def lora(tmp_path_factory: pytest.TempPathFactory, model: Path) -> RunFolder:
    return learn(tmp_path_factory.mktemp("lora"), model, eval_rows=6, rehearse=True, epochs=3)


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory, model: Path) -> RunFolder:
    """A run with the settings of `plan_for`, which other tests change one by one."""
    return learn(tmp_path_factory.mktemp("usual"), model)


def result_of(run: RunFolder) -> Result:
    result = run.read(run.result, Result)
    assert result
    return result


def plain_eval_loss(run: RunFolder, trained: Any) -> float:
    """The loss of the eval rows, one by one, with nothing of the worker's."""
    import numpy as np
    import torch

    ids = np.fromfile(run.data / "eval.ids.u32", dtype="<u4").astype("int64")
    mask = np.fromfile(run.data / "eval.mask.u8", dtype="u1")
    ends = np.fromfile(run.data / "eval.offsets.u64", dtype="<u8").astype("int64")
    total, count = 0.0, 0
    for start, end in itertools.pairwise(ends):
        row, trained_here = torch.from_numpy(ids[start:end]), mask[start:end]
        with torch.no_grad():
            scores = trained(input_ids=row[None])["logits"][0].log_softmax(-1)
        for place in range(1, len(row)):
            if trained_here[place]:
                total -= float(scores[place - 1, row[place]])
                count += 1
    return total / count


def test_the_loss_falls_and_every_step_is_reported(lora: RunFolder) -> None:
    steps = metrics(lora)
    assert [step.step for step in steps] == list(range(1, 10))
    assert steps[-1].loss is not None
    assert steps[0].loss is not None
    assert steps[-1].loss < steps[0].loss - 0.3
    plan = lora.read(lora.plan, Plan)
    assert plan
    # Every real token is counted in every epoch, padding never.
    prepared = json.loads((lora.data / "prepared.json").read_text())["splits"]["train"]
    assert steps[-1].tokens == 3 * prepared["tokens"]
    assert steps[-1].trained_tokens == 3 * prepared["trained"]


def test_the_adapter_loads_in_plain_peft_and_gives_the_reported_loss(
    lora: RunFolder, model: Path
) -> None:
    import peft
    import transformers

    config = json.loads((lora.model / "adapter_config.json").read_text())
    assert config["base_model_name_or_path"] == str(model)
    plain = transformers.AutoModelForCausalLM.from_pretrained(model)
    trained = peft.PeftModel.from_pretrained(plain, lora.model).eval()
    reported = metrics(lora, "eval")[-1].loss
    assert plain_eval_loss(lora, trained) == pytest.approx(reported, abs=1e-5)
    assert result_of(lora).eval_loss == reported


def test_a_full_result_loads_in_plain_transformers(tmp_path: Path, model: Path) -> None:
    import transformers

    run = learn(tmp_path, model, eval_rows=6, method=FULL, rehearse=True)
    trained = transformers.AutoModelForCausalLM.from_pretrained(run.model).eval()
    assert plain_eval_loss(run, trained) == pytest.approx(metrics(run, "eval")[-1].loss, abs=1e-5)
    assert result_of(run).kind == "model"
    assert transformers.AutoTokenizer.from_pretrained(run.model).chat_template
    configs = [json.loads((folder / "config.json").read_text()) for folder in (model, run.model)]
    assert configs[0] == configs[1]


def test_the_result_names_every_file_with_its_hash(lora: RunFolder) -> None:
    import hashlib

    result = result_of(lora)
    files = {file.path: file for file in result.files}
    assert set(files) == {
        path.relative_to(lora.path).as_posix() for path in lora.model.rglob("*") if path.is_file()
    }
    for path, file in files.items():
        content = (lora.path / path).read_bytes()
        assert (len(content), hashlib.sha256(content).hexdigest()) == (file.size_bytes, file.sha256)
    assert result.verification.max_difference <= result.verification.tolerance
    assert result.verification.change_from_base > 0.01
    assert (result.first_loss, result.final_loss) == (losses(lora)[0], losses(lora)[-1])


def test_the_rehearsal_changes_nothing(tmp_path: Path, model: Path, lora: RunFolder) -> None:
    bare = learn(tmp_path, model, eval_rows=6, rehearse=False, epochs=3)
    assert losses(bare) == losses(lora)
    weights = "adapter_model.safetensors"
    assert (bare.model / weights).read_bytes() == (lora.model / weights).read_bytes()


def test_the_rehearsal_changes_nothing_with_dropout_and_full_weights(
    tmp_path: Path, model: Path
) -> None:
    dropped = tiny_run.LoraMethod(type="lora", rank=4, dropout=0.3)
    for name, method in (("lora", dropped), ("full", FULL)):
        one = learn(tmp_path / name / "1", model, method=method, rehearse=True)
        two = learn(tmp_path / name / "2", model, method=method, rehearse=False)
        assert losses(one) == losses(two)


def test_the_rehearsal_writes_what_it_measured(lora: RunFolder) -> None:
    record = lora.read(lora.path / "rehearsal.json", Rehearsal)
    assert record
    names = [check.name for check in record.checks]
    assert names == ["start", "worst step", "gradients", "isolation", "reload", "generation"]
    assert all(check.passed for check in record.checks)
    assert record.peak_bytes > 2**26
    gradients = record.checks[2]
    # 7 layers, 2 blocks, A and B.
    assert gradients.measured == 28
    # The worst of all micro-batches is worse than any that the run met on average.
    assert record.worst_tokens >= metrics(lora)[0].tokens / 2  # type: ignore[operator]
    assert not (lora.path / "rehearsal").exists()


def test_a_rehearsal_alone_ends_before_training(tmp_path: Path, model: Path) -> None:
    run = learn(tmp_path, model, rehearse=True, only_rehearse=True)
    assert (run.path / "rehearsal.json").is_file()
    assert not metrics(run)
    assert not run.result.exists()


def test_the_cut_into_micro_batches_does_not_change_the_loss(tmp_path: Path, model: Path) -> None:
    cuts = ((8, 1), (4, 2), (1, 8))
    curves = [
        losses(learn(tmp_path / f"{micro}x{passes}", model, micro_batch=micro, accumulation=passes))
        for micro, passes in cuts
    ]
    # 20 rows in batches of 8: the last step of each epoch is smaller and must weigh its own tokens.
    assert len(curves[0]) == 6
    for other in curves[1:]:
        assert other == pytest.approx(curves[0], abs=2e-5)


@pytest.mark.parametrize(("epochs", "steps"), [(0.5, 5), (1.1, 11), (2.01, 21)])
def test_a_part_of_an_epoch_has_the_planned_steps(
    tmp_path: Path, model: Path, epochs: float, steps: int
) -> None:
    run = learn(tmp_path, model, rows=80, epochs=epochs)
    assert len(losses(run)) == steps


def test_flat_and_padded_rows_learn_the_same(tmp_path: Path, model: Path) -> None:
    flat = learn(tmp_path / "flat", model, layout="flat", eval_rows=5)
    padded = learn(tmp_path / "padded", model, layout="padded", eval_rows=5)
    assert losses(padded) == pytest.approx(losses(flat), abs=2e-5)
    norms = [[step.gradient_norm for step in metrics(run)] for run in (flat, padded)]
    assert norms[1] == pytest.approx(norms[0], rel=1e-4)
    assert metrics(padded, "eval")[0].loss == pytest.approx(metrics(flat, "eval")[0].loss, abs=2e-5)
    assert metrics(padded)[-1].tokens == metrics(flat)[-1].tokens


def test_passing_a_step_by_length_changes_no_loss(
    tmp_path: Path, model: Path, usual: RunFolder
) -> None:
    sorted_ones = learn(tmp_path, model, layout="padded", by_length=True, eval_rows=5)
    assert losses(sorted_ones) == pytest.approx(losses(usual), abs=2e-5)
    record = sorted_ones.read(sorted_ones.effective, Effective)
    assert record
    assert record.effective["by_length"] is True


def test_recomputing_activations_changes_no_loss(
    tmp_path: Path, model: Path, usual: RunFolder
) -> None:
    again = learn(tmp_path, model, gradient_checkpointing=True)
    assert losses(again) == pytest.approx(losses(usual), abs=1e-5)
    record = again.read(again.effective, Effective)
    assert record
    assert record.effective["gradient_checkpointing"] is True


def test_evaluation_on_the_way_changes_no_loss(
    tmp_path: Path, model: Path, usual: RunFolder
) -> None:
    often = learn(tmp_path, model, eval_rows=5, eval_every_steps=2)
    assert losses(often) == losses(usual)
    assert [metric.step for metric in metrics(often, "eval")] == [2, 4, 6]


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("learning_rate", 1e-3),
        ("schedule", "linear"),
        ("schedule", "constant"),
        ("warmup_steps", 3),
        ("weight_decay", 0.5),
        ("betas", (0.5, 0.6)),
        ("epsilon", 1e-2),
        ("max_gradient_norm", 0.01),
        ("seed", 18),
        ("precision", "bfloat16"),
        ("method", tiny_run.LoraMethod(type="lora", rank=2)),
        ("method", tiny_run.LoraMethod(type="lora", rank=4, alpha=64)),
        ("method", tiny_run.LoraMethod(type="lora", rank=4, dropout=0.5)),
        ("targets", ("q_proj", "v_proj")),
    ],
)
def test_each_setting_of_the_plan_changes_what_is_learned(
    tmp_path: Path, model: Path, usual: RunFolder, setting: str, value: object
) -> None:
    run = learn(tmp_path, model, verify_tolerance=0.1, **{setting: value})
    assert losses(run) != losses(usual)
    record = run.read(run.effective, Effective)
    assert record
    assert not record.differences


def test_eager_attention_is_what_runs_when_planned(tmp_path: Path, model: Path) -> None:
    run = learn(tmp_path, model, attention="eager")
    record = run.read(run.effective, Effective)
    assert record
    assert record.effective["attention"] == "eager"


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_rows_that_see_each_other_fail_the_isolation_check(model: Path, precision: str) -> None:
    import numpy as np
    import torch
    from tiny_run import conversations, load_chat_tokenizer, plan_for

    from surefit.train.batches import Batch, collate_flat
    from surefit.train.model import load_base
    from surefit.train.rehearsal_checks import check_isolation
    from surefit.train.rows import Row

    def running_on(rows: Sequence[Row]) -> Batch:
        batch = collate_flat(rows)
        return {**batch, "position_ids": torch.arange(batch["input_ids"].numel())[None]}

    training = plan_for(model, 3).training.model_copy(update={"precision": precision})
    device = torch.device("cpu")
    tokenizer, base = load_chat_tokenizer(model), load_base(model, training, device)
    encoded = [np.asarray(tokenizer.encode(row).ids) for row in conversations(3)]
    rows = [Row(number, ids, ids >= 0) for number, ids in enumerate(encoded)]
    apart = check_isolation(base, rows, device, training)
    assert apart.passed
    assert apart.measured == 0
    ones = torch.ones(1, sum(len(row.ids) for row in rows), dtype=torch.int64)
    for leaking in (
        check_isolation(base, rows, device, training, attention_mask=ones),
        check_isolation(base, rows, device, training, running_on),
    ):
        assert not leaking.passed
        assert "they see each other" in leaking.text
