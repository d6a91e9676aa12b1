"""Declared against effective: what the plan says beside what the live objects are.

Libraries change, ignore and replace settings without a word. Everything here is read from the
objects that will train, after they were built; a difference fails the run before its first step.
"""

import math
import os
from collections import Counter
from typing import Any

import torch

from surefit.plan.plan import Plan
from surefit.recipe.schema import AdapterMethod, DoraMethod, QloraMethod
from surefit.runs.result import Effective
from surefit.train import ranks
from surefit.train.failures import ConfigurationDiffers
from surefit.train.lines import PackedLines
from surefit.train.model import DTYPES, recomputes_activations, trainable
from surefit.train.sharding import is_offloaded, share_held, strategy_of


def declared(plan: Plan) -> dict[str, Any]:
    """What the plan promises, in the words of `effective`."""
    training, model = plan.training, plan.model
    lora = training.method if isinstance(training.method, AdapterMethod) else None
    shapes = [shape for shape in model.block_linears if shape.name in training.targets]
    return {
        "device": training.device,
        "threads": training.threads,
        "strategy": training.strategy,
        "ranks": training.ranks,
        "held_by_each_rank": f"1/{training.ranks if training.strategy == 'fsdp' else 1}",
        "offload": training.offload,
        "collectives": {"cpu": "gloo", "cuda": "nccl"}[training.device]
        if training.ranks > 1
        else None,
        "frozen_dtypes": sorted(
            {training.precision, *(["torch.uint8"] if isinstance(lora, QloraMethod) else [])}
        )
        if lora
        else [],
        # Adapters are small and learn in float32 whatever the base is kept in.
        "trainable_dtypes": ["float32"] if lora else [training.precision],
        "attention": training.attention,
        "gradient_checkpointing": training.gradient_checkpointing,
        "adapter_targets": {shape.name: model.layers for shape in shapes} if lora else {},
        "adapter_rank": lora.rank if lora else None,
        "adapter_scale": lora.scale if lora else None,
        "adapter_dropout": lora.dropout if lora else None,
        "adapter_kind": lora.type if lora else None,
        "quantized": _declared_quantized(plan),
        "trainable_parameters": (
            sum(
                lora.rank * (shape.inputs + shape.outputs)
                + (shape.outputs if isinstance(lora, DoraMethod) else 0)
                for shape in shapes
            )
            * model.layers
            if lora
            else model.parameters.total
        ),
        "optimizer": "AdamW",
        "learning_rate": training.learning_rate,
        "weight_decay": training.weight_decay,
        "betas": list(training.betas),
        "epsilon": training.epsilon,
        "schedule": training.schedule,
        "warmup_steps": training.warmup_steps,
        "max_gradient_norm": training.max_gradient_norm,
        "micro_batch": training.micro_batch,
        "accumulation": training.accumulation,
        "batch": training.batch,
        "layout": training.layout,
        "rows": training.rows,
        "packing": training.packing,
        "sequences": training.sequences,
        "by_length": training.by_length,
        "steps": training.steps,
        "seed": training.seed,
        "allocator": dict(training.allocator),
    }


def effective(trainer: Any, plan: Plan) -> dict[str, Any]:
    """The same, read from the trainer, its model, its optimizer, its batches and the process."""
    model = trainer.model
    weights = trainable(model)
    frozen = [weight for weight in model.parameters() if not weight.requires_grad]
    groups = trainer.optimizer.param_groups
    some_batch = trainer.data_collator([trainer.train_dataset[0]])
    return {
        "device": next(model.parameters()).device.type,
        "threads": torch.get_num_threads(),
        "strategy": strategy_of(trainer.model_wrapped),
        "ranks": ranks.world_size(),
        "held_by_each_rank": share_held(model),
        "offload": is_offloaded(model),
        "collectives": ranks.backend(plan.training.device),
        "frozen_dtypes": _dtypes(frozen),
        "trainable_dtypes": _dtypes(weights.values()),
        "attention": model.config._attn_implementation,
        "gradient_checkpointing": recomputes_activations(model),
        **_adapters(model),
        "quantized": _quantized(model),
        "trainable_parameters": sum(weight.numel() for weight in weights.values()),
        "optimizer": type(getattr(trainer.optimizer, "optimizer", trainer.optimizer)).__name__,
        "learning_rate": max(group.get("initial_lr", group["lr"]) for group in groups),
        "weight_decay": max(group["weight_decay"] for group in groups),
        "betas": list(groups[0]["betas"]),
        "epsilon": groups[0]["eps"],
        "schedule": _schedule(trainer.lr_scheduler),
        "warmup_steps": trainer.args.get_warmup_steps(trainer.state.max_steps),
        "max_gradient_norm": trainer.args.max_grad_norm,
        "micro_batch": trainer.args.train_batch_size,
        "accumulation": trainer.args.gradient_accumulation_steps,
        "batch": trainer.get_total_train_batch_size(trainer.args),
        "layout": _layout(some_batch),
        "rows": len(trainer.rows),
        "packing": isinstance(trainer.train_dataset, PackedLines),
        "sequences": _sequences(trainer.train_dataset),
        "by_length": trainer.order.block > 1,
        "steps": _steps(trainer, plan.training.epochs),
        "seed": trainer.order.seed,
        "allocator": {name: os.environ.get(name) for name in plan.training.allocator},
    }


