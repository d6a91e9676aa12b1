"""A whole pass over data: counts, samples, what is held back, what is written, what is kept."""

import array
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from token_folders import tokenizer_named

from surefit.data import DatasetReport, check_data, place_prepared
from surefit.recipe.data_spec import DataSpec
from surefit.tokens import ChatTokenizer


@pytest.fixture
def tokenizer(tmp_path: Path) -> ChatTokenizer:
    return tokenizer_named("chatml", tmp_path)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SUREFIT_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def talk(number: int, words: int = 1) -> dict[str, Any]:
    return {
        "messages": [
            {"role": "user", "content": f"What follows {number}?"},
            {"role": "assistant", "content": " ".join([f"{number + 1}"] * words)},
        ]
    }


def write(path: Path, rows: list[Any]) -> None:
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("\n".join(lines) + "\n")


def report_of(
    folder: Path, tokenizer: ChatTokenizer | None, *, rows: list[Any] | None = None, **options: Any
) -> DatasetReport:
    if rows is not None:
        write(folder / "rows.jsonl", rows)
    spec = {key: options.pop(key) for key in ("eval", "max_unusable", "loss") if key in options}
    given: dict[str, Any] = {"max_length": 512, "batch": 4, "seed": 17, **options}
    return check_data(DataSpec(train="rows.jsonl", **spec), folder, tokenizer, **given)


def ids_of(folder: Path, side: str) -> list[list[int]]:
    ids, offsets = array.array("I"), array.array("Q")
    ids.frombytes((folder / f"{side}.ids.u32").read_bytes())
    offsets.frombytes((folder / f"{side}.offsets.u64").read_bytes())
    return [list(ids[a:b]) for a, b in pairwise(offsets)]


def test_without_a_model_everything_is_checked_that_needs_none(tmp_path: Path) -> None:
    report = report_of(tmp_path, None, rows=[talk(n) for n in range(12)])
    assert (report.verdict, report.rows, report.usable) == ("ok", 12, 12)
    assert report.tokens is None


def test_places_are_relative_to_the_recipes_folder(tmp_path: Path) -> None:
    report = report_of(tmp_path, None, rows=[*[talk(n) for n in range(12)], "{"])
    assert report.findings[0].rows == ("rows.jsonl:13",)


def test_tokens_and_samples_are_what_is_written(tmp_path: Path, tokenizer: ChatTokenizer) -> None:
    rows = [talk(n) for n in range(12)]
    report = report_of(tmp_path, tokenizer, rows=rows, into=tmp_path / "data")
    written = ids_of(tmp_path / "data", "train")
    assert written == [tokenizer.encode(row["messages"]).ids for row in rows]
    assert report.tokens is not None
    assert report.tokens.total == sum(map(len, written))
    mask = (tmp_path / "data" / "train.mask.u8").read_bytes()
    assert report.tokens.trained == mask.count(1)
    assert report.samples[0].pieces[1] == ("1<|im_end|>", True)
    described = json.loads((tmp_path / "data" / "prepared.json").read_text())
    assert described["splits"]["train"]["rows"] == 12
    assert described["tokenizer_sha256"] == tokenizer.sha256


def test_a_row_is_cut_at_max_length_and_the_loss_is_counted(
    tmp_path: Path, tokenizer: ChatTokenizer
) -> None:
    rows = [*[talk(n) for n in range(12)], talk(12, words=300)]
    report = report_of(tmp_path, tokenizer, rows=rows, max_length=64, into=tmp_path / "data")
    whole = tokenizer.encode(rows[-1]["messages"])
    assert ids_of(tmp_path / "data", "train")[-1] == whole.ids[:64]
    assert report.tokens is not None
    assert report.tokens.cut_rows == 1
    assert report.tokens.cut_trained == whole.mask.count(1, 64)
    assert report.tokens.longest == 64
    assert report.tokens.percentiles["p99"] == len(whole.ids)


