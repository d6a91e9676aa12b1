"""Every family counts as the library's own class does: shapes recorded on the meta device."""

import json
from pathlib import Path

import pytest
from model_folders import FAMILY_FIXTURES, write_model

from surefit.models import FAMILIES, read_model_facts

FIXTURES = sorted(FAMILY_FIXTURES.glob("*.json"))


def test_each_family_has_a_fixture_and_each_model_type_one_family() -> None:
    known = [name for family in FAMILIES for name in family.model_types]
    assert sorted(known) == sorted(path.stem for path in FIXTURES)
    assert len(set(known)) == len(known)


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda path: path.stem)
def test_counts_and_linears_equal_those_of_the_library(fixture: Path, tmp_path: Path) -> None:
    truth = json.loads(fixture.read_text())
    write_model(tmp_path / "model", truth["config"], truth["shapes"], "BF16")
    facts = read_model_facts("model", tmp_path)
    assert facts.known_family
    assert facts.parameters.total == truth["parameters"]
    assert facts.tied_embeddings == truth["tied"]
    assert sorted({one.name for one in facts.block_linears}) == truth["linears"]
    assert facts.stored_dtype == "bfloat16"
    matrices = [
        shape for name, shape in truth["shapes"].items() if ".layers.0." in name and len(shape) == 2
    ]
    assert sorted(matrices) == sorted([one.outputs, one.inputs] for one in facts.block_linears)


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda path: path.stem)
def test_the_rules_agree_with_the_headers_alone(fixture: Path, tmp_path: Path) -> None:
    """An architecture of another name with the same tensors is counted the same, from shapes."""
    truth = json.loads(fixture.read_text())
    config = truth["config"] | {
        "model_type": "something_new",
        "architectures": ["SomethingNewForCausalLM"],
        "tie_word_embeddings": truth["tied"],
    }
    write_model(tmp_path / "model", config, truth["shapes"])
    facts = read_model_facts("model", tmp_path)
    assert not facts.known_family
    assert facts.parameters.total == truth["parameters"]
    assert sorted({one.name for one in facts.block_linears}) == truth["linears"]
