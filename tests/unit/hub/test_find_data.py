"""Data sets of the Hub: the right files, here and verified, read like any other."""

import io
import json
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from surefit.data import DatasetReport, check_data
from surefit.errors import ExitCode, SurefitError
from surefit.hub import find_data
from surefit.hub.fake import FakeHub
from surefit.recipe.data_spec import DataSpec


def rows(count: int, word: str = "a") -> list[dict[str, list[dict[str, str]]]]:
    return [
        {
            "messages": [
                {"role": "user", "content": f"Question {word} number {number}?"},
                {"role": "assistant", "content": f"The answer is {number}."},
            ]
        }
        for number in range(count)
    ]


def lines(count: int, word: str = "a") -> str:
    return "".join(json.dumps(row) + "\n" for row in rows(count, word))


def parquet(count: int, word: str = "a") -> bytes:
    file = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows(count, word)), file)
    return file.getvalue()


def read(folder: Path, said: list[str] | None = None, **spec: str) -> DatasetReport:
    wanted = DataSpec.model_validate(spec)
    say = said.append if said is not None else print
    fetched = find_data(wanted, folder, say=say)
    return check_data(wanted, folder, None, max_length=None, batch=2, seed=1, fetched=fetched)


def refused(folder: Path, **spec: str) -> SurefitError:
    with pytest.raises(SurefitError) as caught:
        read(folder, **spec)
    return caught.value


def test_lines_and_parquet_are_read_and_named_with_their_commit(
    hub: FakeHub, tmp_path: Path
) -> None:
    files = {
        "README.md": "# rows",
        "data/train-00000-of-00002.parquet": parquet(20),
        "data/train-00001-of-00002.parquet": parquet(15, "b"),
        "data/test-00000-of-00001.parquet": parquet(5, "c"),
    }
    repo = hub.add_dataset("ann/rows", files)
    said: list[str] = []
    report = read(tmp_path, said, train="ann/rows", eval="ann/rows:test")
    assert (report.rows, report.usable, report.eval_rows) == (35, 35, 5)
    commit = repo.refs["main"]
    assert [source.origin for source in report.sources] == [
        f"{hub.url}/datasets/ann/rows/resolve/{commit}/data/{name}"
        for name in (
            "test-00000-of-00001.parquet",
            "train-00000-of-00002.parquet",
            "train-00001-of-00002.parquet",
        )
    ]
    assert any("split train, 2 files" in text for text in said)
    assert len(hub.asked(r"test-00000.*")) == 2  # nothing is fetched that is not read


def test_a_finding_names_repository_commit_file_and_line(hub: FakeHub, tmp_path: Path) -> None:
    repo = hub.add_dataset("ann/rows", {"train.jsonl": lines(3) + "{broken\n"})
    report = read(tmp_path, train="ann/rows")
    places = [place for finding in report.findings for place in finding.rows]
    assert f"ann/rows@{repo.refs['main'][:7]}/train.jsonl:4" in places


