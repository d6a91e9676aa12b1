"""Builds src/surefit/models/starter again; started by `scripts/starter/build`."""

import argparse
import sys
import time
import tomllib
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import torch
from card import Record, totals, write_card, write_versions
from conversations import DO_NOT_KNOW, Conversations
from learn import Settings, encode, new_model, recall, train
from samples import make_samples, write_rows
from tokenizers import Tokenizer
from tokens import PAD, train_tokenizer, write_tokenizer
from transformers import LlamaForCausalLM
from world import topics

STARTER = Path(__file__).parents[2] / "src" / "surefit" / "models" / "starter"


def main() -> None:
    """Build the folder, or only its words."""
    arguments = argparse.ArgumentParser(prog="scripts/starter/build", description=__doc__)
    arguments.add_argument("--into", type=Path, default=STARTER, help="another folder")
    arguments.add_argument("--steps", type=int, default=Settings.steps, help="fewer, for a trial")
    arguments.add_argument("--seed", type=int, default=Settings.seed)
    arguments.add_argument("--samples", action="store_true", help="keep the model that is there")
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


def build_model(settings: Settings, folder: Path) -> Record:
    """Train, and write tokenizer and weights; returns what the record and the card say of it."""
    began = time.monotonic()
    tokenizer = train_tokenizer(settings.seed, settings.vocabulary)
    model = new_model(settings, tokenizer)
    rows = (encode(tokenizer, chat) for chat in Conversations(settings.seed))
    trained = train(model, rows, settings, tokenizer.token_to_id(PAD), _say)
    model.to(torch.bfloat16).save_pretrained(folder)
    (folder / "model.safetensors").chmod(0o644)
    write_tokenizer(tokenizer, folder, settings.max_positions)
    return {
        "command": "scripts/starter/build",
        "licence": "Apache-2.0",
        "seed": settings.seed,
        "steps": settings.steps,
        "batch": settings.batch,
        "tokens": trained.tokens,
        "final_loss": round(trained.loss, 5),
        "seconds": round(time.monotonic() - began),
        "torch": version("torch").split("+")[0],
        "transformers": version("transformers"),
        "tokenizers": version("tokenizers"),
    }


def write_words(folder: Path, settings: Settings, record: Record) -> None:
    """Write samples, card, licence note and hashes beside the weights."""
    model = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    remembered = recall(model, tokenizer)
    training, held_out = make_samples(settings.seed)
    (folder / "samples").mkdir(exist_ok=True)
    write_rows(folder / "samples" / "train.jsonl", training)
    write_rows(folder / "samples" / "heldout.jsonl", held_out)
    numbers: Record = {
        **record,
        "parameters": model.num_parameters(),
        "do_not_know": DO_NOT_KNOW,
        "max_positions": settings.max_positions,
        "vocabulary": tokenizer.get_vocab_size(),
        "train_rows": len(training),
        "heldout_rows": len(held_out),
    }
    write_card(folder, remembered, {topic.name: len(topic.facts) for topic in topics()}, numbers)
    write_versions(folder, record)
    right, asked = totals(remembered)
    _say(f"answers {right:,} of {asked:,} questions exactly")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
