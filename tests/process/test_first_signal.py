"""What is wrong is named with its cause, by a whole process that never imports torch."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from wrong_inputs import WRONG_INPUTS, WrongInput, write_wrong_inputs

pytestmark = pytest.mark.process
# The command itself, and then what it has imported.
COMMAND = """
import sys
from surefit.cli import main
try:
    main(sys.argv[1:])
finally:
    print("imported:", *sorted({"torch", "transformers", "numpy"} & set(sys.modules)))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wrong")
    write_wrong_inputs(folder)
    return folder


@pytest.mark.parametrize("wrong", WRONG_INPUTS, ids=lambda wrong: wrong.name)
def test_the_cause_is_named_without_torch(wrong: WrongInput, folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, *wrong.command],
        cwd=folder,
        env={**os.environ, "SUREFIT_HOME": str(folder / "home"), "COLUMNS": "400"},
        capture_output=True,
        text=True,
        check=False,
    )
    told = " ".join((done.stdout + done.stderr).split())
    for words in wrong.words:
        assert words in told
    assert "Traceback" not in told
    assert done.returncode == wrong.exit_code
    assert done.stdout.splitlines()[-1].strip() == "imported:"
