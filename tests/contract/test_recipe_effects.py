"""Every field of a recipe changes something that can be seen in the plan or in the data report."""

import json
from pathlib import Path
from typing import Any

import pytest
from plan_cases import facts

from surefit.data import check_data
from surefit.errors import RecipeError
from surefit.hardware.machine import Device, Hardware
from surefit.models.starter_samples import starter_folder
from surefit.plan import make_plan
from surefit.recipe import fields
from surefit.recipe.schema import Recipe
from surefit.tokens import load_chat_tokenizer
from surefit.units import GIB

# Field -> (value before, value after). None: the key is left out.
CHANGES: dict[str, tuple[Any, Any]] = {
    "model": ("starter", "another"),
    "data.train": ("rows.jsonl", "other.jsonl"),
    "data.eval": (None, "10%"),
    "data.format": (None, "messages"),
    "data.columns": (None, {"messages": "turns"}),
    "data.max_unusable": (0, 3),
    "data.loss": ("answers", "all"),
    "data.role_weights": (None, {"user": 0.5}),
    "data.long_rows": ("cut", "drop"),
    "data.template_arguments": (None, {"enable_thinking": False}),
    "method.type": ("lora", "full"),
    "method.rank": (8, 4),
    "method.alpha": (None, 5.0),
    "method.dropout": (0.0, 0.1),
    "method.double_quantization": (True, False),
    "method.targets": ("all-linear", ["q_proj"]),
    "goal.epochs": (1, 2),
    "goal.learning_rate": (None, 1e-3),
    "goal.batch": (8, 4),
    "goal.max_length": (None, 24),
    "goal.schedule": ("cosine", "linear"),
    "goal.warmup": (0.03, 0.5),
    "goal.weight_decay": (0.0, 0.1),
    "goal.seed": (17, 18),
    "limits.hours": (None, 5),
    "limits.dollars": (None, 5),
    "limits.dollars_per_hour": (None, 2),
    "limits.silent_minutes": (None, 5),
    "limits.no_improvement": (None, 3),
    "how.micro_batch": (None, 1),
    "how.precision": (None, "bfloat16"),
    "how.layout": ("flat", "padded"),
    "how.packing": (False, True),
    "how.gradient_checkpointing": (None, True),
    "how.checkpoint_every_steps": (None, 3),
    "how.keep_checkpoints": (None, 7),
    "how.threads": (1, 2),
    "how.strategy": ("ddp", "fsdp"),
    "how.ranks": (None, 2),
    "how.offload": (False, True),
}
ONE_VALUE = {"hardware"}  # `this` is the only value so far


def _machine() -> Hardware:
    device = Device(
        kind="cpu",
        name="a CPU",
        total_bytes=16 * GIB,
        free_bytes=12 * GIB,
        bf16_is_fast=False,
        bf16_reason="no bfloat16 instructions",
        flops=1e11,
        flops_reason="assumed by this test",
    )
    return Hardware(
        name="this",
        devices=(device,),
        cpu_cores=2,
        load=0.0,
        ram_total_bytes=16 * GIB,
        ram_free_bytes=12 * GIB,
        disk_free_bytes=100 * GIB,
        disk_folder="/",
    )


def _write_rows(file: Path, count: int) -> None:
    turns = [
        [
            {"role": "user", "content": f"Which number comes after {number}?"},
            {
                "role": "assistant",
                "content": f"After {number} comes {number + 1}, and so on it goes.",
            },
        ]
        for number in range(count)
    ]
    lines = [json.dumps({"messages": row, "turns": row[:1]}) for row in turns]
    broken = ["{not JSON"] if file.name == "broken.jsonl" else []
    file.write_text("\n".join([*lines, *broken]) + "\n")


def _outcome(folder: Path, values: dict[str, Any]) -> dict[str, Any]:
    recipe = Recipe.model_validate(values)
    tokenizer = load_chat_tokenizer(starter_folder())
    report = check_data(
        recipe.data,
        folder,
        tokenizer,
        max_length=recipe.goal.max_length,
        batch=recipe.goal.batch,
        seed=recipe.goal.seed,
        packing=recipe.how.packing,
    )
    seen_in_data = report.model_dump(mode="json", exclude={"samples"})
    if report.verdict == "refuse":
        return seen_in_data
    model = facts(vocabulary=tokenizer.vocabulary, source=recipe.model)
    try:
        plan = make_plan(recipe, model, _machine(), report)
    except RecipeError as refusal:
        return {"refused": refusal.what}
    seen = plan.model_dump(mode="json", exclude={"decisions", "seconds", "verdict_reason"})
    return {**seen, "data": seen_in_data}


def _recipe(field: str, value: Any) -> dict[str, Any]:
    values: dict[str, Any] = {
        "model": "starter",
        "data": {"train": "broken.jsonl" if field == "data.max_unusable" else "rows.jsonl"},
        "method": {"type": "lora", "rank": 8},
        "how": {"ranks": 2} if field == "how.strategy" else {},
        "goal": {"max_length": 24 if field == "data.long_rows" else 64}
        if field != "goal.max_length"
        else {},
    }
    if field == "limits.dollars":
        values["limits"] = {"dollars_per_hour": 2}
    if field == "limits.no_improvement":
        values["data"]["eval"] = "10%"
    *above, last = field.split(".")
    part = values
    for key in above:
        part = part.setdefault(key, {})
    if last == "double_quantization":
        part["type"] = "qlora"
    part.pop(last, None)
    if value is not None:
        part[last] = value
    if values["method"]["type"] == "full":
        values["method"] = {"type": "full"}
    return values


def test_every_field_of_the_recipe_is_in_this_table() -> None:
    known = {field.path for field in fields()}
    assert known == set(CHANGES) | ONE_VALUE


@pytest.mark.parametrize("field", CHANGES)
def test_changing_a_field_changes_what_is_planned_or_read(field: str, tmp_path: Path) -> None:
    for name in ("rows.jsonl", "other.jsonl", "broken.jsonl"):
        _write_rows(tmp_path / name, 40)
    before, after = (_outcome(tmp_path, _recipe(field, value)) for value in CHANGES[field])
    assert before != after
