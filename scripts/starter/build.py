"""Builds src/surefit/models/starter again: tokenizer, weights, samples, card, hashes.

    python scripts/starter/build.py [--into FOLDER] [--steps N] [--seed N]

About 15 minutes on one core. `--samples` writes only the samples, card and hashes of a built model again.
"""

import argparse
import os
import sys
import time
import tomllib
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

# glibc gives large blocks back to the kernel and fetches them again in every step; keeping them is a third
# faster. It reads the settings when a process starts, so the script starts itself once more.
_ALLOCATOR = {
    "MALLOC_MMAP_THRESHOLD_": "8589934592",
    "MALLOC_TRIM_THRESHOLD_": "8589934592",
    "MALLOC_TOP_PAD_": "268435456",
    "OMP_NUM_THREADS": "1",
}
if __name__ == "__main__" and any(
    os.environ.get(name) != value for name, value in _ALLOCATOR.items()
):
    os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **_ALLOCATOR})

import torch
from card import CARD, LICENCE_NOTE, recall_table, write_versions
from conversations import DO_NOT_KNOW, Conversations
from learn import Settings, encode, new_model, recall, train
from samples import make_samples, write_rows
from tokenizers import Tokenizer
from tokens import PAD, train_tokenizer, write_tokenizer
from transformers import LlamaForCausalLM
from world import topics

STARTER = Path(__file__).parents[2] / "src" / "surefit" / "models" / "starter"


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def build_model(settings: Settings, folder: Path) -> dict[str, str | int | float]:
    """Train and write tokenizer and weights; returns what the record and the card say of it."""
    began = time.monotonic()
    tokenizer = train_tokenizer(settings.seed, settings.vocabulary)
    model = new_model(settings, tokenizer)
    tokens = 0

    def rows():  # type: ignore[no-untyped-def]
        nonlocal tokens
        for chat in Conversations(settings.seed):
            row = encode(tokenizer, chat)
            tokens += len(row[0])
            yield row

    loss = train(model, rows(), settings, tokenizer.token_to_id(PAD), _say)
    model.to(torch.bfloat16).save_pretrained(folder)
    (folder / "model.safetensors").chmod(0o644)
    write_tokenizer(tokenizer, folder, settings.max_positions)
    return {
        "command": "python scripts/starter/build.py",
        "licence": "Apache-2.0",
        "seed": settings.seed,
        "steps": settings.steps,
        "batch": settings.batch,
        "tokens": tokens,
        "final_loss": round(loss, 5),
        "seconds": round(time.monotonic() - began),
        "torch": version("torch").split("+")[0],
        "transformers": version("transformers"),
        "tokenizers": version("tokenizers"),
    }


def write_words(folder: Path, settings: Settings, record: dict[str, str | int | float]) -> None:
    """Write samples, licence note, card and hashes beside the weights."""
    model = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    remembered = recall(model, tokenizer)
    training, held_out = make_samples(settings.seed)
    (folder / "samples").mkdir(exist_ok=True)
    write_rows(folder / "samples" / "train.jsonl", training)
    write_rows(folder / "samples" / "heldout.jsonl", held_out)
    (folder / "LICENSE").write_text(LICENCE_NOTE, encoding="utf-8")
    facts = {topic.name: len(topic.facts) for topic in topics()}
    card = CARD.format(
        **{key: value for key, value in record.items() if key != "command"},
        minutes=float(record["seconds"]) / 60,
        parameters=model.num_parameters(),
        facts=sum(facts.values()),
        recall=recall_table(remembered, facts),
        do_not_know=DO_NOT_KNOW,
        max_positions=settings.max_positions,
        vocabulary=tokenizer.get_vocab_size(),
        train_rows=len(training),
        heldout_rows=len(held_out),
    )
    (folder / "README.md").write_text(card, encoding="utf-8")
    right, asked = (sum(pair[i] for pair in remembered.values()) for i in (0, 1))
    _say(f"answers {right} of {asked} questions exactly")
    write_versions(folder, record)


def main() -> None:
    """Build the folder, or only its words."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--into", type=Path, default=STARTER)
    arguments.add_argument("--steps", type=int, default=Settings.steps)
    arguments.add_argument("--seed", type=int, default=Settings.seed)
    arguments.add_argument("--samples", action="store_true")
    chosen = arguments.parse_args()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    settings = replace(Settings(), seed=chosen.seed, steps=chosen.steps)
    chosen.into.mkdir(parents=True, exist_ok=True)
    if chosen.samples:
        record = tomllib.loads((chosen.into / "VERSIONS.toml").read_text(encoding="utf-8"))["build"]
    else:
        record = build_model(settings, chosen.into)
    write_words(chosen.into, settings, record)


if __name__ == "__main__":
    main()
