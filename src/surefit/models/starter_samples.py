"""The starter model that ships in the package, with its sample rows and its held-out questions.

`starter` stands for the model where a recipe says `model: starter`, and for the sample rows where it says
`data: {train: starter}`. scripts/starter builds all three again.
"""

from pathlib import Path


def starter_folder() -> Path:
    """The folder of the starter model: config, weights, tokenizer, licence, card."""
    return Path(__file__).parent / "starter"


def starter_rows() -> Path:
    """JSONL of `messages`: the rows that teach the starter model the house style."""
    return starter_folder() / "samples" / "train.jsonl"


def starter_questions() -> Path:
    """JSONL of `messages`: questions about things that no row of `starter_rows` speaks of, with the
    answer in the house style as the last message."""
    return starter_folder() / "samples" / "heldout.jsonl"
