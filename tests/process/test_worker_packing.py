"""Packed training: the same loss for every sample, rows that never see each other, exact steps."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tiny_run import FULL, losses, metrics, notes, write_model, write_run

from surefit.plan.plan import Plan
from surefit.runs.folder import RunFolder
from surefit.runs.result import Effective, Rehearsal

pytestmark = pytest.mark.process

LIMIT = 128


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("model"))


def lines_in(run: RunFolder, limit: int = LIMIT, seed: int = 17) -> Any:
    """The packed lines of a run's training rows."""
    from surefit.train.lines import PackedLines
    from surefit.train.rows import PreparedRows

    return PackedLines(PreparedRows(run.data, "train"), limit, seed)


def write(folder: Path, model: Path, **changes: Any) -> RunFolder:
    """A run folder whose plan packs its rows."""
    plain = write_run(folder / "counted", model, rows=changes.get("rows", 20))
    changes.setdefault("sequences", len(lines_in(plain)))
    items = changes["sequences"]
    changes.setdefault("steps", -(-items // changes.get("batch", 8)) * changes.get("epochs", 2))
    changes = {"micro_batch": 1, "accumulation": changes.get("batch", 8), **changes}
    return write_run(folder / "run", model, packing=True, max_length=LIMIT, **changes)


def learn(run: RunFolder) -> RunFolder:
    """Train in this process."""
    from surefit.train.journal import Journal
    from surefit.train.run import train
    from surefit.train.stop import StopSignal

    plan = run.read(run.plan, Plan)
    assert plan
    train(plan, Journal(run, 1), StopSignal())
    return run


def sample_losses(model: Any, batches: Iterator[dict[str, Any]]) -> dict[int, float]:
    """Cross-entropy of each row, summed over its trained tokens."""
    import torch

    from surefit.train.loss import target_logits

    found: dict[int, float] = {}
    for batch in batches:
        with torch.no_grad():
            logits = target_logits(model, batch, "all").float()
        each = torch.nn.functional.cross_entropy(logits, batch["targets"], reduction="none")
        starts = (batch["position_ids"][0] == 0).cumsum(0) - 1
        owners = starts[batch["column_of"]] if len(batch["numbers"]) > 1 else None
        for place, number in enumerate(batch["numbers"].tolist()):
            mine = each if owners is None else each[owners == place]
            found[number] = float(mine.sum())
    return found


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
def test_packed_and_alone_every_sample_has_the_same_loss(
    tmp_path: Path, model: Path, attention: str
) -> None:
    import torch
    from tiny_run import plan_for

    from surefit.train.batches import collate_flat, collate_lines
    from surefit.train.model import load_base

    run = write(tmp_path, model)
    lines = lines_in(run)
    assert len(lines) < len(lines.rows) / 2
    training = plan_for(model, 20, attention=attention).training
    base = load_base(model, training, torch.device("cpu")).eval()
    alone = sample_losses(base, (collate_flat([lines.rows[n]]) for n in range(20)))
    packed = sample_losses(base, (collate_lines([lines[n]]) for n in range(len(lines))))
    two = sample_losses(
        base,
        (
            collate_lines([lines[n] for n in (a, a + 1) if n < len(lines)])
            for a in range(0, len(lines), 2)
        ),
    )
    assert packed.keys() == two.keys() == alone.keys() == set(range(20))
    for number, loss in alone.items():
        assert packed[number] == pytest.approx(loss, rel=1e-5)
        assert two[number] == pytest.approx(loss, rel=1e-5)


@pytest.mark.parametrize("method", ["lora", "full"])
def test_where_a_step_holds_all_rows_packed_and_unpacked_runs_are_one(
    tmp_path: Path, model: Path, method: str
) -> None:
    changes: dict[str, Any] = {"batch": 20, "epochs": 4, "steps": 4}
    if method == "full":
        changes |= {"method": FULL, "learning_rate": 1e-3}
    packed = learn(write(tmp_path / "packed", model, eval_rows=5, **changes))
    plain = learn(
        write_run(tmp_path / "plain", model, eval_rows=5, micro_batch=20, accumulation=1, **changes)
    )
    assert losses(packed) == pytest.approx(losses(plain), abs=2e-5)
    norms = [[step.gradient_norm for step in metrics(run)] for run in (packed, plain)]
    assert norms[0] == pytest.approx(norms[1], rel=1e-4)
    assert metrics(packed, "eval")[0].loss == pytest.approx(
        metrics(plain, "eval")[0].loss, abs=2e-5
    )
    assert metrics(packed)[-1].trained_tokens == metrics(plain)[-1].trained_tokens


def test_a_packed_run_says_so_and_makes_the_planned_steps(tmp_path: Path, model: Path) -> None:
    run = learn(write(tmp_path, model, batch=2, epochs=3, rehearse=True, rows=40))
    plan, record = run.read(run.plan, Plan), run.read(run.effective, Effective)
    assert plan
    assert record
    assert not record.differences
    assert record.effective["packing"] is True
    assert record.effective["sequences"] == plan.training.sequences
    assert record.effective["rows"] == 40
    assert len(losses(run)) == plan.training.steps == 3 * -(-plan.training.sequences // 2)  # type: ignore[operator]
    # Every row once in an epoch.
    facts = json.loads((run.data / "prepared.json").read_text())["splits"]["train"]
    assert metrics(run)[-1].tokens == 3 * facts["tokens"]
    rehearsal = run.read(run.path / "rehearsal.json", Rehearsal)
    assert rehearsal
    assert "isolation" in [check.name for check in rehearsal.checks]
    assert rehearsal.worst_tokens == int(lines_in(run).lengths.max())


@pytest.mark.parametrize("micro_batch", [1, 2, 4])
def test_the_cut_into_micro_batches_does_not_change_a_packed_run(
    tmp_path: Path, model: Path, micro_batch: int
) -> None:
    one = learn(write(tmp_path / "1", model, batch=4))
    other = learn(
        write(
            tmp_path / "2", model, batch=4, micro_batch=micro_batch, accumulation=4 // micro_batch
        )
    )
    assert losses(other) == pytest.approx(losses(one), abs=2e-5)


def test_another_number_of_sequences_than_planned_fails_before_training(
    tmp_path: Path, model: Path
) -> None:
    from surefit.train.failures import ConfigurationDiffers

    right = write(tmp_path, model)
    wrong = len(lines_in(right)) + 1
    with pytest.raises(ConfigurationDiffers, match=f"sequences is {wrong - 1}, planned {wrong}"):
        learn(write(tmp_path / "wrong", model, sequences=wrong))


@pytest.mark.parametrize("rehearse", [True, False])
def test_a_mask_that_lets_rows_see_each_other_stops_a_packed_run(
    tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch, rehearse: bool
) -> None:
    """What a library or a collator would do by adding the usual mask of ones."""
    import torch

    from surefit.train import batches
    from surefit.train.failures import ConfigurationDiffers

    plain = batches.collate_flat

    def with_mask(rows: Any) -> dict[str, Any]:
        batch = plain(rows)
        return {**batch, "attention_mask": torch.ones_like(batch["input_ids"])}

    run = write(tmp_path, model, rehearse=rehearse)
    monkeypatch.setattr(batches, "collate_flat", with_mask)
    with pytest.raises(ConfigurationDiffers, match="see each other"):
        learn(run)
    assert not metrics(run)


def test_the_self_test_is_made_and_told_without_a_rehearsal(tmp_path: Path, model: Path) -> None:
    run = learn(write(tmp_path, model))
    (note,) = notes(run, "packing")
    assert "3 rows in one line" in note.text


def test_lines_are_drawn_by_the_seed(tmp_path: Path, model: Path) -> None:
    run = write(tmp_path, model, rows=40)

    def numbers(seed: int) -> list[list[int]]:
        return [[row.number for row in line] for line in lines_in(run, seed=seed)]

    assert numbers(17) == numbers(17)
    assert numbers(17) != numbers(18)
    assert sorted(n for line in numbers(18) for n in line) == list(range(40))
