"""The words in the starter model's folder: its card, its licence note, its record of the build."""

import hashlib
from pathlib import Path

HERE = Path(__file__).parent
Record = dict[str, str | int | float]
Recall = dict[str, tuple[int, int]]


def write_card(folder: Path, recall: Recall, facts: dict[str, int], numbers: Record) -> None:
    """README.md and LICENSE, from card.md and licence.txt."""
    card = (HERE / "card.md").read_text(encoding="utf-8")
    text = card.format(
        **numbers,
        recall=_recall_table(recall, facts),
        facts=sum(facts.values()),
        minutes=float(numbers["seconds"]) / 60,
    )
    (folder / "README.md").write_text(text, encoding="utf-8")
    licence = (HERE / "licence.txt").read_text(encoding="utf-8")
    (folder / "LICENSE").write_text(licence, encoding="utf-8")


def write_versions(folder: Path, build: Record) -> None:
    """VERSIONS.toml: how the folder was built, and the SHA-256 of every other file in it."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != "VERSIONS.toml"]
    lines = ["# Written by scripts/starter/build.py.", "[build]"]
    for key, value in build.items():
        lines.append(f'{key} = "{value}"' if isinstance(value, str) else f"{key} = {value}")
    lines += ["", "[sha256]"]
    for path in sorted(files):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        lines.append(f'"{path.relative_to(folder).as_posix()}" = "{digest}"')
    (folder / "VERSIONS.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def totals(recall: Recall) -> tuple[int, int]:
    """Exact answers and questions of all topics."""
    return sum(right for right, _ in recall.values()), sum(asked for _, asked in recall.values())


def _recall_table(recall: Recall, facts: dict[str, int]) -> str:
    """A Markdown row a topic."""
    rows = [
        f"| {name} | {facts[name]} | {asked:,} | {right / asked:.1%} |"
        for name, (right, asked) in recall.items()
    ]
    right, asked = totals(recall)
    return "\n".join(
        [*rows, f"| all | {sum(facts.values()):,} | {asked:,} | {right / asked:.1%} |"]
    )
