"""Rounding with a gradient: the straight-through estimator."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
import torch
from torch import Tensor

from .._rounding import round as _round
from ._words import AGRAD, array_of, signed_word, spec_of, with_use


def rounded(x: Tensor, spec: str, seed: int, stream: int, first: int) -> Tensor:
    """x rounded to a SPEC, a tensor of its own without a gradient."""
    format, mode, bits = spec_of(spec)
    array = array_of(x)
    words = {"seed": seed % 2**64, "stream": stream % 2**64, "first": first % 2**64}
    out = torch.empty(x.shape, dtype=x.dtype)
    if x.dtype in (torch.float32, torch.float64):
        _round(array, format, mode, bits=bits, out=out.numpy(), **words)  # type: ignore[arg-type]
    else:
        out.copy_(torch.from_numpy(np.array(_round(array, format, mode, bits=bits, **words), np.float32)))  # type: ignore[arg-type]
    return out


@torch.library.custom_op("ulplab::round", mutates_args=(), device_types="cpu")
def _round_op(x: Tensor, forward: str, backward: str, seed: int, stream: int, back_stream: int, first: int) -> Tensor:
    return rounded(x, forward, seed, stream, first) if forward else x.clone(memory_format=torch.contiguous_format)


@_round_op.register_fake
def _(x: Tensor, *_: Any) -> Tensor:
    return torch.empty(x.shape, dtype=x.dtype, device=x.device)


def _round_setup(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    _, _, ctx.backward, ctx.seed, _, ctx.stream, ctx.first = inputs


def _round_backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
    if ctx.backward:
        gradient = _round_op(gradient, ctx.backward, "", ctx.seed, ctx.stream, 0, ctx.first)
    return gradient, None, None, None, None, None, None


_round_op.register_autograd(_round_backward, setup_context=_round_setup)


def fake_quantize(
    x: Tensor,
    forward: Optional[str],
    backward: Optional[str] = None,
    *,
    seed: int = 0,
    stream: int = 0,
    back_stream: Optional[int] = None,
    first: int = 0,
) -> Tensor:
    """x rounded to a format; the gradient passes straight through, rounded to a format of its own.

    Args:
        x: a CPU tensor of any shape, float32, float64, float16 or bfloat16. The result has its dtype; float16 and
            bfloat16 round once more where they do not hold a value.
        forward, backward: the SPECs of x and of its gradient; None does not round.
        seed, stream, first: the random words of stochastic modes, as of :func:`ulplab.round`.
        back_stream: the stream of the gradient; None is `stream` with the use AGRAD in place of its own.

    Source: Bengio, Leonard, Courville 2013, arXiv:1308.3432 (straight-through estimator).
    """
    if not torch.compiler.is_compiling():  # the compiler cannot trace calls of C; the operation checks again
        for spec in (forward, backward):
            if spec is not None:
                spec_of(spec)
    if back_stream is None:
        back_stream = with_use(stream, AGRAD)
    words = map(signed_word, (seed, stream, back_stream, first))
    return _round_op(x, forward or "", backward or "", *words)  # type: ignore[no-any-return]
