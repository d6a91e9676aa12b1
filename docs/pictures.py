"""Takes the picture of the terminal in the README: real commands, in a home of their own.

python docs/pictures.py
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "pictures" / "terminal.svg"
COLUMNS = 88
QUESTION = "surefit chat first --ask 'What is the capital of Norway?'"
# Each command, and the words at which its output is cut in the picture.
SCENES: tuple[tuple[str, str | None], ...] = (
    ("surefit plan recipes/starter.yaml", "What was decided"),
    ("surefit train recipes/starter.yaml --name first", "Next"),
    (f"{QUESTION} --base", None),
    (QUESTION, None),
)


def main() -> None:
    """Run every scene and write the picture."""
    with tempfile.TemporaryDirectory() as home, Path(os.devnull).open("w") as nowhere:
        screen = Console(record=True, width=COLUMNS, file=nowhere)
        for command, end in SCENES:
            screen.print(Text.assemble(("$ ", "green"), (command, "bold")))
            screen.print(Text.from_ansi(cut(output_of(command, home), end)), "", sep="\n")
    PICTURE.parent.mkdir(exist_ok=True)
    # No fonts from elsewhere: the reader's own monospace font is shown.
    picture = re.sub(r"@font-face \{.*?\}", "", screen.export_svg(title="surefit"), flags=re.DOTALL)
    PICTURE.write_text(re.sub(r"[ \t]+$", "", picture, flags=re.MULTILINE), encoding="utf-8")


def cut(text: str, end: str | None) -> str:
    """The text before the line that holds `end`, with a mark where something is left out."""
    lines = text.rstrip().splitlines()
    stop = next((number for number, line in enumerate(lines) if end and end in line), None)
    return "\n".join(lines if stop is None else [*lines[:stop], "..."])


def output_of(command: str, home: str) -> str:
    """What a command prints on a terminal of our width."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    settings = {"SUREFIT_HOME": home, "TERM": "xterm-256color", "PATH": path}
    typescript = [
        "script",
        "-qec",
        f"stty cols {COLUMNS} rows 60; {command} 2>/dev/null",
        "/dev/null",
    ]
    ran = subprocess.run(
        typescript, cwd=ROOT, env={**os.environ, **settings}, capture_output=True, check=False
    )
    if ran.returncode != 0:
        sys.exit(f"{command} ended with {ran.returncode}: {ran.stdout.decode()}")
    return ran.stdout.decode().replace("\r\n", "\n").replace(home, "~/.surefit")


if __name__ == "__main__":
    main()
