"""What in a config.json is refused before any library sees it."""

import json
from pathlib import Path
from typing import Any

import pytest
from model_folders import TINY, write_model

from surefit.errors import Refused
from surefit.models import read_model_facts


def facts_with(tmp_path: Path, **changes: Any) -> Any:
    config = {key: value for key, value in (TINY | changes).items() if value is not None}
    write_model(tmp_path / "mine", config)
    return read_model_facts("mine", tmp_path)


def refused(tmp_path: Path, **changes: Any) -> Refused:
    with pytest.raises(Refused) as caught:
        facts_with(tmp_path, **changes)
    return caught.value


@pytest.mark.parametrize(
    "changes",
    [
        {"_attn_implementation_internal": "someone/kernel"},
        {"_experts_implementation_internal": "eager"},
        {"_anything_internal": 1},
        {"_hidden": 1},
        {"text_config": {"_attn_implementation_internal": "x"}},
        {"parts": [{"deep": {"_x_internal": None}}]},
        {"attn_implementation": "someone/kernel"},
    ],
)
def test_private_fields_are_refused_wherever_they_are(changes: Any, tmp_path: Path) -> None:
    error = refused(tmp_path, **changes)
    assert "CVE-2026-4372" in error.why
    assert "_internal" in error.what or "_hidden" in error.what or "attn_impl" in error.what


@pytest.mark.parametrize("name", ["_name_or_path", "_commit_hash"])
def test_fields_that_every_download_carries_are_fine(name: str, tmp_path: Path) -> None:
    assert facts_with(tmp_path, **{name: "x"}).known_family


def test_code_of_an_unknown_architecture_is_refused(tmp_path: Path) -> None:
    error = refused(
        tmp_path,
        model_type="mine",
        architectures=["MineForCausalLM"],
        auto_map={"AutoModelForCausalLM": "modeling_mine.MineForCausalLM"},
    )
    assert "modeling_mine.MineForCausalLM" in error.what
    assert "never runs code" in error.why


def test_code_beside_a_known_architecture_is_recorded_and_not_run(tmp_path: Path) -> None:
    facts = facts_with(tmp_path, auto_map={"AutoModelForCausalLM": "modeling_x.X"})
    assert facts.ignored_code == ("modeling_x.X",)


def test_a_quantised_base_is_refused(tmp_path: Path) -> None:
    error = refused(tmp_path, quantization_config={"quant_method": "gptq", "bits": 4})
    assert "gptq" in error.what


@pytest.mark.parametrize("dtype", ["I8", "F8_E4M3"])
def test_weights_stored_as_rounded_numbers_are_refused(dtype: str, tmp_path: Path) -> None:
    write_model(tmp_path / "mine", TINY, dtype=dtype)
    with pytest.raises(Refused, match=dtype):
        read_model_facts("mine", tmp_path)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"architectures": ["BertForMaskedLM"], "model_type": "bert"}, "BertForMaskedLM"),
        ({"architectures": ["LlavaForConditionalGeneration"], "model_type": "llava"}, "text"),
        ({"vision_config": {"depth": 2}}, "vision_config"),
        ({"architectures": None, "model_type": None}, "does not say"),
        ({"architectures": ["MistralForCausalLM"]}, "contradicts"),
        ({"hidden_size": None}, "hidden_size"),
        ({"num_hidden_layers": "two"}, "num_hidden_layers"),
        ({"num_attention_heads": True}, "num_attention_heads"),
        ({"vocab_size": -5}, "vocab_size"),
        ({"num_attention_heads": 4, "num_key_value_heads": 3}, "num_key_value_heads"),
    ],
)
def test_a_config_that_cannot_be_meant_is_refused(changes: Any, said: str, tmp_path: Path) -> None:
    assert said in refused(tmp_path, **changes).as_text()


@pytest.mark.parametrize("text", ["", "{", "[1]", "null", "[" * 100_000, "\x00", '{"a": NaN'])
def test_a_broken_config_is_refused_in_words(text: str, tmp_path: Path) -> None:
    write_model(tmp_path / "mine")
    (tmp_path / "mine" / "config.json").write_text(text)
    with pytest.raises(Refused, match=r"config\.json"):
        read_model_facts("mine", tmp_path)


def test_a_missing_class_name_is_filled_by_the_family(tmp_path: Path) -> None:
    assert facts_with(tmp_path, architectures=None).architecture == "LlamaForCausalLM"


def test_config_json_as_a_folder_is_refused(tmp_path: Path) -> None:
    write_model(tmp_path / "mine")
    (tmp_path / "mine" / "config.json").unlink()
    (tmp_path / "mine" / "config.json").mkdir()
    with pytest.raises(Exception, match="cannot read"):
        read_model_facts("mine", tmp_path)


def test_the_longest_row_comes_from_the_config(tmp_path: Path) -> None:
    assert facts_with(tmp_path).max_positions == 64
    assert facts_with(tmp_path, max_position_embeddings=None).max_positions is None
    assert json.loads((tmp_path / "mine" / "config.json").read_text())["hidden_size"] == 8
