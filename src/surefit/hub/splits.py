"""Which files of a data set are its subset and split: as its card says, else by their names.

The rules are those of the `datasets` library without its scripts: `configs` in the card's front
matter, `data/<split>-00000-of-00003.parquet`, the folders of the Hub's own Parquet copy, and words
such as `train` and `validation` in paths. Source: huggingface.co/docs/hub/datasets-data-files-configuration.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import yaml

Side = Literal["train", "eval"]
Splits = dict[str, list[str]]

_FAMILIES = {
    ".jsonl": "JSON",
    ".ndjson": "JSON",
    ".json": "JSON",
    ".csv": "CSV",
    ".tsv": "TSV",
    ".parquet": "Parquet",
    ".arrow": "Arrow",
}
_NUMBERED = re.compile(r"(?:.*/)?(?P<split>\w+(?:[.-]\w+)*?)-\d{5}-of-\d{5}(?:-[\w.]+)?\.\w+")
_CONVERTED = re.compile(r"(?P<subset>[^/]+)/(?P<split>[^/]+)/\d{4}\.parquet")
_WORDS = (
    ("train", re.compile(r"(?<![a-z])(?:train|training)(?![a-z])", re.IGNORECASE)),
    ("validation", re.compile(r"(?<![a-z])(?:validation|valid|val|dev)(?![a-z])", re.IGNORECASE)),
    ("test", re.compile(r"(?<![a-z])(?:test|testing|eval|evaluation)(?![a-z])", re.IGNORECASE)),
)
_EVAL_ORDER = ("validation", "valid", "val", "dev", "eval", "test")
_FRONT_MATTER = re.compile(r"\A---\s*\n(.*?)\n---\s*(?:\n|\Z)", re.DOTALL)


@dataclass(frozen=True)
class Choice:
    """The files that are read. `remark` says what was left aside, where something was."""

    files: tuple[str, ...]
    subset: str | None
    split: str
    remark: str = ""


class UnknownPartError(Exception):
    """There is no such subset or split, or several to choose from.

    Args:
        part: `subset` or `split`.
        asked: what was asked for; None where nothing was.
        known: what there is.
        subset: of which splits were looked for.
    """

    def __init__(
        self, part: str, asked: str | None, known: Sequence[str], subset: str | None = None
    ) -> None:
        super().__init__(part)
        self.part, self.asked, self.known, self.subset = part, asked, tuple(known), subset


def choose_files(
    paths: Iterable[str], card: str, subset: str | None, split: str | None, side: Side
) -> Choice:
    """The files of a subset and split.

    Args:
        paths: of all files of the repository.
        card: the text of its README.
        subset: as asked; None takes the default one.
        split: as asked; None takes `train`, or to evaluate on, what is meant for it.
        side: what the rows are wanted for.

    Raises:
        UnknownPartError: it has to be chosen among several, or is not there.
    """
    readable = [path for path in paths if _family(path) and not _is_hidden(path)]
    if not readable:
        return Choice((), subset, split or side)
    subsets = _subsets(readable, card, subset)
    chosen = _chosen_subset(subsets, subset)
    splits, remark = _one_family(subsets[chosen])
    name = _chosen_split(splits, split, side, chosen if len(subsets) > 1 else None)
    shown = chosen if len(subsets) > 1 or subset else None
    return Choice(tuple(sorted(splits[name])), shown, name, remark)


def _subsets(readable: list[str], card: str, asked: str | None) -> dict[str, Splits]:
    declared = _declared(card)
    if declared:
        found = {name: _matched(readable, entry) for name, entry in declared.items()}
        if any(found.values()):
            return {name: splits for name, splits in found.items() if splits}
    converted = [(path, _CONVERTED.fullmatch(path)) for path in readable]
    if all(match for _, match in converted):
        subsets: dict[str, Splits] = {}
        for path, match in converted:
            if match:
                subsets.setdefault(match["subset"], {}).setdefault(match["split"], []).append(path)
        return subsets
    if asked is not None:
        inside = [path for path in readable if path.startswith(f"{asked}/")]
        if inside:
            return {asked: _by_names(inside)}
        folders = sorted({path.partition("/")[0] for path in readable if "/" in path})
        raise UnknownPartError("subset", asked, folders)
    return {"default": _by_names(readable)}


def _declared(card: str) -> dict[str, Mapping[str, Any]]:
    """`configs` of the card's front matter, by name; empty where there are none that can be read."""
    match = _FRONT_MATTER.match(card)
    try:
        values = yaml.safe_load(match[1]) if match else None
    except yaml.YAMLError:
        return {}
    entries = values.get("configs") if isinstance(values, dict) else None
    if not isinstance(entries, list):
        return {}
    named = {
        str(one.get("config_name", "default")): one
        for one in entries
        if isinstance(one, dict) and ("data_files" in one or "data_dir" in one)
    }
    # The one that is marked comes first: it is what no name means.
    return dict(sorted(named.items(), key=lambda pair: not pair[1].get("default")))


