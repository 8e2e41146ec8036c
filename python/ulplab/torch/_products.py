"""Products of matrices under datapaths, with gradients that are products under datapaths."""

from __future__ import annotations

from typing import Any, Optional

import torch
from torch import Tensor

from .._products import datapath_of
from .._products import matmul as _matmul
from ._words import BACKWARD, BPRODUCT, WPRODUCT, array_of, signed_word, with_use


def product(a: Tensor, b: Tensor, c: Optional[Tensor], datapath: str, cast: str, seed: int, stream: int) -> Tensor:
    """c + a b under a datapath, without a gradient."""
    start = None if c is None else array_of(c)
    seed, stream = seed % 2**64, stream % 2**64
    y = _matmul(array_of(a), array_of(b), datapath, start, cast=cast or None, seed=seed, stream=stream)
    return torch.from_numpy(y).to(a.dtype)


@torch.library.custom_op("ulplab::matmul", mutates_args=(), device_types="cpu")
def _matmul_op(
    a: Tensor, b: Tensor, c: Optional[Tensor], forward: str, backward: str, cast: str, seed: int, stream: int
) -> Tensor:
    return product(a, b, c, forward, cast, seed, stream)


@_matmul_op.register_fake
def _(a: Tensor, b: Tensor, *_: Any) -> Tensor:
    batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])  # type: ignore[no-untyped-call]
    return torch.empty((*batch, a.shape[-2], b.shape[-1]), dtype=a.dtype, device=a.device)


def _matmul_setup(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    a, b, c, _, ctx.backward, ctx.cast, ctx.seed, ctx.stream = inputs
    ctx.save_for_backward(a, b)
    ctx.c_shape = None if c is None else c.shape


def sums_of(a: Tensor, b: Tensor, datapath: str, cast: str, seed: int, stream: int) -> Tensor:
    """a b under a datapath, as an operation that `torch.compile` sees."""
    return _matmul_op(a, b, None, datapath, datapath, cast, seed, stream)  # type: ignore[no-any-return]


def column_sums(x: Tensor, datapath: str, cast: str, seed: int, stream: int) -> Tensor:
    """The sums of the columns of x (m, n) under a datapath: (n)."""
    ones = torch.ones((1, x.shape[0]), dtype=x.dtype)
    return sums_of(ones, x, datapath, cast, seed, stream).reshape(-1)


def _start_gradient(ctx: Any, gradient: Tensor) -> Tensor:
    """The gradient of start values: of a bias (n) sums under the datapath; of another shape PyTorch's sums."""
    if gradient.dim() != 2 or ctx.c_shape != (gradient.shape[1],):
        return gradient.sum_to_size(ctx.c_shape)
    return column_sums(gradient, ctx.backward, ctx.cast, ctx.seed, with_use(ctx.stream, BPRODUCT))


def _matmul_backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
    a, b = ctx.saved_tensors
    gradient = gradient.contiguous()

    def sums(x: Tensor, y: Tensor, use: int) -> Tensor:
        return sums_of(x, y, ctx.backward, ctx.cast, ctx.seed, with_use(ctx.stream, use))

    of_a = of_b = of_c = None
    if ctx.needs_input_grad[0]:
        of_a = sums(gradient, b.transpose(-1, -2), BACKWARD).sum_to_size(a.shape)
    if ctx.needs_input_grad[1]:
        of_b = sums(a.transpose(-1, -2), gradient, WPRODUCT).sum_to_size(b.shape)
    if ctx.c_shape is not None and ctx.needs_input_grad[2]:
        of_c = _start_gradient(ctx, gradient)
    return of_a, of_b, of_c, None, None, None, None, None


_matmul_op.register_autograd(_matmul_backward, setup_context=_matmul_setup)


def matmul(
    a: Tensor,
    b: Tensor,
    datapath: str = "fp32",
    c: Optional[Tensor] = None,
    *,
    backward: Optional[str] = None,
    cast: Optional[str] = None,
    seed: int = 0,
    stream: int = 0,
) -> Tensor:
    """c + a b under a datapath; the gradients of a and b are products under the datapath `backward`.

    Args:
        a, b: (..., m, k) and (..., k, n), CPU tensors of equal dtype. c: start values that broadcast to (..., m, n).
        datapath, backward: names of datapaths; backward None is `datapath`.
        cast: the mode that rounds operands to the input formats of a Tensor Core, also those of the gradients.
        seed, stream: the random words of stochastic sums.

    Returns:
        (..., m, n) of a's dtype.
    """
    if not torch.compiler.is_compiling():
        datapath_of(datapath), datapath_of(backward or datapath)
    if a.dim() < 2 or b.dim() < 2:
        raise ValueError(f"a has {a.dim()} dimensions and b has {b.dim()}; matrices have at least two")
    back = backward or datapath
    return _matmul_op(a, b, c, datapath, back, cast or "", signed_word(seed), signed_word(stream))  # type: ignore[no-any-return]


def linear(x: Tensor, weight: Tensor, bias: Optional[Tensor] = None, datapath: str = "fp32", **options: Any) -> Tensor:
    """x weight^T + bias under a datapath; the bias is the start value of the sums.

    Args:
        x: (..., in). weight: (out, in). bias: (out). Other arguments: see :func:`matmul`.
    """
    rows = x.reshape(-1, x.shape[-1])
    y = matmul(rows, weight.transpose(0, 1), datapath, bias, **options)
    return y.reshape(*x.shape[:-1], weight.shape[0])
