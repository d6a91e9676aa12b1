"""A resolved recipe means the same from every folder."""

from pathlib import Path

import pytest

from surefit.recipe import load_recipe


def _load(folder: Path, model: str, train: str, held_back: str) -> tuple[str, str, str | None]:
    file = folder / "recipe.yaml"
    file.write_text(f"model: {model}\ndata: {{train: '{train}', eval: '{held_back}'}}\n")
    resolved = load_recipe(file).resolved()
    return resolved.model, resolved.data.train, resolved.data.eval


def test_paths_become_whole(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    for name in ("rows.jsonl", "held.jsonl"):
        (tmp_path / name).touch()
    whole = _load(tmp_path, "model", "rows.jsonl", "held.jsonl")
    assert whole == tuple(str(tmp_path / name) for name in ("model", "rows.jsonl", "held.jsonl"))


def test_a_pattern_becomes_whole(tmp_path: Path) -> None:
    assert _load(tmp_path, "starter", "*.jsonl", "5%")[1] == str(tmp_path / "*.jsonl")


@pytest.mark.parametrize("held_back", ["5%", "none"])
def test_words_stay_also_beside_a_folder_of_that_name(tmp_path: Path, held_back: str) -> None:
    (tmp_path / "starter").mkdir()
    (tmp_path / "none").mkdir()
    assert _load(tmp_path, "starter", "starter", held_back) == ("starter", "starter", held_back)
