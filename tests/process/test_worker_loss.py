"""The loss takes logits only where they are needed, by every way a model offers, with one result."""

from pathlib import Path

import numpy as np
import pytest
from tiny_run import conversations, load_chat_tokenizer, plan_for, write_model

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("model"))


@pytest.mark.parametrize("layout", ["flat", "padded"])
def test_every_way_of_keeping_logits_gives_the_loss_of_the_library(
    model: Path, layout: str
) -> None:
    import torch

    from surefit.train.batches import COLLATE
    from surefit.train.loss import Keeping, kept_logits, summed_loss
    from surefit.train.model import load_base
    from surefit.train.rows import Row

    tokenizer = load_chat_tokenizer(model)
    base = load_base(model, plan_for(model, 4).training, torch.device("cpu")).eval()
    rows, expected, count = [], 0.0, 0
    for number, row in enumerate(conversations(4)):
        encoded = tokenizer.encode(row)
        ids, mask = np.asarray(encoded.ids), np.frombuffer(encoded.mask, dtype=np.bool_)
        rows.append(Row(number, ids, mask))
        labels = torch.tensor(np.where(mask, ids, -100))[None]
        with torch.no_grad():
            mean = float(base(input_ids=torch.tensor(ids)[None], labels=labels)["loss"])
        expected, count = expected + mean * int(mask.sum()), count + int(mask.sum())
    batch = COLLATE[layout](rows)
    assert len(batch["targets"]) == count
    ways: tuple[Keeping, ...] = ("all", "columns", "places")
    with torch.no_grad():
        found = [float(summed_loss(base, batch, keep)) for keep in ways]
    assert found == pytest.approx([expected] * 3, rel=1e-5)
    assert kept_logits(base) in ways


def test_a_model_that_cannot_choose_gives_all_logits() -> None:
    import torch

    from surefit.train.loss import kept_logits

    class Simple(torch.nn.Module):
        def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
            return input_ids

    assert kept_logits(Simple()) == "all"


def test_no_row_learns_its_first_token_from_the_row_before(model: Path) -> None:
    from surefit.train.batches import COLLATE
    from surefit.train.rows import Row

    rows = [Row(n, np.array([5, 6, 7]), np.array([True, True, True])) for n in range(2)]
    for layout in ("flat", "padded"):
        batch = COLLATE[layout](rows)
        assert batch["targets"].tolist() == [6, 7, 6, 7]
        where = (
            [(0, 0), (0, 1), (1, 0), (1, 1)]
            if layout == "padded"
            else [(0, n) for n in (0, 1, 3, 4)]
        )
        assert (
            list(zip(batch["row_of"].tolist(), batch["column_of"].tolist(), strict=True)) == where
        )
    assert "attention_mask" not in COLLATE["flat"](rows)
    assert COLLATE["flat"](rows)["position_ids"].tolist() == [[0, 1, 2, 0, 1, 2]]


def test_the_order_of_an_epoch_is_fixed_for_ever() -> None:
    from surefit.train.rows import epoch_order

    assert epoch_order(8, 17, 0).tolist() == [2, 3, 4, 0, 1, 7, 6, 5]
    assert sorted(epoch_order(1000, 17, 1)) == list(range(1000))
    assert epoch_order(1000, 17, 1).tolist() != epoch_order(1000, 17, 2).tolist()
    assert epoch_order(1000, 17, 1).tolist() != epoch_order(1000, 18, 1).tolist()


def test_the_worst_micro_batch_is_the_worst_of_all_epochs(model: Path) -> None:
    from surefit.train.rows import EpochOrder
    from surefit.train.worst_step import worst_numbers

    lengths = np.random.RandomState(0).randint(5, 90, 21)
    for layout, by_length in (("flat", False), ("padded", False), ("padded", True)):
        training = plan_for(model, 21, layout=layout, by_length=by_length, epochs=2.5).training
        whole = EpochOrder(lengths, training.seed, training.batch if by_length else 0)
        costs = {}
        for epoch in range(3):
            order = whole.of(epoch).tolist()
            for start in range(0, 21, 4):
                part = order[start : start + 4]
                positions = (
                    sum(lengths[part]) if layout == "flat" else len(part) * max(lengths[part])
                )
                costs[tuple(part)] = positions
        worst = tuple(worst_numbers(whole, training))
        assert costs[worst] == max(costs.values())


def test_a_step_that_passes_by_length_holds_the_same_rows() -> None:
    from surefit.train.rows import EpochOrder

    lengths = np.random.RandomState(1).randint(5, 90, 21)
    by_chance, sorted_ones = EpochOrder(lengths, 17), EpochOrder(lengths, 17, block=8)
    for start in range(0, 21, 8):
        step, other = (order.of(1)[start : start + 8] for order in (by_chance, sorted_ones))
        assert sorted(step) == sorted(other)
        assert lengths[other].tolist() == sorted(lengths[step], reverse=True)
