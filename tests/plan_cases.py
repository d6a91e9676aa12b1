"""Recipes, models, machines and reports to plan with, each with one thing changed at a time."""

from typing import Any

from surefit.data.report import DatasetReport, TokenCounts
from surefit.hardware.machine import Device, Hardware
from surefit.models.facts import LinearShape, ModelFacts, ParameterCounts
from surefit.plan import Plan, make_plan
from surefit.recipe.schema import Recipe
from surefit.units import GIB


def recipe(**changes: Any) -> Recipe:
    """A LoRA recipe; keywords replace whole parts."""
    return Recipe.model_validate({"model": "mine", "data": {"train": "rows.jsonl"}, **changes})


def facts(layers: int = 4, hidden: int = 64, vocabulary: int = 1000, **changes: Any) -> ModelFacts:
    """A Llama of any size."""
    middle, heads, key_heads = hidden * 3, 4, 2
    head_dim = hidden // heads
    shapes = {
        "q_proj": (hidden, hidden),
        "k_proj": (hidden, key_heads * head_dim),
        "v_proj": (hidden, key_heads * head_dim),
        "o_proj": (hidden, hidden),
        "gate_proj": (hidden, middle),
        "up_proj": (hidden, middle),
        "down_proj": (middle, hidden),
    }
    blocks = tuple(LinearShape(name=n, inputs=i, outputs=o) for n, (i, o) in shapes.items())
    counts = ParameterCounts(
        embedding=vocabulary * hidden,
        head=0,
        linear=layers * sum(i * o for i, o in shapes.values()),
        norm=hidden * (2 * layers + 1),
    )
    values: dict[str, Any] = {
        "source": "mine",
        "folder": "/models/mine",
        "model_type": "llama",
        "architecture": "LlamaForCausalLM",
        "known_family": True,
        "hidden_size": hidden,
        "layers": layers,
        "heads": heads,
        "kv_heads": key_heads,
        "head_dim": head_dim,
        "intermediate_size": middle,
        "vocabulary": vocabulary,
        "max_positions": 4096,
        "tied_embeddings": True,
        "stored_dtype": "bfloat16",
        "parameters": counts,
        "block_linears": blocks,
        "weight_files": ("model.safetensors",),
        "weight_bytes": 2 * counts.total,
        "isolates_flat_rows": True,
    }
    return ModelFacts.model_validate(values | changes)


def machine(
    free: int = 16 * GIB, disk: int = 100 * GIB, cores: int = 4, load: float = 0.0, **changes: Any
) -> Hardware:
    """A CPU machine; keywords change the device."""
    values: dict[str, Any] = {
        "kind": "cpu",
        "name": "Some CPU",
        "total_bytes": max(free, 16 * GIB),
        "free_bytes": free,
        "bf16_is_fast": False,
        "bf16_reason": "the processor has no bfloat16 instructions",
        "flops": 1e11,
        "flops_reason": "a guess",
    }
    return Hardware(
        name="this machine",
        devices=(Device.model_validate(values | changes),),
        cpu_cores=cores,
        load=load,
        ram_total_bytes=max(free, 16 * GIB),
        ram_free_bytes=free,
        disk_free_bytes=disk,
        disk_folder="/runs",
    )


def report(
    rows: int = 400, mean: float = 100, longest: int = 400, eval_rows: int = 0, **changes: Any
) -> DatasetReport:
    """Rows with a long tail: half under 0.8 of the mean, a tenth over twice the mean."""
    tokens = TokenCounts(
        total=round(rows * mean),
        trained=round(rows * mean * 0.4),
        longest=longest,
        shortest=max(1, int(mean / 4)),
        mean=mean,
        percentiles={
            "p50": min(longest, int(mean * 0.8)),
            "p90": min(longest, int(mean * 2)),
            "p99": min(longest, int(mean * 3)),
        },
    )
    held = tokens.model_copy(update={"total": round(eval_rows * mean)}) if eval_rows else None
    values: dict[str, Any] = {
        "verdict": "ok",
        "format": "messages",
        "format_reason": "every row has messages",
        "sources": (),
        "rows": rows + eval_rows,
        "usable": rows,
        "eval_rows": eval_rows,
        "tokens": tokens,
        "eval_tokens": held,
    }
    return DatasetReport.model_validate(values | changes)


def plan(**changes: Any) -> Plan:
    """A plan of the usual case; keywords replace the recipe, the facts, the machine or the report."""
    return make_plan(
        changes.get("recipe") or recipe(),
        changes.get("facts") or facts(),
        changes.get("machine") or machine(),
        changes.get("report") or report(),
    )


def reason(made: Plan, field: str) -> str:
    """The reason that a plan gives for a field."""
    return next(one.reason for one in made.decisions if one.field == field)
