"""Names of runs."""

import re
from datetime import datetime

import pytest

from surefit.runs.naming import NAME_PATTERN, new_run_name

MOMENT = datetime(2026, 11, 30, 22, 15).astimezone()


def test_a_name_tells_when_what_and_how() -> None:
    name = new_run_name("starter", "lora", MOMENT)
    assert re.fullmatch(r"20261130-2215-starter-lora-[a-z2-9]{3}", name)


@pytest.mark.parametrize(
    ("model", "slug"),
    [
        ("/models/Qwen2.5 32B (Instruct)/", "qwen2.5-32b-instruct"),
        ("me/" + "x" * 200, "x" * 24),
        ("../..", "model"),
        ("模型", "model"),
    ],
)
def test_any_model_gives_a_name_that_can_be_a_folder(model: str, slug: str) -> None:
    name = new_run_name(model, "full", MOMENT)
    assert NAME_PATTERN.fullmatch(name)
    assert name[14:-9] == slug
