"""Optimizers that keep their tensors in a format."""

from __future__ import annotations

from typing import Any, Callable, Optional

import torch
from torch import Tensor

from ._rounding import rounded
from ._words import MASTER, STATE, spec_of, stream_id


def quantize_optimizer(
    optimizer: torch.optim.Optimizer, state: Optional[str] = None, *, weights: Optional[str] = None, seed: int = 0
) -> Callable[[], None]:
    """Rounds what an optimizer keeps, in place, after every step.

    Args:
        optimizer: any optimizer of PyTorch on CPU tensors.
        state: the SPEC of moments and other state tensors of the shape of a parameter.
        weights: the SPEC of the parameters: training without master weights.
        seed: of the random words, which belong to (step, parameter, tensor).

    Returns:
        A function that takes the rounding off.
    """
    for spec in (state, weights):
        if spec is not None:
            spec_of(spec)
    steps = 0

    def put(tensor: Tensor, spec: str, use: int, number: int, lane: int) -> None:
        with torch.no_grad():
            tensor.copy_(rounded(tensor, spec, seed, stream_id(use, number, steps, lane=lane), 0))

    def after(of: torch.optim.Optimizer, *_: Any) -> None:
        nonlocal steps
        parameters = [parameter for group in of.param_groups for parameter in group["params"]]
        for number, parameter in enumerate(parameters):
            kept = of.state.get(parameter, {})
            for lane, key in enumerate(sorted(kept)):
                value = kept[key]
                if state is not None and isinstance(value, Tensor) and value.shape == parameter.shape:
                    put(value, state, STATE, number, lane)
            if weights is not None:
                put(parameter, weights, MASTER, number, 0)
        steps += 1

    return optimizer.register_step_post_hook(after).remove
