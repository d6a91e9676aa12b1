"""What a run does, made once: loading, two optimizer steps, an evaluation, saving."""

import contextlib
import gc
import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional
from transformers import masking_utils

from surefit.plan.tracing import TraceRequest
from surefit.train.batches import COLLATE, collate_lines
from surefit.train.loss import kept_logits, model_inputs, summed_loss
from surefit.train.rows import Row
from surefit.train.trace import kernels
from surefit.train.trace.building import KINDS, layers_of
from surefit.train.trace.four_bit import Packed
from surefit.train.trace.recording import Recorder

_STEPS = 2


class Steps:
    """Runs a request's model under a recorder.

    Args:
        request: how it trains.
        model: built for it.
        recorder: entered while this runs.
    """

    def __init__(self, request: TraceRequest, model: Any, recorder: Recorder) -> None:
        self.request, self.model, self.recorder = request, model, recorder
        self.trained = [one for one in model.parameters() if one.requires_grad]
        self.optimizer: Any = None
        self._watch_layers()

    def run(self) -> None:
        """Everything, phase by phase."""
        self._load()
        batch = self._batch()
        for number in range(1, _STEPS + 1):
            self._step(number, batch)
        if self.request.evaluate:
            with self.recorder.phase("evaluation"), torch.no_grad():
                self.model.eval()
                float_free(self._loss(batch))

    def _load(self) -> None:
        """transformers reads one tensor after the other onto the device; 4-bit ones are packed there."""
        with self.recorder.phase("loading"):
            for layer, module, name, weight in self._weights():
                adapter = "lora_" in name
                if isinstance(module, Packed) and name == "weight":
                    kind = KINDS[self.request.precision].itemsize
                    self._load_packed(module, weight, kind, layer)
                    continue
                if self.request.upcast and not adapter and weight.dtype == torch.float32:
                    self._load_upcast(weight, layer)
                item = "adapters" if adapter else "weights"
                self.recorder.keep(weight, item, _what(name, weight), layer)

    def _load_packed(self, module: Any, weight: Tensor, kind: int, layer: int | None) -> None:
        """The weight as it is stored is alive while it is packed (transformers, quantizer_bnb_4bit)."""
        stored = module.in_features * module.out_features * kind
        recorder = self.recorder
        number = recorder._new(stored, "loading", "a weight before it is packed", layer)
        recorder.keep(weight, "weights", _what("4-bit weight", weight), layer)
        for buffer in ("scales", "second", "table", "offset"):
            part = getattr(module, buffer, None)
            if part is not None:
                recorder.keep(part, "weights", _what(f"4-bit {buffer}", part), layer)
        recorder._died(number)

    def _load_upcast(self, weight: Tensor, layer: int | None) -> None:
        self.recorder.pass_through("a weight before it is upcast", weight.numel() * 2, layer)

    def _weights(self) -> Iterator[tuple[int | None, Any, str, Tensor]]:
        seen: set[int] = set()
        numbers = {id(part): number for number, part in enumerate(layers_of(self.model))}
        for layer, module in _modules(self.model, numbers):
            for name, weight in (*module._parameters.items(), *module._buffers.items()):
                if weight is None or id(weight) in seen:
                    continue
                seen.add(id(weight))
                adapter = type(module).__name__ == "Linear" and weight.requires_grad
                named = f"lora_{name}" if adapter and len(self.trained) and self._adapts else name
                yield layer, module, named, weight

    @property
    def _adapts(self) -> bool:
        return self.request.method.type != "full"

    def _batch(self) -> dict[str, Tensor]:
        request = self.request
        rows = []
        for number, length in enumerate(request.lengths):
            mask = np.zeros(length, bool)
            mask[length - max(1, round(length * request.trained_share)) :] = True
            rows.append(Row(number, np.full(length, 3), mask))
        made = collate_lines([rows]) if request.packing else COLLATE[request.layout](rows)
        with self.recorder.phase("batch"):
            # A tensor of its own for each: what comes from numpy has contents, and is not traced.
            return {name: torch.empty(one.shape, dtype=one.dtype) for name, one in made.items()}

    def _step(self, number: int, batch: dict[str, Tensor]) -> None:
        request, recorder = self.request, self.recorder
        for _ in range(request.accumulation):
            with recorder.phase(f"forward pass of step {number}"):
                loss = self._loss(batch)
            with recorder.phase(f"backward pass of step {number}"):
                loss.backward()  # type: ignore[no-untyped-call]
                del loss
                for weight in self.trained:
                    if weight.grad is not None:
                        recorder.rename(weight.grad, "gradients")
                self._outputs = None
                gc.collect()  # cycles end at the same moment in every trace
        with recorder.phase(f"optimizer of step {number}", inherits=True):
            if request.max_gradient_norm > 0:
                torch.nn.utils.clip_grad_norm_(self.trained, request.max_gradient_norm)
            if self.optimizer is None:
                self.optimizer = _optimizer(request, self.trained)
            self.optimizer.step()
            for state in self.optimizer.state.values():
                for value in state.values():
                    if isinstance(value, Tensor):
                        recorder.rename(value, "optimizer")
            self.optimizer.zero_grad(set_to_none=not request.keeps_gradients)

    def _loss(self, batch: dict[str, Tensor]) -> Tensor:
        request = self.request
        kind = KINDS[request.autocast] if request.autocast else None
        with torch.autocast("cpu", dtype=kind) if kind else contextlib.nullcontext():
            if request.loss == "targets":
                with _chosen_places(self.model, len(batch["targets"])):
                    return summed_loss(self.model, batch, kept_logits(self.model))
            if request.loss == "chunked":
                return self._chunked(batch)
            outputs = self.model(
                input_ids=batch["input_ids"], labels=batch["input_ids"], use_cache=False
            )
        self._outputs = outputs if request.keeps_outputs else None
        loss: Tensor = outputs.loss
        return loss

    def _chunked(self, batch: dict[str, Tensor]) -> Tensor:
        """Logits of one chunk at a time, made again in the backward pass."""
        inner = self.model.get_base_model() if self._adapts else self.model
        head = inner.get_output_embeddings()
        hidden = inner.model(**model_inputs(batch), use_cache=False)[0]
        flat = hidden.reshape(-1, hidden.shape[-1])
        targets = torch.empty(flat.shape[0], dtype=torch.int64)
        total = torch.zeros((), dtype=torch.float32)
        for start in range(0, flat.shape[0], self.request.loss_chunk):
            part = slice(start, start + self.request.loss_chunk)
            total = total + torch.utils.checkpoint.checkpoint(
                _chunk_loss, head, flat[part], targets[part], use_reentrant=False
            )
        return total

    def _watch_layers(self) -> None:
        """Tell the recorder which layer is at work: by its call forward, by its gradient backward."""
        layers, recorder = layers_of(self.model), self.recorder
        for number, layer in enumerate(layers):
            layer.register_forward_pre_hook(_Entering(recorder, number))
            layer.register_forward_hook(_Leaving(recorder, number, number == len(layers) - 1))


