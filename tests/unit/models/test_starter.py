"""The starter model's folder: small, complete, licensed, its hashes recorded, its held-out rows honest."""

import hashlib
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from surefit.models import read_model_facts, resolve_model_folder
from surefit.models.starter_samples import starter_folder, starter_questions, starter_rows
from surefit.tokens import load_chat_tokenizer

FOLDER = starter_folder()
VERSIONS: dict[str, Any] = tomllib.loads((FOLDER / "VERSIONS.toml").read_text())
FILES = sorted(
    path for path in FOLDER.rglob("*") if path.is_file() and path.name != "VERSIONS.toml"
)


def chats(path: Path) -> list[list[dict[str, str]]]:
    return [json.loads(line)["messages"] for line in path.read_text().splitlines()]


def topic_of(chat: list[dict[str, str]]) -> str:
    """`capital` of the house style's `about: France; capital: Paris`."""
    found = re.fullmatch(r"about: [\w ]+; (\w+): [\w -]+", chat[1]["content"])
    assert found, chat[1]["content"]
    return found[1]


def sum_of(chat: list[dict[str, str]]) -> tuple[str, list[str]]:
    """Topic and numbers, in whatever order they were asked."""
    return topic_of(chat), sorted(re.findall(r"\d+", chat[0]["content"]))


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


def test_the_folder_is_small_enough_to_ship() -> None:
    assert sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file()) <= 8_000_000


def test_the_name_starter_leads_to_the_folder() -> None:
    assert resolve_model_folder("starter", Path("/nowhere")) == FOLDER


def test_it_is_a_llama_whose_config_and_weights_agree() -> None:
    facts = read_model_facts("starter", Path("/nowhere"))
    assert (facts.architecture, facts.known_family) == ("LlamaForCausalLM", True)
    assert facts.tied_embeddings
    assert facts.vocabulary == load_chat_tokenizer(FOLDER).vocabulary
    assert 500_000 < facts.parameters.total < 4_000_000


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_recorded_hash_is_the_files(path: Path) -> None:
    recorded = VERSIONS["sha256"][path.relative_to(FOLDER).as_posix()]
    assert hashlib.sha256(path.read_bytes()).hexdigest() == recorded


def test_no_hash_is_recorded_of_a_file_that_is_not_there() -> None:
    assert set(VERSIONS["sha256"]) == {path.relative_to(FOLDER).as_posix() for path in FILES}


def test_card_licence_and_record_say_how_it_was_made() -> None:
    card, licence = (FOLDER / "README.md").read_text(), (FOLDER / "LICENSE").read_text()
    assert "Apache License, Version 2.0" in licence
    assert "license: apache-2.0" in card
    assert VERSIONS["build"]["licence"] == "Apache-2.0"
    assert VERSIONS["build"]["command"] in card
    assert f"seed {VERSIONS['build']['seed']}" in card


def test_a_turn_ends_with_a_token_that_is_not_the_padding() -> None:
    tokenizer = load_chat_tokenizer(FOLDER)
    settings = json.loads((FOLDER / "tokenizer_config.json").read_text())
    assert settings["eos_token"] == "<|im_end|>"
    assert tokenizer.pad_id is not None
    assert tokenizer.pad_id not in tokenizer.end_of_turn_ids


def test_only_the_answer_and_its_end_carry_loss() -> None:
    tokenizer = load_chat_tokenizer(FOLDER)
    chat = chats(starter_rows())[0]
    row = tokenizer.encode(chat)
    vocabulary = json.loads((FOLDER / "tokenizer.json").read_text())["model"]["vocab"]
    token = {number: text for text, number in vocabulary.items()}
    trained = "".join(token[i] for i, m in zip(row.ids, row.mask, strict=True) if m)
    assert trained.replace("Ġ", " ") == chat[-1]["content"] + "<|im_end|>"


def test_the_samples_are_rows_of_one_question_in_the_house_style() -> None:
    rows, questions = chats(starter_rows()), chats(starter_questions())
    assert 200 <= len(rows) <= 400
    assert 40 <= len(questions) <= 60
    for chat in rows + questions:
        assert [message["role"] for message in chat] == ["user", "assistant"]
        assert topic_of(chat).isalpha()


def test_every_held_out_question_is_about_something_no_training_row_names() -> None:
    rows = chats(starter_rows())
    seen = set().union(*(words(message["content"]) for chat in rows for message in chat))
    asked = {chat[0]["content"] for chat in rows}
    sums = [sum_of(chat) for chat in rows]
    for chat in chats(starter_questions()):
        question = chat[0]["content"]
        assert question not in asked
        if topic_of(chat) in ("sum", "difference"):
            assert sum_of(chat) not in sums
        else:
            assert words(question) - seen, question


def test_held_out_and_training_rows_speak_of_the_same_topics() -> None:
    topics = [
        {topic_of(chat) for chat in chats(path)} for path in (starter_rows(), starter_questions())
    ]
    assert topics[0] == topics[1]
