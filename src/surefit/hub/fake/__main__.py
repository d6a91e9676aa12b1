"""`python -m surefit.hub.fake FOLDER`: serve FOLDER/models/ORG/NAME and FOLDER/datasets/ORG/NAME."""

import sys
import threading
from pathlib import Path

from surefit.hub.fake import FakeHub


def main(arguments: list[str]) -> int:
    """Serve until Ctrl-C."""
    if len(arguments) != 1 or not Path(arguments[0]).is_dir():
        sys.stderr.write("usage: python -m surefit.hub.fake FOLDER\n")
        return 64
    with FakeHub() as hub:
        for folder in sorted(Path(arguments[0]).glob("*/*/*")):
            kind, name = folder.parent.parent.name, f"{folder.parent.name}/{folder.name}"
            if folder.is_dir() and kind in ("models", "datasets"):
                (hub.add_model if kind == "models" else hub.add_dataset)(name, folder)
                sys.stderr.write(f"{kind} {name}\n")
        sys.stdout.write(f"export HF_ENDPOINT={hub.url}\n")
        sys.stdout.flush()
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            return 0
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
