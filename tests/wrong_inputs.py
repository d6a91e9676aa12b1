"""Inputs that are wrong in one way each, the command that meets them, and the words of the right cause.

The tests hold the words and what is imported; `bench/first_signal.py` measures how long it takes.
"""

import gzip
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

STARTER = Path(__file__).parents[1] / "src" / "surefit" / "models" / "starter"
RECIPE = "model: {model}\ndata: {{{data}}}\nmethod: {{type: lora}}\n"


@dataclass(frozen=True)
class WrongInput:
    """One wrong input: what to call it, what is typed, which words name the cause, how it ends."""

    name: str
    command: tuple[str, ...]
    words: tuple[str, ...]
    exit_code: int


WRONG_INPUTS = (
    WrongInput(
        "wrong column",
        ("check", "column.jsonl"),
        ("SD201", "mesages", "did you mean 'messages'", "--map messages=mesages"),
        1,
    ),
    WrongInput(
        "wrong column of a recipe",
        ("train", "column.yaml"),
        ("data.train", "mesages", "did you mean 'messages'"),
        1,
    ),
    WrongInput(
        "wrong nested key",
        ("check", "nested.jsonl"),
        ("SD302", "has no content; it has role, contnet", "--map content=contnet"),
        1,
    ),
    WrongInput(
        "wrong nested role",
        ("check", "role.jsonl"),
        ("SD301", "has no role; it has rol, content", "--map role=rol"),
        1,
    ),
    WrongInput(
        "empty file", ("check", "empty.jsonl"), ("SD102", "empty.jsonl is empty: 0 bytes"), 1
    ),
    WrongInput(
        "empty file, packed",
        ("check", "empty.jsonl.gz"),
        ("SD102", "empty.jsonl.gz is empty: 0 rows in its"),
        1,
    ),
    WrongInput(
        "header without rows",
        ("check", "header.csv"),
        ("SD102", "header.csv is empty: 0 rows under the header prompt, completion"),
        1,
    ),
    WrongInput(
        "blank lines", ("check", "blank.jsonl"), ("SD102", "blank.jsonl is empty: 0 rows"), 1
    ),
    WrongInput(
        "empty folder",
        ("check", "nothing"),
        ("SD105", "in nothing; it holds nothing"),
        1,
    ),
    WrongInput(
        "missing file",
        ("check", "chat.jsonl"),
        ("SD101", "chat.jsonl cannot be opened", "the folder holds chats.jsonl"),
        1,
    ),
    WrongInput(
        "missing file of a recipe",
        ("train", "file.yaml"),
        ("file.yaml:2", "chat.jsonl cannot be opened", "the folder holds chats.jsonl"),
        1,
    ),
    WrongInput(
        "misspelt key of a recipe",
        ("train", "key.yaml"),
        ("key.yaml:2", "data.trian is not a field", "did you mean train"),
        2,
    ),
    WrongInput(
        "misspelt key, one level down",
        ("plan", "rate.yaml"),
        ("goal.lerning_rate is not a field", "did you mean learning_rate"),
        2,
    ),
    WrongInput(
        "missing model of a recipe",
        ("train", "model.yaml"),
        ("model.yaml:1", "there is no model folder './no-model'"),
        2,
    ),
    WrongInput(
        "missing model",
        ("check", "chats.jsonl", "--model", "./no-model"),
        ("there is no model folder './no-model'",),
        2,
    ),
    WrongInput(
        "model without a tokenizer",
        ("check", "chats.jsonl", "--model", "./without-tokenizer"),
        ("without-tokenizer has no tokenizer.json", "copy tokenizer.json"),
        1,
    ),
    WrongInput(
        "broken tokenizer.json",
        ("check", "chats.jsonl", "--model", "./broken-tokenizer"),
        ("tokenizer.json of the model in", "broken-tokenizer cannot be read", "line"),
        1,
    ),
)


def write_wrong_inputs(folder: Path) -> None:
    """Put everything that `WRONG_INPUTS` names into a folder."""
    rows = [
        [
            {"role": "user", "content": f"How many are {number} and one?"},
            {"role": "assistant", "content": f"They are {number + 1}."},
        ]
        for number in range(20)
    ]
    _write_rows(folder / "chats.jsonl", rows, lambda turns: {"messages": turns})
    _write_rows(folder / "column.jsonl", rows, lambda turns: {"mesages": turns})
    for key, wrong, name in (("content", "contnet", "nested"), ("role", "rol", "role")):
        renamed = [
            [{wrong if one == key else one: turn[one] for one in turn} for turn in turns]
            for turns in rows
        ]
        _write_rows(folder / f"{name}.jsonl", renamed, lambda turns: {"messages": turns})
    (folder / "empty.jsonl").touch()
    (folder / "empty.jsonl.gz").write_bytes(gzip.compress(b"", mtime=0))
    (folder / "header.csv").write_text("prompt,completion\n")
    (folder / "blank.jsonl").write_text("\n  \n\n")
    (folder / "nothing").mkdir()
    recipes = {
        "column": RECIPE.format(model="starter", data="train: column.jsonl"),
        "file": RECIPE.format(model="starter", data="train: chat.jsonl"),
        "key": RECIPE.format(model="starter", data="trian: chats.jsonl"),
        "model": RECIPE.format(model="./no-model", data="train: chats.jsonl"),
        "rate": RECIPE.format(model="starter", data="train: chats.jsonl")
        + "goal: {lerning_rate: 1e-4}\n",
    }
    for name, text in recipes.items():
        (folder / f"{name}.yaml").write_text(text)
    shutil.copytree(STARTER, folder / "without-tokenizer")
    (folder / "without-tokenizer" / "tokenizer.json").unlink()
    shutil.copytree(STARTER, folder / "broken-tokenizer")
    text = (STARTER / "tokenizer.json").read_text()
    (folder / "broken-tokenizer" / "tokenizer.json").write_text(text[: len(text) // 2])


def _write_rows(
    path: Path,
    rows: list[list[dict[str, str]]],
    row_of: Callable[[list[dict[str, str]]], dict[str, object]],
) -> None:
    path.write_text("".join(json.dumps(row_of(turns)) + "\n" for turns in rows))
