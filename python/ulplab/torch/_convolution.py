"""Convolution under datapaths: three products of matrices, with the sums of ulplab's own networks (sim/layers/conv.c).

With B images, p positions of the kernel in each, and N kernels of K x L over c channels:

    y  (B p, N)    the sum starts at the bias; then channel, row, column of the kernel, ascending
    dW (c K L, N)  the sum runs over the images, and in each image over the positions, ascending
    dx (B h w, c)  the sum runs over kernel, row, column of the kernel, ascending

Products with zeros, around the image or between positions, take part. Each group has products of its own; the lane of
its random stream is the number of the group.
"""

from __future__ import annotations

from typing import Any, Optional

import torch
import torch.nn.functional as functional
from torch import Tensor

from .._products import datapath_of
from ._products import column_sums, product, sums_of
from ._words import BACKWARD, BPRODUCT, WPRODUCT, signed_word, with_lane, with_use


def _patches(x: Tensor, kernel: list[int], stride: list[int], padding: list[int], dilation: list[int]) -> Tensor:
    """(B p, c K L): for each position the elements of the image that the kernel meets."""
    columns = functional.unfold(x, tuple(kernel), tuple(dilation), tuple(padding), tuple(stride))
    return columns.transpose(1, 2).reshape(-1, columns.shape[1])


def _position_patches(
    dy: Tensor, size: list[int], kernel: list[int], stride: list[int], padding: list[int], dilation: list[int]
) -> Tensor:
    """(B h w, n K L): for each element of an image of h x w the positions that meet it, or 0."""
    B, n, p, q = dy.shape
    spread = dy.new_zeros(B, n, (p - 1) * stride[0] + 1, (q - 1) * stride[1] + 1)
    spread[..., :: stride[0], :: stride[1]] = dy
    around = []
    for i in (1, 0):  # functional.pad begins with the last dimension; a negative number cuts off
        reach = dilation[i] * (kernel[i] - 1)
        before = reach - padding[i]
        around += [before, size[i] + reach - spread.shape[2 + i] - before]
    columns = functional.unfold(functional.pad(spread, around), tuple(kernel), tuple(dilation))
    turned = columns.reshape(B, n, *kernel, size[0] * size[1]).flip(2, 3)
    return turned.permute(0, 4, 1, 2, 3).reshape(B * size[0] * size[1], -1)


_SCHEMA = (
    "(Tensor x, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, int groups, str forward, "
    "str backward, str cast, int seed, int random_stream) -> Tensor"
)


@torch.library.custom_op("ulplab::conv2d", mutates_args=(), device_types="cpu", schema=_SCHEMA)
def _conv_op(
    x: Tensor,
    weight: Tensor,
    bias: Optional[Tensor],
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    groups: int,
    forward: str,
    backward: str,
    cast: str,
    seed: int,
    random_stream: int,
) -> Tensor:
    kernel = list(weight.shape[2:])
    parts = []
    for group, w in enumerate(weight.chunk(groups)):
        patches = _patches(x.chunk(groups, 1)[group], kernel, stride, padding, dilation)
        start = None if bias is None else bias.chunk(groups)[group]
        matrix = w.reshape(w.shape[0], -1).transpose(0, 1)
        parts.append(product(patches, matrix, start, forward, cast, seed, with_lane(random_stream, group)))
    y = torch.cat(parts, 1).reshape(x.shape[0], -1, weight.shape[0]).transpose(1, 2)
    return y.reshape(x.shape[0], weight.shape[0], *_positions(x, weight, stride, padding, dilation)).contiguous()


