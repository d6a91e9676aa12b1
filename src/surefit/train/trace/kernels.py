"""Kernels that allocate inside, where torch's dispatch cannot see it. One entry a kernel, with its source.

Nothing here was measured or fitted. The entries say where a size is decided; that of the memory-efficient
kernel was partly read there, the others are taken from the literature and not yet looked up.
"""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

MIB = 2**20

SOURCES = {
    "flash": "aten/src/ATen/native/transformers/cuda/flash_attn/flash_api.cpp: mha_fwd, mha_bwd "
    "(dq_accum, softmax_d, expanded dk and dv)",
    "efficient": "aten/src/ATen/native/transformers/cuda/attention_backward.cu and "
    "mem_eff_attention/kernel_backward.h (delta, workspace_gq, workspace_gk, workspace_gv)",
    "softmax": "aten/src/ATen/native/cuda/SoftMax.cu: softmax_backward_cuda_out (grad * output)",
    "half softmax": "aten/src/ATen/native/SoftMax.cpp: float16 to float32 in one kernel",
    "cublas": "aten/src/ATen/cuda/CublasHandlePool.cpp: a workspace for each thread's handle",
    "four bit": "bitsandbytes backends/cuda/ops.py: _dequant_linear_fallback",
}


def cublas_workspace(compute_capability: float) -> int:
    """Bytes of one cuBLAS handle's workspace: 32 MiB on Hopper, else 8,320 KiB."""
    return 32 * MIB if int(compute_capability) == 9 else 8320 * 1024


def softmax_backward(gradient: Tensor, *_: Any) -> int:
    """The product of gradient and output."""
    return gradient.numel() * gradient.element_size()


INNER: dict[Any, Callable[..., int]] = {
    torch.ops.aten._softmax_backward_data.default: softmax_backward,
}


class _Fused(torch.autograd.Function):
    """Attention that never holds the scores: [batch, heads, positions, width] each."""

    @staticmethod
    def forward(
        ctx: Any, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, kernel: str, note: Any
    ) -> Tensor:
        batch, heads, positions, _width = q.shape
        out = q.new_empty(batch, positions, heads, v.shape[-1]).transpose(1, 2)
        aligned = positions if kernel == "flash" else -(-positions // 32) * 32
        sums = q.new_empty(batch, heads, aligned, dtype=torch.float32)
        ctx.save_for_backward(q, k, v, mask, out, sums)
        ctx.kernel, ctx.note = kernel, note
        return out

    @staticmethod
    def backward(ctx: Any, _gradient: Tensor) -> tuple[Any, ...]:
        q, k, v, *_rest = ctx.saved_tensors
        sizes = _flash_backward if ctx.kernel == "flash" else _efficient_backward
        held = q.new_empty(sizes(q, k), dtype=torch.uint8)
        ctx.note(SOURCES[ctx.kernel])
        made = tuple(
            one.new_empty(one.transpose(1, 2).shape).transpose(1, 2) if wanted else None
            for one, wanted in zip((q, k, v), ctx.needs_input_grad, strict=False)
        )
        del held
        return (*made, None, None, None)


def _flash_backward(q: Tensor, k: Tensor) -> int:
    """dq in float32, the row sums, and dk and dv for every query head where these share keys."""
    batch, heads, positions, width = q.shape
    length, wide = _up(positions, 128), _up(width, 32)
    size = 4 * batch * heads * length * (wide + 1)
    if k.shape[1] != heads:
        size += 2 * batch * heads * k.shape[2] * width * k.element_size()
    return size


def _efficient_backward(q: Tensor, k: Tensor) -> int:
    """Row sums, and accumulators in float32: of q always, of k and v where they are too wide."""
    batch, heads, positions, width = q.shape
    block = 64
    size = 4 * batch * heads * positions
    size += 4 * batch * heads * _up(positions, block) * _up(width, block)
    if q.element_size() == 2 and width > block:
        size += 2 * 4 * batch * heads * _up(k.shape[2], block) * _up(width, block)
    return size


def _up(number: int, step: int) -> int:
    return -(-number // step) * step


def attention_of(
    kernel: str, note: Callable[[str], None], narrow: torch.dtype | None = None
) -> Callable[..., Tensor]:
    """What stands for scaled_dot_product_attention on a GPU, by the kernel that it would choose."""

    def attend(
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attn_mask: Tensor | None = None,
        dropout_p: float = 0.0,  # noqa: ARG001 - torch's signature
        is_causal: bool = False,
        scale: float | None = None,
        enable_gqa: bool = False,  # noqa: ARG001
    ) -> Tensor:
        if narrow is not None:
            query, key, value = query.to(narrow), key.to(narrow), value.to(narrow)
        chosen = kernel
        if attn_mask is not None and chosen == "flash":
            chosen = "efficient"  # flash takes no mask
        if chosen == "flash" and query.dtype == torch.float32:
            chosen = "efficient"
        shared = key.shape[1] != query.shape[1]
        if chosen == "efficient" and shared:
            repeats = query.shape[1] // key.shape[1]
            key, value = (one.repeat_interleave(repeats, dim=1) for one in (key, value))
        if chosen == "math":
            return _by_products(query, key, value, attn_mask, is_causal, scale)
        if attn_mask is not None and attn_mask.dtype == torch.bool:
            attn_mask = query.new_empty(attn_mask.shape)
        return _Fused.apply(query, key, value, attn_mask, chosen, note)  # type: ignore[no-untyped-call, no-any-return]

    return attend


def _by_products(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    causal: bool,
    scale: float | None,
) -> Tensor:
    """The math kernel, operation by operation (transformers/attention.cpp)."""
    if key.shape[1] != query.shape[1]:
        repeats = query.shape[1] // key.shape[1]
        key, value = (one.repeat_interleave(repeats, dim=1) for one in (key, value))
    factor = math.sqrt(scale or 1 / math.sqrt(query.shape[-1]))
    kind = query.dtype
    if kind in (torch.float16, torch.bfloat16):
        query, key, value = query.float(), key.float(), value.float()
    scores = (query * factor) @ (key.transpose(-2, -1) * factor)
    if causal:
        mask = scores.new_ones(scores.shape[-2:], dtype=torch.bool)
    if mask is not None:
        scores = scores + scores.new_empty(mask.shape)
    return (functional.softmax(scores, -1) @ value).to(kind)


class _HalfSoftmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, scores: Tensor) -> Tensor:
        shares = scores.new_empty(scores.shape, dtype=torch.float32)
        ctx.save_for_backward(shares)
        return shares

    @staticmethod
    def backward(_ctx: Any, gradient: Tensor) -> Tensor:
        held = torch.empty_like(gradient)
        made = gradient.new_empty(gradient.shape, dtype=torch.float16)
        del held
        return made


def softmax_on_gpu(original: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """softmax with float16 in and float32 out, which a GPU makes in one kernel without a copy."""

    def softmax(
        input: Tensor,  # noqa: A002 - torch's name
        dim: int | None = None,
        _stacklevel: int = 3,
        dtype: Any = None,
    ) -> Tensor:
        if input.dtype == torch.float16 and dtype == torch.float32:
            return _HalfSoftmax.apply(input)  # type: ignore[no-untyped-call, no-any-return]
        return original(input, dim, _stacklevel, dtype)

    return softmax