def _matched(readable: list[str], entry: Mapping[str, Any]) -> Splits:
    folder = str(entry.get("data_dir") or "").strip("/")
    if "data_files" not in entry:
        return _by_names([path for path in readable if path.startswith(f"{folder}/")])
    asked = entry["data_files"]
    if isinstance(asked, dict):
        asked = [{"split": split, "path": path} for split, path in asked.items()]
    if isinstance(asked, list) and asked and all(isinstance(one, dict) for one in asked):
        splits: Splits = {}
        for one in asked:
            found = _globbed(readable, one.get("path"), folder)
            splits.setdefault(str(one.get("split", "train")), []).extend(found)
        return {name: files for name, files in splits.items() if files}
    return _by_names(_globbed(readable, asked, folder))


def _globbed(readable: list[str], patterns: Any, folder: str) -> list[str]:
    texts = [patterns] if isinstance(patterns, str) else list(patterns or ())
    found: list[str] = []
    for text in texts:
        whole = f"{folder}/{text}" if folder else str(text)
        pattern = _glob_pattern(whole.removeprefix("./").lstrip("/"))
        found += [path for path in readable if pattern.fullmatch(path) and path not in found]
    return found


def _glob_pattern(text: str) -> re.Pattern[str]:
    """A glob in which `*` stays inside a folder and `**` does not."""
    marks = {"**/": r"(?:.*/)?", "**": r".*", "*": r"[^/]*", "?": r"[^/]"}
    parts = re.split(r"(\*\*/|\*\*|\*|\?|\[[^]]+\])", text)
    return re.compile(
        "".join(
            marks.get(
                part, part if part.startswith("[") and part.endswith("]") else re.escape(part)
            )
            for part in parts
        )
    )


def _by_names(paths: list[str]) -> Splits:
    """Splits by numbered names, else by words in paths; without either, all of it is `train`."""
    numbered = {path: match for path in paths if (match := _NUMBERED.fullmatch(path))}
    splits: Splits = {}
    if numbered:
        for path, match in numbered.items():
            splits.setdefault(match["split"], []).append(path)
        return splits
    for path in paths:
        word = next((name for name, pattern in _WORDS if pattern.search(path)), None)
        splits.setdefault(word or "", []).append(path)
    if set(splits) == {""}:
        return {"train": paths}
    splits.pop("", None)  # beside files that say what they are for, the others are something else
    return splits


def _one_family(splits: Splits) -> tuple[Splits, str]:
    """The files of the most frequent kind, and words about the others."""
    count = Counter(_family(path) for files in splits.values() for path in files)
    if len(count) < 2:
        return splits, ""
    kept = count.most_common(1)[0][0]
    left = ", ".join(f"{number} {name}" for name, number in count.most_common()[1:])
    chosen = {
        name: inside
        for name, files in splits.items()
        if (inside := [path for path in files if _family(path) == kept])
    }
    return chosen, f"its {count[kept]} {kept} files are read, others are not: {left}"


def _chosen_subset(subsets: dict[str, Splits], asked: str | None) -> str:
    if asked is not None:
        if asked not in subsets:
            raise UnknownPartError("subset", asked, list(subsets))
        return asked
    if len(subsets) == 1 or "default" in subsets:
        return "default" if "default" in subsets else next(iter(subsets))
    raise UnknownPartError("subset", None, list(subsets))


def _chosen_split(splits: Splits, asked: str | None, side: Side, subset: str | None) -> str:
    if asked is not None:
        if asked not in splits:
            raise UnknownPartError("split", asked, list(splits), subset)
        return asked
    order = ("train",) if side == "train" else _EVAL_ORDER
    found = next((name for name in order if name in splits), None)
    found = found or next(
        (name for name in splits for word in order if name.startswith(word)), None
    )
    if found is None and side == "train" and len(splits) == 1:
        found = next(iter(splits))
    if found is None:
        raise UnknownPartError("split", None, list(splits), subset)
    return found


def _family(path: str) -> str | None:
    name = path.lower()
    for packed in (".gz", ".zst"):
        name = name.removesuffix(packed)
    return next((kind for ending, kind in _FAMILIES.items() if name.endswith(ending)), None)


def _is_hidden(path: str) -> bool:
    """Hidden files, and what describes data without being it."""
    parts = path.split("/")
    described = {"dataset_infos.json", "dataset_info.json", "state.json", "croissant.json"}
    return any(part.startswith((".", "__")) for part in parts) or parts[-1] in described
