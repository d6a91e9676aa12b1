"""The worked examples of CONTRIBUTING.md are real: taken out of the page, put in place and run."""

import importlib.util
import json
import re
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest
import tiny_run
from policy.project import ROOT
from record_family import record

from surefit.data.checks import CHECKS
from surefit.data.checks.check import Check, Stage, Terms, Totals
from surefit.data.examination import Examination
from surefit.data.report import Finding
from surefit.data.row import DataFile, Row
from surefit.diagnose import gather_evidence
from surefit.diagnose.signatures import SIGNATURES
from surefit.launch import LAUNCHERS, Order
from surefit.models.families import Sizes, family_of
from surefit.recipe.data_spec import DataSpec
from surefit.runs import create_run_folder

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^`([^`]+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILES = dict(BLOCK.findall(PAGE))


def example(name: str) -> str:
    """The text of the one example file whose path ends so."""
    (text,) = (text for path, text in FILES.items() if path.endswith(name))
    return text


def module_of(name: str, folder: Path) -> ModuleType:
    """An example file, imported."""
    path = folder / Path(name).name
    path.write_text(example(name), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(f"example_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def fixture_of(name: str, folder: Path) -> Path:
    """The example files below a fixture folder, written down."""
    made = folder / "fixture" / Path(name).name
    made.mkdir(parents=True)
    for path, text in FILES.items():
        if path.startswith(f"{name}/"):
            (made / Path(path).name).write_text(text, encoding="utf-8")
    return made


def findings_of(check: type[Check], file: Path) -> tuple[Finding, ...]:
    """What one check finds in a file."""
    terms = Terms(DataSpec(train=file.name), None, 1, None)
    examination = Examination(terms, Totals(), [check])
    source = DataFile(file.name, file, "train", file.stat().st_size)
    for number, line in enumerate(file.read_bytes().splitlines(), start=1):
        value = json.loads(line)
        row = Row(source, number, line, value, messages=value["messages"])
        examination.look_at_row(Stage.TURNS, row)
    return examination.findings()


def test_the_example_of_a_check_finds_the_rows_of_its_fixture(tmp_path: Path) -> None:
    check = module_of("sd690_answer_echoes.py", tmp_path).AnswerEchoes
    fixture = fixture_of("tests/fixtures/data/SD690", tmp_path)
    case = json.loads((fixture / "case.json").read_text())
    (finding,) = findings_of(check, fixture / case["train"])
    assert finding.code == "SD690"
    assert finding.rows == tuple(f"train.jsonl:{row}" for row in case["rows"])
    assert "'Say hi.'" in finding.message
    assert findings_of(check, fixture / case["clean"]) == ()


def test_the_example_of_a_signature_answers_for_its_fixture(tmp_path: Path) -> None:
    signature = module_of("tracker_login.py", tmp_path).TrackerWithoutLogin
    fixture = fixture_of("tests/fixtures/failures/tracker-without-login", tmp_path)
    case = json.loads((fixture / "case.json").read_text())
    diagnosis = signature().match(gather_evidence(fixture))
    assert diagnosis is not None
    shown = diagnosis.model_dump(by_alias=True)
    assert {key: shown[key] for key in ("class", "phase", "root_rank", "retryable")} == {
        key: case[key] for key in ("class", "phase", "root_rank", "retryable")
    }
    assert all(word in diagnosis.what for word in case["must_mention"])
    assert "{" not in diagnosis.next_step
    assert diagnosis.evidence


def test_the_examples_are_not_taken_yet() -> None:
    assert "SD690" not in {one.code for one in CHECKS}
    assert "SF890" not in {one.code for one in SIGNATURES}
    assert family_of("arcee") is None
    assert "polite" not in {one.name for one in LAUNCHERS}


@pytest.mark.process
def test_the_example_of_a_family_has_the_tensors_that_transformers_builds(tmp_path: Path) -> None:
    family = module_of("families/arcee.py", tmp_path).ARCEE
    config = json.loads(FILES["arcee.json"])
    fixture = record(config)
    prefix = "model.layers.0."
    built = {
        name.removeprefix(prefix): tuple(shape)
        for name, shape in fixture["shapes"].items()
        if name.startswith(prefix)
    }
    assert fixture["config"]["architectures"] == [family.architecture]
    assert family.block(sizes_of(config), config).shapes() == built


def sizes_of(config: dict[str, int]) -> Sizes:
    """The sizes that a config names."""
    return Sizes(
        hidden=config["hidden_size"],
        layers=config["num_hidden_layers"],
        heads=config["num_attention_heads"],
        kv_heads=config["num_key_value_heads"],
        head_dim=config["head_dim"],
        intermediate=config["intermediate_size"],
        vocabulary=config["vocab_size"],
    )


@pytest.mark.process
def test_the_example_of_a_launcher_starts_a_worker_that_gives_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUREFIT_HOME", str(tmp_path))
    launcher = module_of("polite/__init__.py", tmp_path).PoliteLauncher()
    model = tiny_run.write_model(tmp_path / "model")
    command = (sys.executable, "-c", "import os; print('nice', os.nice(0))")
    run = create_run_folder("polite")
    log = launcher.logs(run, None)
    job = launcher.submit(Order(run, tiny_run.plan_for(model, 1).training, command))
    printed = b""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and launcher.status(job).alive:
        printed += log.read()
        time.sleep(0.05)
    printed += log.read()
    log.close()
    assert launcher.collect(run, job).code == 0
    assert b"nice 19" in printed
    assert job.launcher == "polite"
