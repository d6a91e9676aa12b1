"""A prepared set read back without anything of the worker."""

import array
from itertools import pairwise
from pathlib import Path

from surefit.tokens import ChatTokenizer

Prepared = tuple[list[int], bytes]


def prepared_rows(folder: Path, side: str) -> list[Prepared]:
    """Ids and mask of each row of a split."""
    ids, offsets = array.array("I"), array.array("Q")
    ids.frombytes((folder / f"{side}.ids.u32").read_bytes())
    offsets.frombytes((folder / f"{side}.offsets.u64").read_bytes())
    mask = (folder / f"{side}.mask.u8").read_bytes()
    return [(list(ids[a:b]), mask[a:b]) for a, b in pairwise(offsets)]


def weights_of(folder: Path, side: str) -> list[list[float]]:
    """The weights of each row of a split."""
    weights, offsets = array.array("f"), array.array("Q")
    weights.frombytes((folder / f"{side}.weights.f32").read_bytes())
    offsets.frombytes((folder / f"{side}.offsets.u64").read_bytes())
    return [list(weights[a:b]) for a, b in pairwise(offsets)]


def answers_in(tokenizer: ChatTokenizer, row: Prepared) -> str:
    """The text of the tokens that carry loss."""
    ids, mask = row
    return tokenizer.decode([one for one, mark in zip(ids, mask, strict=True) if mark])