def test_nothing_is_written_when_the_data_is_refused(
    tmp_path: Path, tokenizer: ChatTokenizer, home: Path
) -> None:
    report = report_of(tmp_path, tokenizer, rows=["{"], into=tmp_path / "data")
    assert report.verdict == "refuse"
    assert report.prepared is None
    assert not (tmp_path / "data").exists()
    assert list((home / "prepared").iterdir()) == []


@pytest.mark.parametrize(
    ("count", "share", "held"), [(100, "10%", 10), (10, "20%", 2), (7, "1%", 1)]
)
def test_a_share_is_held_back_at_least_one_row(
    count: int, share: str, held: int, tmp_path: Path, tokenizer: ChatTokenizer
) -> None:
    report = report_of(tmp_path, tokenizer, rows=[talk(n) for n in range(count)], eval=share)
    assert (report.usable, report.eval_rows) == (count - held, held)


def test_the_seed_decides_which_rows_are_held_back(
    tmp_path: Path, tokenizer: ChatTokenizer
) -> None:
    rows = [talk(n) for n in range(60)]
    chosen = []
    for number, seed in enumerate((1, 1, 2)):
        folder = tmp_path / f"data{number}"
        report_of(tmp_path, tokenizer, rows=rows, eval="10%", seed=seed, into=folder)
        chosen.append(ids_of(folder, "eval"))
    assert chosen[0] == chosen[1] != chosen[2]


def test_copies_of_a_row_stay_on_one_side(tmp_path: Path, tokenizer: ChatTokenizer) -> None:
    rows = [talk(n % 20) for n in range(100)]
    report_of(tmp_path, tokenizer, rows=rows, eval="30%", into=tmp_path / "data")
    sides = [{tuple(row) for row in ids_of(tmp_path / "data", side)} for side in ("train", "eval")]
    assert sides[1]
    assert not sides[0] & sides[1]


def test_another_file_is_evaluated_on(tmp_path: Path, tokenizer: ChatTokenizer) -> None:
    write(tmp_path / "held.jsonl", [talk(n) for n in range(100, 115)])
    report = report_of(tmp_path, tokenizer, rows=[talk(n) for n in range(12)], eval="held.jsonl")
    assert (report.rows, report.usable, report.eval_rows) == (12, 12, 15)
    assert len(report.sources) == 2


