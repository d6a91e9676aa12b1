"""Numbers gone wrong end a run at the first step that shows it, with the step's rows kept."""

import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tiny_run import FULL, losses, metrics, notes, plan_for, write_model, write_run

from surefit.errors import SurefitError, WorkerExit
from surefit.plan.plan import Plan
from surefit.runs.folder import RunFolder
from surefit.runs.result import Result

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("model"))


def go(run: RunFolder) -> None:
    from surefit.train.journal import Journal
    from surefit.train.run import train
    from surefit.train.stop import StopSignal

    plan = run.read(run.plan, Plan)
    assert plan
    train(plan, Journal(run, 1), StopSignal())


def ended(run: RunFolder) -> SurefitError:
    with pytest.raises(SurefitError) as caught:
        go(run)
    assert caught.value.worker_exit == WorkerExit.NUMERIC, caught.value
    kept = json.loads((run.path / "bad_batch.json").read_text())
    assert [row["row"] for row in kept["rows"]] == caught.value.details["rows"]
    assert kept["rows"][0]["ids"]
    return caught.value


def altered(folder: Path, source: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """A copy of the model with other weights."""
    from safetensors.torch import load_file, save_file

    shutil.copytree(source, folder)
    weights = load_file(folder / "model.safetensors")
    change(weights)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


def trained_norms(weights: dict[str, Any]) -> None:
    for name, weight in weights.items():
        if "norm" in name:
            weight[::2] = 1.25


def small_embeddings(weights: dict[str, Any]) -> None:
    """Logits of almost 0: every token of the vocabulary is as likely as any other."""
    weights["model.embed_tokens.weight"].mul_(1e-3)


def test_a_pretrained_model_that_guesses_is_refused_before_its_first_step(
    tmp_path: Path, model: Path
) -> None:
    def broken(weights: dict[str, Any]) -> None:
        trained_norms(weights)
        small_embeddings(weights)

    run = write_run(tmp_path / "run", altered(tmp_path / "model", model, broken))
    error = ended(run)
    assert "guesses" in error.what
    assert error.details["class"] == "FILE_CORRUPT"
    assert not metrics(run)


def test_a_model_that_is_sure_and_wrong_may_have_any_loss(model: Path) -> None:
    from transformers import AutoModelForCausalLM

    from surefit.train.numbers import NumberWatch, StepNumbers

    loaded = AutoModelForCausalLM.from_pretrained(model)
    for name, weight in loaded.named_parameters():
        weight.grad = weight.detach()
        if "norm" in name:
            weight.data[::2] = 1.25
    plan = plan_for(model, 20)
    step = StepNumbers(1, math.log(plan.model.vocabulary), 1.0, 1e-3)
    assert NumberWatch(plan, loaded, evenness=lambda: 0.6).before_step(step) is None
    assert NumberWatch(plan, loaded, evenness=lambda: 0.99).before_step(step) is not None


def test_an_untrained_model_may_guess(tmp_path: Path, model: Path) -> None:
    fresh = altered(tmp_path / "model", model, small_embeddings)
    run = write_run(tmp_path / "run", fresh, method=FULL, epochs=2, verify_tolerance=1.0)
    go(run)
    vocabulary = json.loads((model / "config.json").read_text())["vocab_size"]
    assert losses(run)[0] == pytest.approx(math.log(vocabulary), rel=0.01)


def test_a_learning_rate_of_0_is_noticed_at_the_first_step_that_has_it(
    tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from torch.optim.lr_scheduler import LambdaLR

    from surefit.train.trainer import TokenTrainer

    def flat(self: Any, num_training_steps: int, optimizer: Any = None) -> Any:
        def cosine(step: int) -> float:
            return 0.0 if step >= 2 else 1.0

        self.lr_scheduler = LambdaLR(optimizer or self.optimizer, cosine)
        return self.lr_scheduler

    monkeypatch.setattr(TokenTrainer, "create_scheduler", flat)
    error = ended(write_run(tmp_path, model))
    assert error.what == "the learning rate of step 3 is 0"


def test_a_loss_of_exactly_0_is_no_success(
    tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from surefit.train import trainer

    whole = trainer.summed_loss
    calls = []

    def nothing(*given: Any) -> Any:
        calls.append(1)
        return whole(*given) * (0 if len(calls) > 4 else 1)

    monkeypatch.setattr(trainer, "summed_loss", nothing)
    error = ended(write_run(tmp_path, model))
    assert error.what.startswith("the loss of step 3 is exactly 0 after ")


def test_a_weight_that_the_loss_does_not_reach_is_named(
    tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    from surefit.train import model as worker

    prepare = worker.prepare_for_training

    def with_a_stranger(base: Any, plan: Plan) -> Any:
        prepared = prepare(base, plan)
        prepared.base_model.model.stranger = torch.nn.Parameter(torch.ones(3))
        return prepared

    monkeypatch.setattr(worker, "prepare_for_training", with_a_stranger)
    monkeypatch.setattr("surefit.train.loop.refuse_differences", lambda _record: None)
    error = ended(write_run(tmp_path, model))
    assert "1 trainable weights got no gradient in step 1" in error.what
    assert "stranger" in error.why


def test_weights_that_never_change_are_noticed(
    tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    monkeypatch.setattr(torch.optim.AdamW, "step", lambda self, closure=None: None)
    error = ended(write_run(tmp_path, model))
    assert error.what == "no weight has changed in 3 steps, up to step 4"
    assert "float32" in error.why


def test_a_loss_that_stands_still_is_noticed_and_one_that_creeps_is_not(
    tmp_path: Path, model: Path
) -> None:
    from transformers import AutoModelForCausalLM

    from surefit.train.numbers import NumberWatch, StepNumbers

    plan = plan_for(model, 20)
    loaded = AutoModelForCausalLM.from_pretrained(model)
    for weight in loaded.parameters():
        weight.grad = weight.detach()
    still, creeping = NumberWatch(plan, loaded), NumberWatch(plan, loaded)
    for step in range(1, 21):
        assert still.before_step(StepNumbers(step, 2.5, 1.0, 1e-3)) is None
        assert creeping.before_step(StepNumbers(step, 2.5 - step * 1e-5, 1.0, 1e-3)) is None
    assert still.before_step(StepNumbers(21, 2.5, 1.0, 1e-3)) is not None
    assert creeping.before_step(StepNumbers(21, 2.4, 1.0, 1e-3)) is None


def test_rows_learned_by_heart_may_reach_a_loss_of_0(model: Path) -> None:
    from transformers import AutoModelForCausalLM

    from surefit.train.numbers import NumberWatch, StepNumbers

    loaded = AutoModelForCausalLM.from_pretrained(model)
    for weight in loaded.parameters():
        weight.grad = weight.detach()
    watch = NumberWatch(plan_for(model, 20), loaded)
    assert watch.before_step(StepNumbers(1, 1e-5, 1.0, 1e-3)) is None
    assert watch.before_step(StepNumbers(2, 0.0, 0.0, 1e-3)) is None


def test_training_without_improvement_ends_with_the_best_weights(
    tmp_path: Path, model: Path
) -> None:
    run = write_run(
        tmp_path,
        model,
        rows=16,
        eval_rows=8,
        epochs=60,
        learning_rate=2e-2,
        eval_every_steps=4,
        no_improvement=2,
        keep_checkpoints=1,
        checkpoint_every_steps=50,
    )
    go(run)
    [note] = notes(run, "no_improvement")
    curve = {one.step: one.loss for one in metrics(run, "eval")}
    best = note.details["step"]
    assert max(curve) == best + 8 < 120
    assert note.details["eval_loss"] == curve[best] == min(curve.values())
    result = run.read(run.result, Result)
    assert result
    assert result.steps == best
    assert result.eval_loss == pytest.approx(curve[best], rel=1e-5)
    assert (run.checkpoints / f"step-{best}").exists()
