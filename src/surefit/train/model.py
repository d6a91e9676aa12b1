"""The model: loaded from a folder, adapted as the plan says."""

import random
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from peft import LoraConfig, PeftModel, get_peft_model

from surefit.errors import OutsideError, SurefitError, WorkerExit
from surefit.models.facts import HubOrigin
from surefit.plan.plan import Plan, TrainingPlan
from surefit.recipe.schema import AdapterMethod, DoraMethod, QloraMethod, RsLoraMethod
from surefit.train import ranks
from surefit.train.place import Place
from surefit.train.sharding import shard

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


def set_seeds(seed: int) -> None:
    """Seed every random number generator that the training draws from."""
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def choose_device(training: TrainingPlan) -> torch.device:
    """The plan's device.

    Raises:
        SurefitError: the plan wants a GPU and torch sees none (exit 69).
    """
    if training.device == "cuda" and not torch.cuda.is_available():
        built = torch.version.cuda or "no CUDA at all"
        raise SurefitError(
            "the plan was made for a GPU and torch sees none",
            f"torch {torch.__version__} was built for {built} and finds "
            f"{torch.cuda.device_count()} devices",
            "install a torch built for your driver, or plan again with `surefit plan`",
            worker_exit=WorkerExit.NO_RESOURCE,
        )
    if training.device == "cuda" and training.ranks > 1:
        torch.cuda.set_device(Place.here().local)
        return torch.device("cuda", Place.here().local)
    return torch.device(training.device)


def load_base(folder: Path, training: TrainingPlan, device: torch.device) -> Any:
    """The base model as plain transformers loads it, on the device.

    Raises:
        OutsideError: the folder or its weights cannot be read.
    """
    try:
        model = transformers.AutoModelForCausalLM.from_pretrained(
            folder,
            dtype=DTYPES[training.precision],
            attn_implementation=training.attention,
            trust_remote_code=False,
            use_safetensors=True,
            local_files_only=True,
            **quantization(training, device),
        )
    except (OSError, ValueError) as error:
        raise OutsideError(
            f"the model in {folder} cannot be loaded",
            f"transformers {transformers.__version__} says: {error}",
            f"check the files of {folder}, or name another `model` in the recipe",
        ) from error
    keep_quantized_as_stored(model)
    # A quantised model is on its device already, and refuses to be moved.
    return model if isinstance(training.method, QloraMethod) else model.to(device)


def quantization(training: TrainingPlan, device: torch.device) -> dict[str, Any]:
    """What transformers is told so that the linear layers of the base are loaded in 4 bits."""
    if not isinstance(training.method, QloraMethod):
        return {}
    config = transformers.BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=training.method.double_quantization,
        bnb_4bit_compute_dtype=DTYPES[training.precision],
    )
    return {"quantization_config": config, "device_map": {"": device}}


def keep_quantized_as_stored(model: Any) -> None:
    """Keep bitsandbytes from repacking its weights in the first pass without gradients.

    On a CPU with bfloat16 instructions it repacks them for inference, and the backward pass of a
    later step then unpacks them wrongly, without a word (0.50.2: gradients off by their own size).
    """
    for module in model.modules():
        if hasattr(module, "support_avx512bf16_for_cpu"):
            module.support_avx512bf16_for_cpu = False


def build_for_training(plan: Plan, device: torch.device) -> Any:
    """The model as the plan trains it: whole on the device, or this rank's share of it there.

    To be shared out it is read into the machine's memory, by one rank after the other: so many
    whole copies at once are room for none.
    """
    training, folder = plan.training, Path(plan.model.folder)
    if training.strategy != "fsdp":
        return prepare_for_training(load_base(folder, training, device), plan)
    memory = torch.device("cpu")
    return ranks.in_turn(
        lambda: shard(prepare_for_training(load_base(folder, training, memory), plan), training)
    )


def prepare_for_training(model: Any, plan: Plan) -> Any:
    """The model with what is trained: every parameter, or adapters beside frozen weights."""
    training = plan.training
    if training.gradient_checkpointing:
        recompute_activations(model)
    if isinstance(training.method, AdapterMethod):
        model = add_adapters(model, training.method, training.targets)
        name_base(model, plan.model.hub)
    model.train()
    return model


def name_base(model: Any, hub: HubOrigin | None) -> None:
    """Let the adapter name its base as anybody finds it: by its Hub id and commit, not by a path here."""
    if hub is not None:
        for config in model.peft_config.values():
            config.base_model_name_or_path, config.revision = hub.repo, hub.commit


def add_adapters(model: Any, method: AdapterMethod, targets: Sequence[str]) -> Any:
    """The model with LoRA adapters at the plan's targets; their weights are float32.

    Raises:
        SurefitError: a target matches no layer.
    """
    config = LoraConfig(
        r=method.rank,
        lora_alpha=method.scale_alpha,
        lora_dropout=method.dropout,
        target_modules=list(targets),
        bias="none",
        task_type="CAUSAL_LM",
        use_rslora=isinstance(method, RsLoraMethod),
        use_dora=isinstance(method, DoraMethod),
    )
    try:
        return get_peft_model(model, config)
    except ValueError as error:
        raise SurefitError(
            f"no adapter can be attached at {', '.join(targets)}",
            str(error),
            "set `method.targets: all-linear` in the recipe",
            worker_exit=WorkerExit.CONFIGURATION,
        ) from error


def recompute_activations(model: Any) -> None:
    """Switch on gradient checkpointing, by whichever name this transformers has for it."""
    options = {"use_reentrant": False}
    if hasattr(model, "activation_checkpointing_enable"):
        model.activation_checkpointing_enable(activation_checkpointing_kwargs=options)
    else:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs=options)


def recomputes_activations(model: Any) -> bool:
    """Whether any part of the model recomputes its activations: read from the live modules."""
    return any(getattr(module, "gradient_checkpointing", False) for module in model.modules())


def load_trained(base: Any, folder: Path, training: TrainingPlan, device: torch.device) -> Any:
    """What a user gets from the saved folder: plain peft on a plain base, or plain transformers."""
    if isinstance(training.method, AdapterMethod):
        with warnings.catch_warnings():
            # A weight that the file lacks is only a warning in peft.
            warnings.filterwarnings("error", message=".*missing adapter keys.*")
            return PeftModel.from_pretrained(base, folder)
    return load_base(folder, training, device)


def trainable(model: Any) -> dict[str, torch.nn.Parameter]:
    """The parameters that learn, by name; a tied weight once."""
    return {name: weight for name, weight in model.named_parameters() if weight.requires_grad}