def test_the_same_data_is_tokenized_once(
    tmp_path: Path, tokenizer: ChatTokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = report_of(tmp_path, tokenizer, rows=[talk(n) for n in range(12)], prepare=True)
    monkeypatch.setattr(tokenizer, "encode_batch", None)
    assert report_of(tmp_path, tokenizer, prepare=True) == first


@pytest.mark.parametrize(
    "changed",
    [{"max_length": 20}, {"seed": 3, "eval": "10%"}, {"loss": "all"}, {"rows": [talk(1)] * 12}],
)
def test_other_data_or_options_are_prepared_anew(
    changed: dict[str, Any], tmp_path: Path, tokenizer: ChatTokenizer
) -> None:
    rows = [talk(n) for n in range(12)]
    first = report_of(tmp_path, tokenizer, rows=rows, prepare=True, eval="10%")
    again = report_of(tmp_path, tokenizer, **{"eval": "10%", **changed}, prepare=True)
    assert again.prepared != first.prepared


def test_where_the_data_lies_does_not_matter_to_what_is_kept(
    tmp_path: Path, tokenizer: ChatTokenizer
) -> None:
    rows = [talk(n) for n in range(12)]
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    first = report_of(tmp_path / "one", tokenizer, rows=rows, prepare=True)
    second = report_of(tmp_path / "two", tokenizer, rows=rows, prepare=True)
    assert second.prepared == first.prepared
    assert second.sources[0].path == str(tmp_path / "two" / "rows.jsonl")


def test_a_prepared_set_is_placed_without_a_second_copy(
    tmp_path: Path, tokenizer: ChatTokenizer
) -> None:
    report = report_of(tmp_path, tokenizer, rows=[talk(n) for n in range(12)], prepare=True)
    assert report.prepared is not None
    source = Path(report.prepared)
    place_prepared(source, tmp_path / "run" / "data")
    placed = tmp_path / "run" / "data" / "train.ids.u32"
    assert placed.stat().st_ino == (source / "train.ids.u32").stat().st_ino


def test_unusable_rows_within_the_budget_are_left_out_and_named(
    tmp_path: Path, tokenizer: ChatTokenizer
) -> None:
    rows = [*[talk(n) for n in range(12)], "{", {"messages": []}]
    report = report_of(tmp_path, tokenizer, rows=rows, max_unusable=2, into=tmp_path / "data")
    assert (report.verdict, report.rows, report.usable) == ("warn", 14, 12)
    assert report.dropped == ("rows.jsonl:13", "rows.jsonl:14")
    assert len(ids_of(tmp_path / "data", "train")) == 12


def test_over_the_budget_the_data_is_refused(tmp_path: Path, tokenizer: ChatTokenizer) -> None:
    rows = [*[talk(n) for n in range(12)], "{", {"messages": []}]
    report = report_of(tmp_path, tokenizer, rows=rows, max_unusable=1)
    assert report.verdict == "refuse"
    assert "SD507" in {finding.code for finding in report.findings}


def test_progress_is_told(tmp_path: Path, tokenizer: ChatTokenizer) -> None:
    told: list[tuple[int, int | None]] = []
    rows = [talk(n) for n in range(600)]
    report_of(tmp_path, tokenizer, rows=rows, progress=lambda done, of: told.append((done, of)))
    assert told[-1] == (600, 600)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert len(told) >= 3


def test_lengths_are_told_whole(tmp_path: Path, tokenizer: ChatTokenizer) -> None:
    rows = [talk(n, words=1 + n % 5) for n in range(98)] + [talk(98, words=80), talk(99, words=90)]
    tokens = report_of(tmp_path, tokenizer, rows=rows, max_length=64, batch=2).tokens
    assert tokens
    assert sum(one.rows for one in tokens.histogram) == 100
    for one, other in pairwise(tokens.histogram):
        assert other.shortest == one.longest + 1
    assert tokens.histogram[0].rows > 0
    assert tokens.histogram[-1].rows > 0
    assert (tokens.cut_rows, tokens.cut_row_share) == (2, 0.02)
    lost = tokens.cut_trained
    assert tokens.cut_trained_share == round(lost / (lost + tokens.trained), 4)
    assert tokens.keeps_99 > 64
    assert tokens.longest_batch == 128


def test_rows_whose_answer_the_cut_takes_are_counted(
    tmp_path: Path, tokenizer: ChatTokenizer
) -> None:
    far = {
        "messages": [
            {"role": "user", "content": "word " * 90},
            {"role": "assistant", "content": "Yes."},
        ]
    }
    report = report_of(
        tmp_path, tokenizer, rows=[*map(talk, range(12)), far], max_length=64, max_unusable=1
    )
    assert report.tokens
    assert report.tokens.fully_masked == 1


@pytest.mark.parametrize("longest", [30, 200, 3000])
def test_a_histogram_has_about_a_dozen_ranges(
    tmp_path: Path, tokenizer: ChatTokenizer, longest: int
) -> None:
    rows = [talk(n, words=1 + n * longest // 100) for n in range(50)]
    tokens = report_of(tmp_path, tokenizer, rows=rows, max_length=None).tokens
    assert tokens
    assert 3 <= len(tokens.histogram) <= 18


def test_no_length_is_proposed_that_the_model_cannot_read(
    tmp_path: Path, tokenizer: ChatTokenizer
) -> None:
    rows = [*map(talk, range(12)), talk(99, words=150)]
    for limit, words in ((2048, "set goal.max_length:"), (128, "choose a model that reads longer")):
        report = report_of(tmp_path, tokenizer, rows=rows, max_length=64, model_limit=limit)
        cut = next(one for one in report.findings if one.code == "SD403")
        assert words in cut.next
