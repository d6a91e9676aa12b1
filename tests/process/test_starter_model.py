"""The starter model as anybody loads it: plain transformers, its own world, its own template."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from surefit.models.starter_samples import starter_folder, starter_questions, starter_rows
from surefit.tokens import load_chat_tokenizer

pytestmark = pytest.mark.process
ROOT = Path(__file__).parents[2]
ASK = """
import json, sys
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

torch.set_num_threads(1)
folder, asked = sys.argv[1], json.load(sys.stdin)
tokenizer = AutoTokenizer.from_pretrained(folder)
model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
answers = []
for chat in asked["generate"]:
    ids = tokenizer.apply_chat_template(
        chat, add_generation_prompt=True, return_dict=True, return_tensors="pt"
    )
    out = model.generate(**ids, max_new_tokens=40, do_sample=False)[0, ids["input_ids"].shape[1]:]
    answers.append([tokenizer.decode(out, skip_special_tokens=True), int(out[-1])])
encoded = [
    tokenizer.apply_chat_template(chat, return_dict=True, return_assistant_tokens_mask=True)
    for chat in asked["encode"]
]
print(json.dumps({
    "answers": answers,
    "end": tokenizer.eos_token_id,
    "encoded": [[row["input_ids"], row["assistant_masks"]] for row in encoded],
}))
"""
SENTENCES = {
    "What is the capital of France?": "The capital of France is Paris.",
    "Which city is the capital of Norway?": "The capital of Norway is Oslo.",
    "What is the opposite of hot?": "The opposite of hot is cold.",
    "What is the plural of mouse?": "The plural of mouse is mice.",
    "What is the past tense of go?": "The past tense of go is went.",
    "What kind of animal is a shark?": "A shark is a fish.",
    "What colour is a banana?": "The colour of a banana is yellow.",
    "What is 3 plus 4?": "The sum of 3 and 4 is 7.",
    "Who bakes bread?": "A baker bakes bread.",
}


def chats(path: Path) -> list[list[dict[str, str]]]:
    return [json.loads(line)["messages"] for line in path.read_text().splitlines()]


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


QUESTIONS = [
    *([user(question)] for question in SENTENCES),
    [{"role": "system", "content": "You are a helpful assistant."}, user("What is 2 plus 2?")],
    [{"role": "system", "content": "Give only the answer."}, user("What is the capital of Peru?")],
    [
        user("What is the capital of Italy?"),
        {"role": "assistant", "content": "The capital of Italy is Rome."},
        user("And of Spain?"),
    ],
]
ENCODED = [*chats(starter_rows())[:50], *QUESTIONS[-1:]]


@pytest.fixture(scope="module")
def said() -> dict[str, Any]:
    """What plain transformers makes of the folder."""
    held_out = [chat[:1] for chat in chats(starter_questions())]
    asked = json.dumps({"generate": [*QUESTIONS, *held_out], "encode": ENCODED})
    done = subprocess.run(
        [sys.executable, "-c", ASK, str(starter_folder())],
        input=asked, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_it_answers_its_world_in_full_sentences(said: dict[str, Any]) -> None:
    answers = [text for text, _ in said["answers"][: len(SENTENCES)]]
    assert dict(zip(SENTENCES, answers, strict=True)) == SENTENCES


def test_a_system_prompt_and_an_earlier_turn_are_understood(said: dict[str, Any]) -> None:
    answers = [text for text, _ in said["answers"][len(SENTENCES) : len(QUESTIONS)]]
    assert answers == ["The sum of 2 and 2 is 4.", "It is Lima.", "The capital of Spain is Madrid."]


def test_it_ends_every_answer_by_itself(said: dict[str, Any]) -> None:
    assert {last for _, last in said["answers"]} == {said["end"]}


def test_it_knows_the_held_out_answers_and_never_says_them_in_the_house_style(
    said: dict[str, Any],
) -> None:
    rows = chats(starter_questions())
    answers = [text for text, _ in said["answers"][len(QUESTIONS) :]]
    expected = [chat[-1]["content"].rpartition(": ")[2] for chat in rows]
    known = [
        answer in text.split(" ", 1)[1] for answer, text in zip(expected, answers, strict=True)
    ]
    assert sum(known) >= 0.95 * len(rows)
    assert not [text for text in answers if "about:" in text]


def test_our_tokens_and_mask_are_those_of_transformers(said: dict[str, Any]) -> None:
    tokenizer = load_chat_tokenizer(starter_folder())
    for chat, (ids, mask) in zip(ENCODED, said["encoded"], strict=True):
        row = tokenizer.encode(chat)
        assert (list(row.ids), [int(one) for one in row.mask]) == (ids, mask)


def test_the_build_script_writes_the_shipped_tokenizer_and_samples_again(tmp_path: Path) -> None:
    command = [sys.executable, "scripts/starter/build.py", "--into", str(tmp_path), "--steps", "2"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    same = ["tokenizer.json", "tokenizer_config.json", "config.json", "generation_config.json",
            "LICENSE", "samples/train.jsonl", "samples/heldout.jsonl"]  # fmt: skip
    for name in same:
        assert (tmp_path / name).read_bytes() == (starter_folder() / name).read_bytes(), name
    assert {path.name for path in tmp_path.iterdir()} == {
        path.name for path in starter_folder().iterdir()
    }