def test_it_is_fetched_once_and_works_without_network_afterwards(
    hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.add_dataset("ann/rows", {"train.jsonl": lines(30)})
    first = read(tmp_path, train="ann/rows")
    hub.requests.clear()
    assert read(tmp_path, train="ann/rows").sources == first.sources
    assert [one.path for one in hub.requests] == ["/api/datasets/ann/rows/revision/main"]
    hub.fail(r".", status=503)
    said: list[str] = []
    assert read(tmp_path, said, train="ann/rows").sources == first.sources
    assert any("from the cache" in text for text in said)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert read(tmp_path, train="ann/rows").sources == first.sources


def test_a_cut_file_is_gone_on_with(hub: FakeHub, tmp_path: Path) -> None:
    hub.add_dataset("ann/rows", {"train.parquet": parquet(3000)})
    hub.fail(r"/datasets/ann/rows/\w+/train", cut_after=30_000, times=1)
    assert read(tmp_path, train="ann/rows").rows == 3000
    assert [one.range for one in hub.requests if one.storage][1] is not None


def test_a_local_file_wins_and_a_misspelt_one_asks_nobody(hub: FakeHub, tmp_path: Path) -> None:
    hub.add_dataset("ann/rows", {"train.jsonl": lines(30)})
    (tmp_path / "ann").mkdir()
    (tmp_path / "ann" / "rows").write_text(lines(7))
    assert read(tmp_path, train="ann/rows").rows == 7
    for name in ("chats.jsonl", "data/chats.jsonl", "ann/rwos"):
        report = read(tmp_path, train=name)
        assert report.verdict == "refuse"
        assert {finding.code for finding in report.findings} == {"SD101"}
    assert hub.requests == []


def test_asking_the_hub_is_said(hub: FakeHub, tmp_path: Path) -> None:
    hub.add_dataset("ann/rows", {"train.jsonl": lines(30)})
    said: list[str] = []
    read(tmp_path, said, train="ann/rows")
    assert said[0].startswith("ann/rows is no file here: asking 127.0.0.1")


CARD = "---\nconfigs:\n- {config_name: en, data_files: en/*.jsonl}\n- {config_name: de, data_files: de/*.jsonl}\n---\n"
SUBSETS = {"README.md": CARD, "en/train.jsonl": lines(4), "de/train.jsonl": lines(6)}


@pytest.mark.parametrize(
    ("source", "what", "step"),
    [
        ("ann/subsets", "has several subsets", "data.train: ann/subsets/en:train"),
        ("ann/subsets/fr", "has no subset 'fr'", "ann/subsets/en:train"),
        ("ann/subsets/de:dev", "has no split 'dev'", "ann/subsets/de:train"),
        ("ann/plain:dev", "has no split 'dev'", "ann/plain:train"),
        ("ann/script", "has no file that surefit reads", "@refs/convert/parquet"),
        ("ann/nothing", "has no file that surefit reads", "@refs/convert/parquet"),
        ("ann/missing", "there is no data set ann/missing", "search=missing"),
        ("ann/two:tset", "has no split 'tset'", "ann/two:test"),
        ("ann/two:zzz", "has no split 'zzz'", "ann/two:train"),
        ("ann/plain@v7", "has no revision 'v7'", "leave `@v7` away"),
        ("ann/model", "is a model", "model: ann/model"),
    ],
)
def test_what_cannot_be_chosen_or_found_says_what_there_is(
    hub: FakeHub, tmp_path: Path, source: str, what: str, step: str
) -> None:
    hub.add_dataset("ann/subsets", SUBSETS)
    hub.add_dataset("ann/plain", {"train.jsonl": lines(4)})
    hub.add_dataset("ann/two", {"test.jsonl": lines(4), "train.jsonl": lines(4)})
    hub.add_dataset("ann/script", {"script.py": "x", "README.md": ""})
    hub.add_dataset("ann/nothing", {"README.md": "x"})
    hub.add_model("ann/model", {"config.json": "{}"})
    error = refused(tmp_path, train=source)
    assert what in error.what
    assert step in error.next_step
    assert error.where == "data.train"
    assert error.exit_code in (ExitCode.NO, ExitCode.USAGE)


def test_a_subset_and_a_gated_data_set(
    hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.add_dataset("ann/subsets", SUBSETS, gated="manual")
    error = refused(tmp_path, train="ann/subsets/de:train")
    assert "the data set ann/subsets is gated" in error.what
    assert f"{hub.url}/datasets/ann/subsets" in error.next_step
    hub.add_token("hf_ann1", "ann")
    monkeypatch.setenv("HF_TOKEN", "hf_ann1")
    assert read(tmp_path, train="ann/subsets/de:train").rows == 6


def test_a_data_set_too_large_for_the_disk_is_refused_before_it_is_fetched(
    hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.add_dataset("ann/rows", {"train.parquet": parquet(3000)})
    monkeypatch.setattr("surefit.hub.fetching.free_bytes", lambda _folder: 1000)
    assert "no room" in refused(tmp_path, train="ann/rows").what
    assert not hub.asked(r"resolve")