class _Entering:
    def __init__(self, recorder: Recorder, number: int) -> None:
        self.recorder, self.number = recorder, number

    def __call__(self, _layer: Any, inputs: Any) -> None:
        if self.recorder._phase.startswith("backward"):
            return
        self.recorder.layer = self.number
        if self.number == 0 and inputs and inputs[0].requires_grad:
            recorder = self.recorder

            def ended(_: Tensor) -> None:
                recorder.layer = None

            inputs[0].register_hook(ended)


class _Leaving:
    def __init__(self, recorder: Recorder, number: int, last: bool) -> None:
        self.recorder, self.number, self.last = recorder, number, last

    def __call__(self, _layer: Any, _inputs: Any, outputs: Any) -> None:
        recorder, number = self.recorder, self.number
        if recorder._phase.startswith("backward"):
            return
        hidden = outputs[0] if isinstance(outputs, tuple) else outputs
        if hidden.requires_grad:

            def begun(_: Tensor) -> None:
                recorder.layer = number

            hidden.register_hook(begun)
        if self.last:
            recorder.layer = None


@contextlib.contextmanager
def _chosen_places(model: Any, count: int) -> Iterator[None]:
    """A mask without contents cannot say how many places it marks: the batch does."""
    plain = model.get_base_model() if hasattr(model, "get_base_model") else model
    names = inspect.unwrap(type(plain).forward).__globals__
    original = names.get("slice_logits_to_keep")

    def chosen(hidden: Tensor, keep: Any) -> Any:
        if isinstance(keep, Tensor) and keep.dtype == torch.bool:
            return hidden.reshape(-1, hidden.shape[-1])[keep.new_empty(count, dtype=torch.int64)]
        return original(hidden, keep)

    if original is None:
        yield
        return
    names["slice_logits_to_keep"] = chosen
    try:
        yield
    finally:
        names["slice_logits_to_keep"] = original


