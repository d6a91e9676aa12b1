"""A linear layer with 4-bit weights, with the storages and the allocations of bitsandbytes.

Read from bitsandbytes 0.50 (functional.quantize_4bit, autograd/_functions.MatMul4Bit, nn/modules.
Linear4bit, backends/cuda/ops._dequant_linear_fallback) and peft 0.21 (tuners/lora/bnb.Linear4bit):
the weight is unpacked for every product, forward and backward, and only the packed one is kept.
Below 1,536 rows the forward product may unpack nothing; that it does is the larger of the two.
"""

from typing import Any

import torch
from peft.tuners.lora.layer import Linear as AdaptedLinear
from torch import Tensor, nn

BLOCK, SECOND_BLOCK = 64, 256
_TABLE_BYTES = 64  # 16 float32 values of nf4, a tensor of its own for each weight


class Packed(nn.Linear):
    """Stands for `bitsandbytes.nn.Linear4bit`: same attributes, same memory, no numbers.

    Args:
        linear: what it replaces; its weight says how many numbers there are.
        compute: the format of the unpacked weight and of the product.
        double: whether the scales are quantised once more.
    """

    def __init__(self, linear: nn.Linear, compute: torch.dtype, double: bool) -> None:
        nn.Module.__init__(self)
        self.in_features, self.out_features = linear.in_features, linear.out_features
        self.compute, self.nested = compute, double
        numbers = linear.weight.numel()
        self.weight = nn.Parameter(_bytes(-(-numbers // 2)), requires_grad=False)
        self.bias = linear.bias
        scales = -(-numbers // BLOCK)
        self.register_buffer("scales", _bytes(scales if double else 4 * scales))
        self.register_buffer("table", _bytes(_TABLE_BYTES))
        if double:
            self.register_buffer("second", _bytes(4 * -(-scales // SECOND_BLOCK)))
            self.register_buffer("offset", _bytes(4))

    def forward(self, inputs: Tensor) -> Tensor:
        """[..., in] -> [..., out], in the inputs' format."""
        kind = inputs.dtype
        narrow = inputs.to(self.compute)
        bias = None if self.bias is None else self.bias.to(self.compute)
        return _Product.apply(narrow, bias, self).to(kind)  # type: ignore[no-untyped-call, no-any-return]

    def unpacked(self, kind: torch.dtype) -> Tensor:
        """The weight as the product needs it; its scales first, where they are quantised."""
        if self.nested:
            count = self.scales.numel()  # type: ignore[operator]
            first = self.weight.new_empty(count, dtype=torch.float32)
            shifted = first + 1.0
            del first
        whole = self.weight.new_empty(self.out_features, self.in_features, dtype=self.compute)
        if self.nested:
            del shifted
        return whole.to(kind)


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, inputs: Tensor, bias: Tensor | None, packed: Packed) -> Tensor:
        ctx.packed = packed
        return nn.functional.linear(inputs, packed.unpacked(inputs.dtype), bias)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        return torch.matmul(gradient, ctx.packed.unpacked(gradient.dtype)), None, None


class AdaptedPacked(AdaptedLinear):  # type: ignore[misc]
    """peft's adapter on a 4-bit layer: the base's result is copied before the adapter is added."""

    def forward(self, inputs: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """[..., in] -> [..., out]."""
        result = self.base_layer(inputs, *args, **kwargs).clone()
        for name in self.active_adapters:
            down, up = self.lora_A[name], self.lora_B[name]
            converts = not torch.is_autocast_enabled()
            kind = result.dtype
            if converts:
                inputs = self._cast_input_dtype(inputs, down.weight.dtype)
            added = up(down(self.lora_dropout[name](inputs))) * self.scaling[name]
            if converts:
                added = added.to(kind)
            result = result + added
        return result  # type: ignore[no-any-return]


def _bytes(count: int) -> Tensor:
    return torch.empty(count, dtype=torch.uint8)
