"""Writes docs/reference from the code, so that the reference cannot say what surefit does not do.

python docs/generate.py           write the pages
python docs/generate.py --check   exit 1 where a page differs from the code
"""

import difflib
import sys
from collections.abc import Callable
from pathlib import Path

import reference_pages as pages

REFERENCE = Path(__file__).resolve().parent / "reference"
NOTICE = (
    "<!-- Written by docs/generate.py from the code: change the code, then run scripts/fix. -->\n\n"
)

PAGES: dict[str, Callable[[], str]] = {
    "recipe.md": pages.recipe_page,
    "cli.md": pages.cli_page,
    "formats.md": pages.formats_page,
    "checks.md": pages.checks_page,
    "failures.md": pages.failures_page,
    "exit-codes.md": pages.exit_codes_page,
    "events.md": pages.events_page,
}


def generated() -> dict[str, str]:
    """Every page by its file name, as the code wants it today."""
    return {name: NOTICE + page() for name, page in PAGES.items()}


def drift() -> list[str]:
    """What differs between the files and the code: the first lines of each difference."""
    wanted = generated()
    differences = []
    for name, text in wanted.items():
        file = REFERENCE / name
        present = file.read_text(encoding="utf-8") if file.is_file() else ""
        if present != text:
            lines = difflib.unified_diff(
                present.splitlines(),
                text.splitlines(),
                f"docs/reference/{name}",
                "the code",
                n=0,
                lineterm="",
            )
            differences.append("\n".join(list(lines)[:12]))
    strangers = [file.name for file in REFERENCE.glob("*.md") if file.name not in wanted]
    return differences + [f"docs/reference/{name}: no code writes this page" for name in strangers]


def main(arguments: list[str]) -> int:
    """Write the pages, or compare them."""
    if arguments == ["--check"]:
        differences = drift()
        for difference in differences:
            print(difference)
        if differences:
            print("the reference differs from the code: run scripts/fix and look at what changed")
        return 1 if differences else 0
    if arguments:
        print("usage: python docs/generate.py [--check]", file=sys.stderr)
        return 2
    REFERENCE.mkdir(parents=True, exist_ok=True)
    for name, text in generated().items():
        (REFERENCE / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
