"""The recipe's model without contents: transformers' class, peft's adapters, 4-bit where asked."""

from typing import Any

import torch
import transformers
from peft import LoraConfig, get_peft_model
from torch import nn

from surefit.errors import Refused
from surefit.plan.tracing import TraceRequest
from surefit.recipe.schema import AdapterMethod, DoraMethod, QloraMethod, RsLoraMethod
from surefit.train.model import recompute_activations
from surefit.train.trace.four_bit import AdaptedPacked, Packed

KINDS = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
_NOT_BUILT = ("architectures", "torch_dtype", "dtype", "transformers_version", "auto_map")


def config_of(request: TraceRequest, layers: int) -> Any:
    """The config with so many layers.

    Raises:
        Refused: transformers knows no such model.
    """
    fields = {key: value for key, value in request.config.items() if key not in _NOT_BUILT}
    fields = {key: value for key, value in fields.items() if not key.startswith("_")}
    kind = str(fields.pop("model_type", ""))
    fields["num_hidden_layers"] = layers
    if isinstance(fields.get("layer_types"), list):
        fields["layer_types"] = fields["layer_types"][:layers]
    try:
        return transformers.AutoConfig.for_model(kind, **fields)
    except (ValueError, KeyError, TypeError) as error:
        raise Refused(
            f"transformers {transformers.__version__} has no model of type {kind!r}",
            str(error).splitlines()[0],
            "plan without `--trace`: the arithmetic needs no library",
            where="model",
        ) from error


def build(request: TraceRequest, layers: int) -> Any:
    """The model as it trains. Call it in FakeTensorMode; its tensors have storages and no contents.

    It is built on the meta device first, because peft moves and casts what it makes, which tensors
    of FakeTensorMode do not allow.
    """
    with torch.device("meta"):
        model: Any = transformers.AutoModelForCausalLM.from_config(
            config_of(request, layers),
            dtype=KINDS[request.precision],
            attn_implementation=_attention(request),
            trust_remote_code=False,
        )
        if isinstance(request.method, QloraMethod):
            pack(model, request, request.method.double_quantization)
        if request.upcast:
            upcast(model)
        if isinstance(request.method, AdapterMethod):
            model = _adapted(model, request.method, request)
    if request.gradient_checkpointing:
        recompute_activations(model)
    if request.input_gradients:
        model.enable_input_require_grads()
    materialize(model)
    model.train()
    return model


def _attention(request: TraceRequest) -> str:
    # The package flash_attn cannot be imported without a GPU; sdpa's flash kernel allocates the same.
    return "eager" if request.attention == "eager" else "sdpa"


def pack(model: Any, request: TraceRequest, double: bool) -> None:
    """Put 4-bit layers where transformers puts bitsandbytes' ones: every Linear but the head."""
    head = model.get_output_embeddings()
    for module in list(model.modules()):
        for name, part in list(module.named_children()):
            if type(part) is nn.Linear and part is not head:
                setattr(module, name, Packed(part, KINDS[request.precision], double))


def upcast(model: Any) -> None:
    """prepare_model_for_kbit_training: float32 for all that is not quantised."""
    kinds = (torch.float16, torch.bfloat16)
    for weight in model.parameters():
        weight.requires_grad = False
        if weight.dtype in kinds:
            weight.data = weight.data.to(torch.float32)


def _adapted(model: Any, method: AdapterMethod, request: TraceRequest) -> Any:
    config = LoraConfig(
        r=method.rank,
        lora_alpha=method.scale_alpha,
        lora_dropout=method.dropout,
        target_modules=list(request.targets),
        bias="none",
        task_type="CAUSAL_LM",
        use_rslora=isinstance(method, RsLoraMethod),
        use_dora=isinstance(method, DoraMethod),
    )
    if isinstance(method, QloraMethod):
        config._register_custom_module({Packed: AdaptedPacked})
    adapted = get_peft_model(model, config, autocast_adapter_dtype=False)
    kind = KINDS[request.adapter_precision]
    for name, weight in adapted.named_parameters():
        if "lora_" in name:
            weight.data = weight.data.to(kind)
    return adapted


def materialize(model: Any) -> None:
    """Give every parameter and buffer a storage of its own; those that are shared stay shared."""
    made: dict[int, nn.Parameter] = {}
    for module in model.modules():
        for name, weight in list(module._parameters.items()):
            if weight is None:
                continue
            if id(weight) not in made:
                empty = torch.empty(weight.shape, dtype=weight.dtype, device="cpu")
                made[id(weight)] = nn.Parameter(empty, requires_grad=weight.requires_grad)
            module._parameters[name] = made[id(weight)]
        for name, buffer in list(module._buffers.items()):
            if buffer is not None and buffer.device.type == "meta":
                module._buffers[name] = torch.empty(buffer.shape, dtype=buffer.dtype, device="cpu")


def layers_of(model: Any) -> list[Any]:
    """The decoder's layers, in their order."""
    lists = [part for part in model.modules() if isinstance(part, nn.ModuleList)]
    return list(max(lists, key=len, default=[]))
