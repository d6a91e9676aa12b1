"""What `model:` may name, and what is said when it names something else."""

import os
from pathlib import Path

import pytest
from model_folders import TINY, write_model, write_safetensors

from surefit.errors import ExitCode, OutsideError, RecipeError, Refused, SurefitError
from surefit.models import read_model_facts, resolve_model_folder


def refusal(source: str, base: Path) -> SurefitError:
    with pytest.raises(SurefitError) as caught:
        read_model_facts(source, base)
    assert caught.value.where == "model"
    return caught.value


def test_a_folder_is_found_beside_the_recipe(tmp_path: Path) -> None:
    write_model(tmp_path / "models" / "mine")
    assert resolve_model_folder("models/mine", tmp_path) == tmp_path / "models" / "mine"
    absolute = str(tmp_path / "models" / "mine")
    assert resolve_model_folder(absolute, Path("/")) == Path(absolute)


def test_the_starter_is_inside_the_package() -> None:
    assert resolve_model_folder("starter", Path("/nowhere")).parent.name == "models"


def test_a_misspelt_folder_is_answered_with_the_nearest(tmp_path: Path) -> None:
    write_model(tmp_path / "SmolLM2-135M")
    error = refusal("smollm2-135", tmp_path)
    assert isinstance(error, RecipeError)
    assert "SmolLM2-135M" in error.next_step


def test_a_name_that_could_be_on_the_hub_is_a_path_where_its_folder_exists(tmp_path: Path) -> None:
    (tmp_path / "Qwen").mkdir()
    error = refusal("Qwen/Qwen2.5-0.5B", tmp_path)
    assert "not looked up on the Hugging Face Hub" in error.why
    assert "model: hf://Qwen/Qwen2.5-0.5B" in error.next_step
    assert error.exit_code == ExitCode.USAGE


def test_a_path_that_is_no_hub_name_gets_no_talk_of_the_hub(tmp_path: Path) -> None:
    error = refusal("./a/b/c", tmp_path)
    assert "Hub" not in error.as_text()
    assert "starter" in error.next_step


def test_a_file_is_no_model(tmp_path: Path) -> None:
    write_model(tmp_path / "mine")
    error = refusal("mine/model.safetensors", tmp_path)
    assert "a file, not the folder" in error.what
    assert str(tmp_path / "mine") in error.next_step


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["config.json", "pytorch_model.bin"], "run code"),
        (["config.json", "consolidated.00.pth"], "run code"),
        (["config.json", "weights.pt"], "run code"),
        (["config.json", "model-q4.gguf"], "quantised for inference"),
        (["config.json", "tokenizer.json"], "has no weights"),
        (["config.json", "training_args.bin"], "has no weights"),
        (["model.safetensors"], "no config.json"),
        ([], "no config.json"),
        (["adapter_config.json", "adapter_model.safetensors"], "an adapter"),
    ],
)
def test_other_contents_are_named(names: list[str], said: str, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    for name in names:
        (tmp_path / "mine" / name).write_text("{}")
    error = refusal("mine", tmp_path)
    assert isinstance(error, Refused)
    assert said in error.as_text()


def test_a_gguf_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "model.gguf").write_bytes(b"GGUF")
    assert "GGUF" in refusal("model.gguf", tmp_path).as_text()


def test_pickles_beside_safetensors_are_left_alone(tmp_path: Path) -> None:
    write_model(tmp_path / "mine")
    (tmp_path / "mine" / "pytorch_model.bin").write_bytes(b"anything")
    assert read_model_facts("mine", tmp_path).weight_files == ("model.safetensors",)


def test_a_model_one_folder_deeper_is_pointed_at(tmp_path: Path) -> None:
    write_model(tmp_path / "mine" / "snapshot")
    assert str(tmp_path / "mine" / "snapshot") in refusal("mine", tmp_path).next_step


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_without_permission_is_the_outside_worlds_fault(tmp_path: Path) -> None:
    write_model(tmp_path / "mine")
    (tmp_path / "mine").chmod(0)
    try:
        assert isinstance(refusal("mine", tmp_path), OutsideError)
    finally:
        (tmp_path / "mine").chmod(0o755)


def test_the_config_is_read_although_the_weights_are_in_parts(tmp_path: Path) -> None:
    write_model(tmp_path / "mine", TINY)
    write_safetensors(tmp_path / "mine" / "extra.safetensors", {"x": [1]})
    assert read_model_facts("mine", tmp_path).weight_files == ("model.safetensors",)
