"""Strategies: a copy of the model in every rank (DDP), or a share of it (FSDP2).

accelerate turns an FSDP configuration on a CPU into DDP without a word, so the model is sharded and
wrapped here, and what was done is read back from the live objects.

FSDP2 (torch.distributed.fsdp.fully_shard, arXiv:2304.11277 and torch's docs): every parameter is cut
along its first dimension, ceil(rows / ranks) rows to a rank; a layer is put together before it is
used and taken apart after.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import CPUOffloadPolicy, FSDPModule, OffloadPolicy, fully_shard
from torch.distributed.tensor import DTensor
from torch.nn.parallel import DistributedDataParallel

from surefit.plan.plan import TrainingPlan
from surefit.train import ranks


def shard(model: Any, training: TrainingPlan) -> Any:
    """Keep this rank's share of the model: each layer a unit, embeddings and head units of their own.

    Every rank must hold the same whole model; nothing is sent. Where embeddings and head are one
    parameter they stay in the root, which is put together once in a pass.
    """
    options: dict[str, Any] = {
        "mesh": init_device_mesh(training.device, (ranks.world_size(),)),
        # Also the root: else a pass without a backward one leaves it whole, and its parameters are
        # then other objects than those that the optimizer knows.
        "reshard_after_forward": True,
        "offload_policy": CPUOffloadPolicy(pin_memory=training.device == "cuda")
        if training.offload
        else OffloadPolicy(),
    }
    inner = model.get_base_model() if hasattr(model, "get_base_model") else model
    for layer in layers_of(inner):
        fully_shard(layer, **options)
    for end in _own_ends(inner):
        fully_shard(end, **options)
    fully_shard(inner, **options)
    # generate() then goes on until every rank has ended its answer.
    inner._is_fsdp_managed_module = True
    return model


def layers_of(model: Any) -> list[torch.nn.Module]:
    """The repeated blocks of a transformer: the longest list of modules in it."""
    lists = [part for part in model.modules() if isinstance(part, torch.nn.ModuleList)]
    return list(max(lists, key=len, default=[]))


def _own_ends(model: Any) -> list[torch.nn.Module]:
    """Embeddings and head, where they are two parameters."""
    ends = [model.get_input_embeddings(), model.get_output_embeddings()]
    found = [end for end in ends if end is not None]
    if len({id(weight) for end in found for weight in end.parameters()}) < 2:
        return []
    return found


def copy_in_every_rank(model: Any, training: TrainingPlan) -> Any:
    """The model wrapped so that its gradients are averaged over the ranks after each step."""
    experts = any(
        getattr(model.config, name, None) for name in ("num_experts", "num_local_experts")
    )
    return DistributedDataParallel(
        model,
        device_ids=None if training.device == "cpu" else [torch.cuda.current_device()],
        broadcast_buffers=False,
        # Gradients then lie in the buckets that are sent, instead of beside them.
        gradient_as_bucket_view=True,
        # An expert that no token of a rank was sent to has no gradient there.
        find_unused_parameters=experts,
    )


def strategy_of(wrapped: Any) -> str:
    """What the live objects do: shares, copies, or neither."""
    if any(is_shared_out(weight) for weight in wrapped.parameters()):
        return "fsdp"
    return "ddp" if isinstance(wrapped, DistributedDataParallel) else "single"


def is_shared_out(weight: Any) -> bool:
    """Whether a parameter is cut over more than one rank."""
    return (
        isinstance(weight, DTensor)
        and weight.device_mesh.size() > 1
        and any(placement.is_shard() for placement in weight.placements)
    )


def share_held(model: Any) -> str:
    """Which part of the model's numbers lies in this rank: `1/1` all of them."""
    weights = list(model.parameters())
    whole = sum(weight.numel() for weight in weights)
    return f"1/{round(whole / max(1, sum(local(weight).numel() for weight in weights)))}"


def is_offloaded(model: Any) -> bool:
    """Whether shares lie elsewhere than on the device that computes, from the live parameters."""
    return any(
        isinstance(weight, DTensor)
        and weight.device_mesh.device_type != weight.to_local().device.type
        for weight in model.parameters()
    )


def whole_units(model: Any) -> int:
    """How many units are put together one at a time."""
    return sum(isinstance(part, FSDPModule) for part in model.modules())


def local(tensor: Tensor) -> Tensor:
    """This rank's part of a tensor; the tensor itself where it is whole."""
    return tensor.to_local() if isinstance(tensor, DTensor) else tensor


def whole(tensor: Tensor) -> Tensor:
    """The tensor put together from all ranks. Every rank must ask for it."""
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def rows_of_share(rows: int) -> slice:
    """The rows of a parameter that FSDP2 gives to this rank."""
    size = -(-rows // ranks.world_size())
    start = min(rows, ranks.rank() * size)
    return slice(start, min(rows, start + size))


@torch.no_grad()
def gathered(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Every parameter whole, on the CPU of the first rank; the others help and get nothing."""
    found: dict[str, Tensor] = {}
    for name, weight in weights.items():
        full = whole(weight.detach())
        if ranks.is_first():
            found[name] = full.cpu()
    return found


def optimizer_share(optimizer: Any) -> dict[str, Any]:
    """The optimizer's state with this rank's parts as plain tensors."""
    state = optimizer.state_dict()
    parts = {
        number: {
            name: local(value) if isinstance(value, Tensor) else value
            for name, value in each.items()
        }
        for number, each in state["state"].items()
    }
    return {"state": parts, "param_groups": state["param_groups"]}


def load_optimizer_share(optimizer: Any, share: dict[str, Any]) -> None:
    """Put this rank's part of an optimizer's state back, cut as its parameters are."""
    optimizer.load_state_dict(share)
    for group in optimizer.param_groups:
        for weight in group["params"]:
            for name, value in optimizer.state.get(weight, {}).items():
                if isinstance(weight, DTensor) and value.shape == weight.to_local().shape:
                    optimizer.state[weight][name] = DTensor.from_local(
                        value,
                        weight.device_mesh,
                        weight.placements,
                        run_check=False,
                        shape=weight.shape,
                        stride=weight.stride(),
                    )
