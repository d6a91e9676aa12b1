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

from surefit.data.checks import CHECKS
from surefit.data.checks.check import Stage, Terms, Totals
from surefit.data.examination import Examination
from surefit.data.row import DataFile, Row
from surefit.diagnose import gather_evidence
from surefit.diagnose.signatures import SIGNATURES
from surefit.launch import LAUNCHERS, Order
from surefit.models.families import Sizes, family_of
from surefit.recipe.schema import DataSpec
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


def test_the_example_of_a_check_finds_the_bad_row_of_its_fixture_only(tmp_path: Path) -> None:
    check = module_of("sd690_answer_echoes.py", tmp_path).AnswerEchoes
    terms = Terms(DataSpec(train="train.jsonl"), None, 1, None)
    examination = Examination(terms, Totals(), [check])
    lines = example("SD690/train.jsonl").encode().splitlines()
    file = DataFile("train.jsonl", tmp_path / "train.jsonl", "train", 0)
    for number, line in enumerate(lines, start=1):
        value = json.loads(line)
        row = Row(file, number, line, value, messages=value["messages"])
        assert examination.look_at_row(Stage.TURNS, row)
    (finding,) = examination.findings()
    assert (finding.code, finding.count, finding.rows) == ("SD690", 1, ("train.jsonl:1",))
    assert "'Say hi.'" in finding.message
    assert "SD690" not in {one.code for one in CHECKS}


def test_the_example_of_a_signature_names_its_fixture_s_cause(tmp_path: Path) -> None:
    signature = module_of("port_taken.py", tmp_path).PortTaken
    left_behind = tmp_path / "run"
    left_behind.mkdir()
    (left_behind / "log.txt").write_text(example("SF290/log.txt"), encoding="utf-8")
    diagnosis = signature().match(gather_evidence(left_behind))
    assert diagnosis is not None
    assert diagnosis.failure_class == "PORT_TAKEN"
    assert diagnosis.what == "port 29500 is held by another program"
    assert any("29500" in line.text for line in diagnosis.evidence)
    assert "SF290" not in {one.code for one in SIGNATURES}


@pytest.mark.process
def test_the_example_of_a_family_has_the_tensors_that_transformers_builds(tmp_path: Path) -> None:
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    family = module_of("families/arcee.py", tmp_path).ARCEE
    config = json.loads(example("families/arcee.json"))
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(tmp_path))
    prefix = "model.layers.0."
    built = {
        name.removeprefix(prefix): tuple(tensor.shape)
        for name, tensor in model.state_dict().items()
        if name.startswith(prefix)
    }
    assert type(model).__name__ == family.architecture
    assert family.block(sizes_of(config), config).shapes() == built
    assert family_of("arcee") is None


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
    assert "polite" not in {one.name for one in LAUNCHERS}