def compare(plan: Plan, real: dict[str, Any]) -> Effective:
    """The two beside each other."""
    promised = declared(plan)
    # Of a family whose rules are not known, only the live model knows the number of parameters.
    uncertain = (
        set()
        if plan.model.known_family
        else {"trainable_parameters", "adapter_targets", "quantized"}
    )
    differences = tuple(
        name for name, value in promised.items() if value != real[name] and name not in uncertain
    )
    return Effective(declared=promised, effective=real, differences=differences)


def refuse_differences(record: Effective) -> None:
    """Fail where the live objects are not what was planned.

    Raises:
        ConfigurationDiffers: with every difference (exit 78).
    """
    if not record.differences:
        return
    told = "; ".join(
        f"{name} is {record.effective[name]!r}, planned {record.declared[name]!r}"
        for name in record.differences
    )
    raise ConfigurationDiffers(
        "what would run is not what the plan says",
        told,
        "plan again with `surefit plan`; if it stays, report it with the run's effective.json",
        details={"differences": list(record.differences)},
    )


def _steps(trainer: Any, epochs: float) -> int:
    """Optimizer steps, from the live batches: ceil(micro-batches / accumulation) for each epoch."""
    batches = len(trainer.get_train_dataloader())
    each: int = -(-batches // trainer.args.gradient_accumulation_steps)
    return math.ceil(round(each * epochs, 6))


def _sequences(items: Any) -> int | None:
    """Packed lines an epoch; None where items are rows."""
    return len(items) if isinstance(items, PackedLines) else None


def _dtypes(weights: Any) -> list[str]:
    names = {dtype: name for name, dtype in DTYPES.items()}
    return sorted({names.get(weight.dtype, str(weight.dtype)) for weight in weights})


def _adapters(model: Any) -> dict[str, Any]:
    wrapped = [(name, part) for name, part in model.named_modules() if hasattr(part, "lora_A")]
    ranks = {part.r["default"] for _, part in wrapped}
    scales = {part.scaling["default"] for _, part in wrapped}
    dropouts = {float(getattr(part.lora_dropout["default"], "p", 0.0)) for _, part in wrapped}
    return {
        "adapter_targets": dict(Counter(name.rsplit(".", 1)[-1] for name, _ in wrapped)),
        "adapter_rank": _only(ranks),
        "adapter_scale": _only(scales),
        "adapter_dropout": _only(dropouts),
        "adapter_kind": _adapter_kind(model, [part for _, part in wrapped]),
    }


def _adapter_kind(model: Any, wrapped: list[Any]) -> str | None:
    """Which variant the live adapters are: by their parts, and by the scale for their rank."""
    if not wrapped:
        return None
    if any(part.use_dora.get("default") for part in wrapped):
        return "dora"
    alpha = model.peft_config["default"].lora_alpha
    plain = {math.isclose(part.scaling["default"], alpha / part.r["default"]) for part in wrapped}
    if plain == {False}:
        return "rslora"
    return "qlora" if _quantized(model) else "lora"


def _declared_quantized(plan: Plan) -> dict[str, Any] | None:
    method, model = plan.training.method, plan.model
    if not isinstance(method, QloraMethod):
        return None
    count = len(model.block_linears) * model.layers
    return {"type": "nf4", "double": method.double_quantization, "modules": count}


def _quantized(model: Any) -> dict[str, Any] | None:
    """The 4-bit weights of the live model; None: there is none."""
    states = [
        weight.quant_state for weight in model.parameters() if getattr(weight, "quant_state", None)
    ]
    if not states:
        return None
    return {
        "type": _only({state.quant_type for state in states}),
        "double": _only({bool(state.nested) for state in states}),
        "modules": len(states),
    }


def _only(values: set[Any]) -> Any:
    """The one value of all adapters, all of them where they differ, None where there is none."""
    return next(iter(values), None) if len(values) < 2 else sorted(values)


def _layout(batch: dict[str, torch.Tensor]) -> str:
    if "attention_mask" in batch:
        return "padded"
    return "flat" if "position_ids" in batch else "unknown"


def _schedule(scheduler: Any) -> str:
    """The schedule's name, from the function that the scheduler really calls."""
    function = getattr(scheduler, "scheduler", scheduler).lr_lambdas[0]
    called = getattr(function, "func", function).__name__
    return next((name for name in ("linear", "cosine", "constant") if name in called), called)