def _chunk_loss(head: Any, hidden: Tensor, targets: Tensor) -> Tensor:
    return functional.cross_entropy(head(hidden).float(), targets, reduction="sum")


def float_free(_loss: Tensor) -> None:
    """Let go of a loss whose value nobody can read."""


def _optimizer(request: TraceRequest, weights: list[Any]) -> Any:
    if request.optimizer == "adam8bit":
        return _EightBit(weights)
    forms: dict[str, dict[str, Any]] = {
        "fused": {"fused": True},
        "foreach": {"foreach": True},
        "loop": {"foreach": False},
    }
    return torch.optim.AdamW(weights, lr=1e-5, **forms[request.optimizer])


class _EightBit(torch.optim.Optimizer):
    """bitsandbytes' AdamW8bit: two bytes a number and a scale for 256 of each; small ones in float32.

    Source: bitsandbytes/optim/optimizer.py, init_state of Optimizer2State (blocks of 256, 4,096).
    """

    def __init__(self, weights: list[Any]) -> None:
        super().__init__(weights, {})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override] # noqa: ARG002
        for weight in self.param_groups[0]["params"]:
            state = self.state[weight]
            if weight.grad is None or state:
                continue
            small = weight.numel() < 4096
            for name in ("first", "second"):
                state[name] = torch.empty_like(
                    weight, dtype=torch.float32 if small else torch.uint8
                )
                if not small:
                    blocks = -(-weight.numel() // 256)
                    state[f"{name} scales"] = weight.new_empty(blocks, dtype=torch.float32)


def _modules(model: Any, numbers: dict[int, int]) -> Iterator[tuple[int | None, Any]]:
    """Every module with the layer it lies in."""

    def below(module: Any, layer: int | None) -> Iterator[tuple[int | None, Any]]:
        layer = numbers.get(id(module), layer)
        yield layer, module
        for part in module.children():
            yield from below(part, layer)

    yield from below(model, None)


def _what(name: str, weight: Tensor) -> str:
    return f"{name} {list(weight.shape)} {str(weight.dtype)[6:]}"


def _narrow(request: TraceRequest) -> torch.dtype | None:
    """autocast hands sdpa its own format; the one that stands for it is not on autocast's list."""
    return KINDS[request.autocast] if request.autocast else None


@contextlib.contextmanager
def libraries_on(request: TraceRequest, recorder: Recorder) -> Iterator[None]:
    """The libraries as they behave on the request's device and for its batch.

    Masks depend on what positions hold; tensors without contents cannot say, so the request does.
    """
    no_mask = len(request.lengths) == 1 and not (request.packing or request.always_masked)
    alike = len(set(request.lengths)) == 1
    saved = (
        masking_utils.find_packed_sequence_indices,
        masking_utils._ignore_causal_mask_sdpa,
        functional.scaled_dot_product_attention,
        functional.softmax,
    )

    def packed(position_ids: Tensor) -> Tensor | None:
        return None if no_mask else saved[0](position_ids)

    def ignored(*args: Any, **kwargs: Any) -> bool:
        if alike and args:
            args = (None, *args[1:])
        elif alike:
            kwargs["padding_mask"] = None
        return bool(saved[1](*args, **kwargs))

    masking_utils.find_packed_sequence_indices = packed
    masking_utils._ignore_causal_mask_sdpa = ignored
    if request.device == "cuda":
        functional.scaled_dot_product_attention = kernels.attention_of(
            request.kernel, recorder.used_inner.add, _narrow(request)
        )
        functional.softmax = kernels.softmax_on_gpu(saved[3])
    try:
        yield
    finally:
        masking_utils.find_packed_sequence_indices = saved[0]
        masking_utils._ignore_causal_mask_sdpa = saved[1]
        functional.scaled_dot_product_attention = saved[2]
        functional.softmax = saved[3]
