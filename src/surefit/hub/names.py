"""How a recipe names something on the Hub, and when a name means a path instead.

    org/name                      the newest commit of the branch main
    org/name@REVISION             a branch, a tag or a commit
    org/name:SPLIT                a split of a data set
    org/name/SUBSET:SPLIT         a split of one subset (config)
    hf://org/name, hf://datasets/org/name    the Hub, also where a path of that name exists

A path that exists always wins. So does one whose first folder exists, or that ends like a data file:
a misspelt path must not become a question to the network.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from surefit.errors import RecipeError

_PART = r"[A-Za-z0-9][\w.-]*"
_NAME = re.compile(
    rf"(?P<repo>{_PART}/{_PART})"
    r"(?:@(?P<revision>refs/(?:convert|pr)/[\w.-]+|[\w.+%-]+))?"
    r"(?:/(?P<subset>[\w. +%-]+))?"
    r"(?::(?P<split>[\w.+-]+))?"
)
_SCHEME = re.compile(r"hf:/{1,2}(?P<kind>models/|datasets/|spaces/)?(?P<rest>.*)")
_FILE_ENDINGS = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".txt", ".parquet", ".arrow")
_PACKED = (".gz", ".zst")
_LONGEST = 96  # characters of `org/name`, the Hub's own limit
_KINDS = {"models/": "model", "datasets/": "data set", "spaces/": "Space"}
WORDS = frozenset({"starter", "none"})

Kind = Literal["model", "dataset"]


@dataclass(frozen=True)
class HubName:
    """A repository on the Hub, as a recipe names it."""

    kind: Kind
    repo: str
    revision: str | None = None
    subset: str | None = None
    split: str | None = None

    def __str__(self) -> str:
        pinned = f"@{self.revision}" if self.revision else ""
        subset = f"/{self.subset}" if self.subset else ""
        return f"{self.repo}{pinned}{subset}" + (f":{self.split}" if self.split else "")

    def with_part(self, subset: str | None, split: str) -> str:
        """The same data set with another subset and split, as it would be typed."""
        return str(HubName(self.kind, self.repo, self.revision, subset, split))


def hub_name(source: str, base_folder: Path, kind: Kind, field: str) -> HubName | None:
    """What a recipe's text names on the Hub; None where it names a path, or nothing there could be.

    Args:
        source: the text, such as `org/name@main`.
        base_folder: the folder of the recipe.
        kind: what is looked for.
        field: of the recipe, for messages.

    Raises:
        RecipeError: the text begins with `hf://` and names no model or data set.
    """
    scheme = _SCHEME.fullmatch(source)
    if scheme:
        return _explicit(source, scheme, kind, field)
    if source in WORDS or _is_path(source, base_folder):
        return None
    return _parsed(source, kind)


def _explicit(source: str, scheme: re.Match[str], kind: Kind, field: str) -> HubName:
    wanted = "datasets/" if kind == "dataset" else "models/"
    example = "hf://datasets/org/name" if kind == "dataset" else "hf://org/name"
    found = _parsed(scheme["rest"], kind)
    other = scheme["kind"] not in (None, wanted)
    if found is None or other:
        raise RecipeError(
            f"{source!r} names no {_noun(kind)} on the Hub",
            f"that is how a {_KINDS[scheme['kind']]} is named"
            if other and scheme["kind"]
            else "a name there has two parts, the owner and the name",
            f"write `{field}: {example}`, with `@REVISION` where a certain commit is wanted",
            where=field,
        )
    return found


def _noun(kind: Kind) -> str:
    return "data set" if kind == "dataset" else "model"


def _parsed(text: str, kind: Kind) -> HubName | None:
    match = _NAME.fullmatch(text)
    if match is None or not _is_repo(match["repo"]):
        return None
    if kind == "model" and (match["subset"] or match["split"]):
        return None
    return HubName(kind, match["repo"], match["revision"], match["subset"], match["split"])


def _is_repo(repo: str) -> bool:
    odd = "--" in repo or ".." in repo or repo.endswith((".git", "."))
    return len(repo) <= _LONGEST and not odd


def _is_path(source: str, base_folder: Path) -> bool:
    path = Path(source).expanduser()
    if path.is_absolute() or source.startswith((".", "~")) or (base_folder / path).exists():
        return True
    ending = path
    while ending.suffix.lower() in _PACKED:
        ending = ending.with_suffix("")
    if ending.suffix.lower() in _FILE_ENDINGS:
        return True
    return (base_folder / path.parts[0]).exists() if path.parts else True
