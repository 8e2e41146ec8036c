"""Policies of models: where a model rounds, and how its products are formed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Callable, Optional, Union

from torch import Tensor, nn
from torch.nn.utils import parametrize

from .._products import datapath_of
from ._convolution import conv2d
from ._products import linear
from ._rounding import fake_quantize
from ._words import ACT, AGRAD, FORWARD, WEIGHT, WGRAD, spec_of, stream_id


@dataclass(frozen=True)
class Policy:
    """Where a model rounds, and how its products are formed. None: as PyTorch does.

    Attributes:
        weight: the SPEC of weights and biases where a layer computes with them. act: of inputs of the model and
            outputs of layers. wgrad, agrad: of the gradients of weights and of activations.
        fwd, bwd: the datapaths of forward and backward products of linear layers and convolutions. cast: the mode that
            rounds operands to the input formats of a Tensor Core.
    """

    weight: Optional[str] = None
    act: Optional[str] = None
    wgrad: Optional[str] = None
    agrad: Optional[str] = None
    fwd: Optional[str] = None
    bwd: Optional[str] = None
    cast: Optional[str] = None

    def __post_init__(self) -> None:
        for spec in (self.weight, self.act, self.wgrad, self.agrad):
            if spec is not None:
                spec_of(spec)
        for path in (self.fwd, self.bwd):
            if path is not None:
                datapath_of(path)
        if self.bwd is not None and self.fwd is None:
            raise ValueError(f"bwd is {self.bwd!r} without fwd")

    @staticmethod
    def parse(text: str) -> Policy:
        """The policy that a text describes: "mixed:FORMAT", then key=value pairs between commas.

        mixed:FORMAT is weight, act, wgrad and agrad at once; the keys are the attributes; acc is fwd and bwd at once.

        Raises:
            ValueError: a key is unknown, or a value is no SPEC or datapath.
        """
        policy = Policy()
        for i, word in enumerate(text.split(",")):
            key, equal, value = word.partition("=")
            if i == 0 and not equal and word.startswith("mixed:"):
                spec = word[len("mixed:") :]
                policy = Policy(weight=spec, act=spec, wgrad=spec, agrad=spec)
            elif equal and key in ("weight", "act", "wgrad", "agrad", "fwd", "bwd", "cast"):
                policy = replace(policy, **{key: value})
            elif equal and key == "acc":
                policy = replace(policy, fwd=value, bwd=value)
            else:
                raise ValueError(
                    f"no policy {text!r}: {word!r} is neither mixed:FORMAT at the beginning nor one of weight=, act=, "
                    "wgrad=, agrad=, fwd=, bwd=, acc=, cast="
                )
        return policy


@dataclass
class _State:
    """What the hooks of one model share."""

    policy: Policy
    seed: int
    step: int = 0
    evaluation: bool = False
    removers: list[Callable[[], Any]] = field(default_factory=list)

    def stream(self, use: int, layer: int, lane: int = 0) -> int:
        return stream_id(use, layer, self.step, lane=lane, evaluation=self.evaluation)


class _Weight(nn.Module):
    """The rounding of a weight or a bias, as a parametrization."""

    def __init__(self, state: _State, layer: int, lane: int) -> None:
        super().__init__()
        self.state, self.layer, self.lane = state, layer, lane

    def forward(self, weight: Tensor) -> Tensor:
        state, policy = self.state, self.state.policy
        to, back = (state.stream(use, self.layer, self.lane) for use in (WEIGHT, WGRAD))
        return fake_quantize(weight, policy.weight, policy.wgrad, seed=state.seed, stream=to, back_stream=back)


class Quantized:
    """A model under a policy; see :func:`quantize_module`.

    Attributes:
        policy: the policy. step: the number of the training step, which every forward pass in training mode counts up.
    """

    def __init__(self, state: _State) -> None:
        self._state = state

    @property
    def policy(self) -> Policy:
        return self._state.policy

    @property
    def step(self) -> int:
        return self._state.step

    @step.setter
    def step(self, step: int) -> None:
        self._state.step = step

    def remove(self) -> None:
        """Gives the model back its own arithmetic."""
        while self._state.removers:
            self._state.removers.pop()()


def quantize_module(model: nn.Module, policy: Union[str, Policy], *, seed: int = 0) -> Quantized:
    """Puts a policy on a model, by hooks: weights, activations, gradients, and the products of its layers.

    Args:
        model: any module on the CPU. Its leaves are the layers, in the order of `model.modules()`; a layer's number is
            its place among them. Flatten, Unflatten and Identity change no value and are no layers, as in `ul.train`.
        policy: a :class:`Policy` or its text, as "mixed:e4m3,agrad=e5m2/sr" or "weight=bf16,acc=h100-bf16".
        seed: of all random words. The words of a rounding belong to (step, layer, tensor).

    Returns:
        A handle whose `remove()` takes the policy off.
    """
    state = _State(Policy.parse(policy) if isinstance(policy, str) else policy, seed)
    p = state.policy
    shapes = (nn.Flatten, nn.Unflatten, nn.Identity)
    layers = [module for module in model.modules() if not list(module.children()) and not isinstance(module, shapes)]

    def rounded(value: Any, layer: int) -> Any:
        if not isinstance(value, Tensor) or not value.is_floating_point() or (p.act is None and p.agrad is None):
            return value
        streams = {"stream": state.stream(ACT, layer), "back_stream": state.stream(AGRAD, layer)}
        return fake_quantize(value, p.act, p.agrad, seed=seed, **streams)

    def at_begin(_: nn.Module, values: tuple[Any, ...]) -> tuple[Any, ...]:
        state.evaluation = not model.training
        return tuple(rounded(value, 0) for value in values)

    def at_end(_: nn.Module, __: Any, ___: Any) -> None:
        state.step += int(model.training)

    def at_layer(number: int) -> Callable[..., Any]:
        return lambda _, __, output: rounded(output, number + 1)

    for number, layer in enumerate(layers):
        for lane, name in enumerate(("weight", "bias")):
            own = isinstance(getattr(layer, name, None), nn.Parameter)
            if own and (p.weight is not None or p.wgrad is not None):
                parametrize.register_parametrization(layer, name, _Weight(state, number, lane), unsafe=True)
                state.removers.append(partial(parametrize.remove_parametrizations, layer, name, False))
        if p.fwd is not None and isinstance(layer, (nn.Linear, nn.Conv2d)):
            layer.forward = _product_of(layer, state, number)  # type: ignore[method-assign,assignment]
            state.removers.append(partial(layer.__dict__.pop, "forward"))
        state.removers.append(layer.register_forward_hook(at_layer(number)).remove)
    state.removers.append(model.register_forward_pre_hook(at_begin).remove)
    state.removers.append(model.register_forward_hook(at_end).remove)
    return Quantized(state)


def _product_of(layer: nn.Module, state: _State, number: int) -> Callable[[Tensor], Tensor]:
    """The forward function of a linear layer or a convolution under the policy's datapaths."""
    p = state.policy
    assert p.fwd is not None

    def options() -> dict[str, Any]:
        return {
            "backward": p.bwd or p.fwd,
            "cast": p.cast,
            "seed": state.seed,
            "stream": state.stream(FORWARD, number),
        }

    result = datapath_of(p.fwd).result

    def start() -> Optional[Tensor]:
        """The bias as a value of the datapath's result format."""
        bias: Any = layer.bias
        return bias if bias is None or result == "binary32" else fake_quantize(bias, result)

    if isinstance(layer, nn.Linear):
        return lambda x: linear(x, layer.weight, start(), p.fwd or "fp32", **options())
    assert isinstance(layer, nn.Conv2d)
    if layer.padding_mode != "zeros":
        raise ValueError(f"layer {number}: padding_mode is {layer.padding_mode!r}; allowed is 'zeros'")
    shape = {"stride": layer.stride, "padding": layer.padding, "dilation": layer.dilation, "groups": layer.groups}
    return lambda x: conv2d(x, layer.weight, start(), p.fwd or "fp32", **shape, **options())  # type: ignore[arg-type]
