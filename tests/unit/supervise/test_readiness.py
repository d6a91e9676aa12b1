"""What preflight says of data: the field that is to blame, the cause alone, and warnings kept."""

import json
from pathlib import Path

import pytest

from surefit.cli.planview import warnings_text
from surefit.data import check_data
from surefit.errors import Refused
from surefit.recipe import LoadedRecipe, load_recipe, naming_places
from surefit.supervise.readiness import refuse_data

ROW = {"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]}


def _rows(path: Path, count: int = 20) -> None:
    lines = [
        json.dumps(ROW).replace('"q"', f'"q{n}"').replace('"a"', f'"a{n}"') for n in range(count)
    ]
    path.write_text("\n".join(lines) + "\n")


def _loaded(folder: Path, *lines: str) -> LoadedRecipe:
    _rows(folder / "chats.jsonl")
    file = folder / "r.yaml"
    file.write_text("\n".join(["model: starter", "data:", "  train: chats.jsonl", *lines]) + "\n")
    return load_recipe(file)


def _refused(loaded: LoadedRecipe) -> Refused:
    report = check_data(
        loaded.recipe.data, loaded.base_folder, None, max_length=None, batch=1, seed=1
    )
    with pytest.raises(Refused) as caught, naming_places(loaded):
        refuse_data(report, loaded)
    return caught.value


@pytest.mark.parametrize(
    ("line", "make", "code"),
    [
        ("  eval: nope.jsonl", "", "SD101"),
        ("  eval: empty.jsonl", "", "SD102"),
        ("  eval: broken.jsonl", "{", "SD110"),
    ],
)
def test_a_file_to_evaluate_on_is_blamed_for_itself_alone(
    line: str, make: str, code: str, tmp_path: Path
) -> None:
    name = line.rpartition(" ")[2]
    if name != "nope.jsonl":
        (tmp_path / name).write_text(make)
    error = _refused(_loaded(tmp_path, line))
    assert error.where == f"{tmp_path / 'r.yaml'}:4: data.eval"
    assert name in error.what
    assert "chats.jsonl" not in str(error)
    assert code in error.why or code == "SD110"
    assert "SD503" not in error.why or code == "SD110"


def test_a_missing_file_to_train_on_is_blamed_at_its_own_line(tmp_path: Path) -> None:
    loaded = _loaded(tmp_path)
    (tmp_path / "chats.jsonl").unlink()
    error = _refused(loaded)
    assert error.where == f"{tmp_path / 'r.yaml'}:3: data.train"
    assert "SD502" not in error.why


def test_a_format_that_no_row_has_is_said_so(tmp_path: Path) -> None:
    error = _refused(_loaded(tmp_path, "  format: alpaca"))
    assert error.why.startswith(
        "no row is alpaca, as data.format says; they look like messages (messages)"
    )
    assert error.next_step.startswith("delete `data.format`")
    assert "SD502" not in error.why


def test_warnings_of_the_data_stand_below_a_plan(tmp_path: Path) -> None:
    loaded = _loaded(tmp_path, "  eval: chats.jsonl")
    report = check_data(loaded.recipe.data, tmp_path, None, max_length=None, batch=1, seed=1)
    warnings = tuple(one for one in report.findings if one.severity == "warn")
    assert "SD511" in warnings_text(warnings)
    assert warnings_text(()) == ""