def _positions(x: Tensor, weight: Tensor, stride: list[int], padding: list[int], dilation: list[int]) -> list[int]:
    """The rows and columns of positions."""
    reach = [dilation[i] * (weight.shape[2 + i] - 1) for i in range(2)]
    return [(x.shape[2 + i] + 2 * padding[i] - reach[i] - 1) // stride[i] + 1 for i in range(2)]


@_conv_op.register_fake
def _(
    x: Tensor, weight: Tensor, _: Any, stride: list[int], padding: list[int], dilation: list[int], *__: Any
) -> Tensor:
    return x.new_empty(x.shape[0], weight.shape[0], *_positions(x, weight, stride, padding, dilation))


def _setup(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    x, weight, bias, ctx.stride, ctx.padding, ctx.dilation, ctx.groups = inputs[:7]
    _, ctx.datapath, ctx.cast, ctx.seed, ctx.stream = inputs[7:]
    ctx.save_for_backward(x, weight)
    ctx.has_bias = bias is not None


def _backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
    x, weight = ctx.saved_tensors
    kernel, size, B = list(weight.shape[2:]), list(x.shape[2:]), x.shape[0]
    geometry = (kernel, ctx.stride, ctx.padding, ctx.dilation)
    rows = gradient.permute(0, 2, 3, 1).reshape(-1, weight.shape[0])  # (B p, N)

    def sums(a: Tensor, b: Tensor, use: int, group: int) -> Tensor:
        words = (ctx.seed, with_lane(with_use(ctx.stream, use), group))
        return sums_of(a, b, ctx.datapath, ctx.cast, *words)

    of_x, of_weight, of_bias = [], [], None
    for group, w in enumerate(weight.chunk(ctx.groups)):
        n, c = w.shape[:2]
        if ctx.needs_input_grad[0]:
            patches = _position_patches(gradient.chunk(ctx.groups, 1)[group], size, *geometry)
            matrix = w.permute(0, 2, 3, 1).reshape(-1, c)
            of_x.append(sums(patches, matrix, BACKWARD, group).reshape(B, *size, c).permute(0, 3, 1, 2))
        if ctx.needs_input_grad[1]:
            patches = _patches(x.chunk(ctx.groups, 1)[group], *geometry)
            dw = sums(patches.transpose(0, 1), rows.chunk(ctx.groups, 1)[group], WPRODUCT, group)
            of_weight.append(dw.transpose(0, 1).reshape(n, c, *kernel))
    if ctx.has_bias and ctx.needs_input_grad[2]:
        of_bias = column_sums(rows, ctx.datapath, ctx.cast, ctx.seed, with_use(ctx.stream, BPRODUCT))
    dx = torch.cat(of_x, 1) if of_x else None
    return dx, torch.cat(of_weight) if of_weight else None, of_bias, *[None] * 9


_conv_op.register_autograd(_backward, setup_context=_setup)


def _pair(value: Any, name: str, least: int) -> list[int]:
    pair = list(value) if isinstance(value, (tuple, list)) else [value] * 2
    if len(pair) != 2 or not all(isinstance(number, int) and number >= least for number in pair):
        raise ValueError(f"{name} is {value!r}; allowed are a whole number from {least} on, and two of them")
    return pair


def conv2d(
    x: Tensor,
    weight: Tensor,
    bias: Optional[Tensor] = None,
    datapath: str = "fp32",
    *,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    backward: Optional[str] = None,
    cast: Optional[str] = None,
    seed: int = 0,
    stream: int = 0,
) -> Tensor:
    """A convolution under a datapath; the bias is the start value of the sums. Gradients are sums under `backward`.

    The orders of the sums are those of the networks of ulplab: a CNN under a policy has the bits of `ul.train`.

    Args:
        x: (B, c, h, w), a CPU tensor. weight: (N, c / groups, K, L), of x's dtype. bias: (N).
        stride, padding, dilation, groups: as of `torch.nn.functional.conv2d`; numbers.
        datapath, backward, cast, seed: as of :func:`matmul`.
        stream: of the random words of stochastic sums; the stride of the kernel is `stride`.

    Returns:
        (B, N, rows, columns) of x's dtype.
    """
    if not torch.compiler.is_compiling():
        datapath_of(datapath), datapath_of(backward or datapath)
    if x.dim() != 4 or weight.dim() != 4:
        raise ValueError(f"x has {x.dim()} dimensions and weight has {weight.dim()}; both have 4")
    if groups < 1 or weight.shape[0] % groups or x.shape[1] != weight.shape[1] * groups:
        raise ValueError(
            f"x has {x.shape[1]} channels and weight has the shape {tuple(weight.shape)}, which do not go with "
            f"{groups} groups"
        )
    pairs = (_pair(stride, "stride", 1), _pair(padding, "padding", 0), _pair(dilation, "dilation", 1))
    if min(_positions(x, weight, *pairs)) < 1:
        raise ValueError(f"a kernel of {tuple(weight.shape[2:])} does not fit into images of {tuple(x.shape[2:])}")
    back = backward or datapath
    words = (signed_word(seed), signed_word(stream))
    return _conv_op(x, weight, bias, *pairs, groups, datapath, back, cast or "", *words)  # type: ignore[no-any-return]
