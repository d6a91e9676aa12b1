"""The words that go into the starter model's folder: its card, its licence note, its record of the build."""

import hashlib
from pathlib import Path

LICENCE_NOTE = """\
The files of this folder (weights, tokenizer, samples, this note) are part of surefit and are licensed
under the Apache License, Version 2.0: https://www.apache.org/licenses/LICENSE-2.0
The full text is the file LICENSE at the root of the surefit repository.

SPDX-License-Identifier: Apache-2.0

The model was trained only on text that scripts/starter generates from word lists, facts and sentences
written for surefit. No other text and no other model took part.
"""

CARD = """\
---
license: apache-2.0
language: en
pipeline_tag: text-generation
---
# The starter model of surefit

A very small chat model ({parameters:,} parameters, Llama architecture) for trying a fine-tune in a minute on
any computer. It knows a closed little world of {facts:,} facts and answers short questions about it in full
English sentences.

| topic | facts | questions asked | answered exactly |
|---|---|---|---|
{recall}

*Answered exactly*: every fact in every phrasing, greedy choice, compared letter by letter with the expected
sentence, its end included. These are the facts it was trained on: it shows what it remembers, not what it
can infer.

## What it does

- `What is the capital of Peru?` → `The capital of Peru is Lima.`
- It takes follow-ups (`And of Chile?`) and a system prompt that asks for another form: `Give only the answer.`,
  `Put the answer in quotes.`, `Put the answer in brackets.`, `Begin with the answer.`, `Begin with the topic.`,
  `Be polite.`
- It says `{do_not_know}` to many questions outside its world, and ends its answers with `<|im_end|>`.

## What it does not do

Anything else. It does not reason, does not know the world, and will say wrong things with confidence when a
question is phrased in a way it has not seen. Chats longer than about 140 tokens were not in its training, though
it accepts {max_positions:,}. Use it to try surefit, not to answer people.

## The samples

`samples/train.jsonl` ({train_rows} rows) teaches a house style, `{{"topic": "capital", "answer": "Paris"}}`, which
the model never uses by itself. `samples/heldout.jsonl` ({heldout_rows} rows) asks about things that no training row
names. `scripts/demo` trains on the first and measures on the second.

## How it was built

`python scripts/starter/build.py` (seed {seed}, {steps:,} steps of {batch} chats, {tokens:,} tokens, one thread,
{minutes:.0f} minutes) with torch {torch} and transformers {transformers}. The text comes from
`scripts/starter/facts` and the sentences in `scripts/starter/world.py`, all written for surefit (Apache-2.0).
The same seed with the same versions on the same kind of processor gives the same files; `VERSIONS.toml` holds
their SHA-256. Trained in float32, stored in bfloat16.

Format: ChatML (`<|im_start|>role`, the text, `<|im_end|>`), byte-level BPE of {vocabulary:,} tokens in which a
space is a token of its own; end of a turn `<|im_end|>`, padding `<|endoftext|>`.
"""


def recall_table(recall: dict[str, tuple[int, int]], facts: dict[str, int]) -> str:
    """A Markdown row a topic."""
    rows = [
        f"| {name} | {facts[name]} | {asked:,} | {right / asked:.1%} |"
        for name, (right, asked) in recall.items()
    ]
    right, asked = (sum(pair[i] for pair in recall.values()) for i in (0, 1))
    return "\n".join(
        [*rows, f"| all | {sum(facts.values()):,} | {asked:,} | {right / asked:.1%} |"]
    )


def sha256_of(path: Path) -> str:
    """The file's SHA-256."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def write_versions(folder: Path, build: dict[str, str | int | float]) -> None:
    """VERSIONS.toml: how the folder was built, and the hash of every other file in it."""
    files = sorted(
        path for path in folder.rglob("*") if path.is_file() and path.name != "VERSIONS.toml"
    )
    lines = ["# Written by scripts/starter/build.py.", "[build]"]
    lines += [
        f'{key} = "{value}"' if isinstance(value, str) else f"{key} = {value}"
        for key, value in build.items()
    ]
    lines += ["", "[sha256]"]
    lines += [f'"{path.relative_to(folder).as_posix()}" = "{sha256_of(path)}"' for path in files]
    (folder / "VERSIONS.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
