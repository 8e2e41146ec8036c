"""Texts and words that the operations share: specs, streams, tensors as arrays."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from .._rounding import rule_of

# rounding points and uses of ulp_stream_id, sim/policy/policy.h
WEIGHT, ACT, WGRAD, AGRAD, STATE, MASTER = range(6)
FORWARD, BACKWARD, WPRODUCT, BPRODUCT = 16, 18, 19, 20


def stream_id(use: int, layer: int = 0, step: int = 0, *, lane: int = 0, evaluation: bool = False) -> int:
    """The number of the random stream of a rounding point or product, a layer and a step.

    The bits, from the top: evaluation (1), use (7), layer (16), lane (12), step (28).
    """
    return (
        int(evaluation) << 63 | (use & 0x7F) << 56 | (layer & 0xFFFF) << 40 | (lane & 0xFFF) << 28 | (step & 0xFFFFFFF)
    )


def with_use(stream: int, use: int) -> int:
    """A stream with another use."""
    return signed_word(stream & ~(0x7F << 56) | use << 56)


def with_lane(stream: int, lane: int) -> int:
    """A stream, whose lane is 0, with another lane."""
    return signed_word(stream + (lane << 28))


@lru_cache(maxsize=1024)
def spec_of(spec: str) -> tuple[str, str, int]:
    """The format, mode and random bits of a SPEC; ValueError if it is none."""
    parts = spec.split("/")
    if len(parts) > 3 or not parts[0]:
        raise ValueError(f"{spec!r} is not FORMAT[/MODE[/BITS]]")
    mode = parts[1] if len(parts) > 1 else "rne"
    if len(parts) == 3 and not parts[2].isdigit():
        raise ValueError(f"{spec!r}: random bits are 1 to 32, not {parts[2]!r}")
    bits = int(parts[2]) if len(parts) == 3 else 0
    rule = rule_of(parts[0], mode, bits, None, None)
    if not rule.narrow:
        raise ValueError(f"{spec!r}: tensors of float32 do not hold the values of {rule.format.name}")
    return parts[0], mode, bits


def signed_word(number: int) -> int:
    """An unsigned number of 64 bits as the signed number that an operation of PyTorch takes."""
    number %= 2**64
    return number - 2**64 if number >= 2**63 else number


def array_of(x: Tensor) -> Any:
    """A CPU tensor as an array, without a copy for float32."""
    x = x.detach()
    return (x if x.dtype in (torch.float32, torch.float64, torch.float16) else x.float()).numpy()
