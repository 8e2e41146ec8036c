"""ulplab for PyTorch: rounding and sums of products in networks, with gradients, on CPU tensors without copies.

A SPEC is a text as in the policies of the command line: FORMAT[/MODE[/BITS]]. Examples are "e4m3", "e5m2:sat",
"bf16/sr" and "fp16/sr/8". The operations are registered with `torch.library`, so that `torch.compile` takes them.

Random words are a function of (seed, stream, index). :func:`stream_id` makes the stream of a rounding point, a layer
and a step as the trainings of ulplab do.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any, Callable, Optional, Union

import numpy as np

try:
    import torch
    import torch.nn.functional as functional
    from torch import Tensor, nn
    from torch.nn.utils import parametrize
except ImportError as error:
    raise ImportError("ulplab.torch needs PyTorch 2.4 or later (pip install torch)") from error

from ._products import datapath_of
from ._products import matmul as _matmul
from ._rounding import round as _round
from ._rounding import rule_of

# rounding points and uses of ulp_stream_id, sim/policy.h
WEIGHT, ACT, WGRAD, AGRAD, STATE, MASTER = range(6)
FORWARD, BACKWARD, WPRODUCT, BPRODUCT = 16, 18, 19, 20


def stream_id(use: int, layer: int = 0, step: int = 0, *, lane: int = 0, evaluation: bool = False) -> int:
    """The number of the random stream of a rounding point or product, a layer and a step.

    The bits, from the top: evaluation (1), use (7), layer (16), lane (12), step (28).
    """
    return (
        int(evaluation) << 63 | (use & 0x7F) << 56 | (layer & 0xFFFF) << 40 | (lane & 0xFFF) << 28 | (step & 0xFFFFFFF)
    )


# ---- specs ----


@lru_cache(maxsize=1024)
def _spec(spec: str) -> tuple[str, str, int]:
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


def _words(number: int) -> int:
    """An unsigned number of 64 bits as the signed number that an operation of PyTorch takes."""
    number %= 2**64
    return number - 2**64 if number >= 2**63 else number


def _numpy(x: Tensor) -> Any:
    """A CPU tensor as an array, without a copy for float32."""
    x = x.detach()
    return (x if x.dtype in (torch.float32, torch.float64, torch.float16) else x.float()).numpy()


def _rounded(x: Tensor, spec: str, seed: int, stream: int, first: int) -> Tensor:
    format, mode, bits = _spec(spec)
    array = _numpy(x)
    words = {"seed": seed % 2**64, "stream": stream % 2**64, "first": first % 2**64}
    out = torch.empty(x.shape, dtype=x.dtype)
    if x.dtype in (torch.float32, torch.float64):
        _round(array, format, mode, bits=bits, out=out.numpy(), **words)  # type: ignore[arg-type]
    else:
        out.copy_(torch.from_numpy(np.array(_round(array, format, mode, bits=bits, **words), np.float32)))  # type: ignore[arg-type]
    return out


# ---- rounding ----


@torch.library.custom_op("ulplab::round", mutates_args=(), device_types="cpu")
def _round_op(x: Tensor, forward: str, backward: str, seed: int, stream: int, back_stream: int, first: int) -> Tensor:
    return _rounded(x, forward, seed, stream, first) if forward else x.clone(memory_format=torch.contiguous_format)


@_round_op.register_fake
def _(x: Tensor, forward: str, backward: str, seed: int, stream: int, back_stream: int, first: int) -> Tensor:
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
                _spec(spec)
    if back_stream is None:
        back_stream = stream & ~(0x7F << 56) | AGRAD << 56
    return _round_op(  # type: ignore[no-any-return]
        x, forward or "", backward or "", _words(seed), _words(stream), _words(back_stream), _words(first)
    )


# ---- products ----


@torch.library.custom_op("ulplab::matmul", mutates_args=(), device_types="cpu")
def _matmul_op(
    a: Tensor, b: Tensor, c: Optional[Tensor], forward: str, backward: str, cast: str, seed: int, stream: int
) -> Tensor:
    start = None if c is None else _numpy(c)
    y = _matmul(_numpy(a), _numpy(b), forward, start, cast=cast or None, seed=seed % 2**64, stream=stream % 2**64)
    return torch.from_numpy(y).to(a.dtype)


@_matmul_op.register_fake
def _(
    a: Tensor, b: Tensor, c: Optional[Tensor], forward: str, backward: str, cast: str, seed: int, stream: int
) -> Tensor:
    batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])  # type: ignore[no-untyped-call]
    return torch.empty((*batch, a.shape[-2], b.shape[-1]), dtype=a.dtype, device=a.device)


def _matmul_setup(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    a, b, c, _, ctx.backward, ctx.cast, ctx.seed, ctx.stream = inputs
    ctx.save_for_backward(a, b)
    ctx.c_shape = None if c is None else c.shape


def _start_gradient(ctx: Any, gradient: Tensor) -> Tensor:
    """The gradient of start values; of a bias: sums of rows or columns of `gradient`, as products with ones.

    A bias has the shape (n) or (m, 1); start values of another shape are summed by PyTorch.
    """
    m, n = gradient.shape[-2:]
    stream = _words(ctx.stream & ~(0x7F << 56) | BPRODUCT << 56)
    if gradient.dim() == 2 and ctx.c_shape == (n,):
        rows, columns = torch.ones((1, m), dtype=gradient.dtype), gradient
    elif gradient.dim() == 2 and ctx.c_shape == (m, 1) and n > 1:
        rows, columns = torch.ones((1, n), dtype=gradient.dtype), gradient.transpose(0, 1)
    else:
        return gradient.sum_to_size(ctx.c_shape)
    sums = _matmul_op(rows, columns, None, ctx.backward, ctx.backward, ctx.cast, ctx.seed, stream)
    return sums.reshape(ctx.c_shape)  # type: ignore[no-any-return]


def _matmul_backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
    a, b = ctx.saved_tensors
    gradient = gradient.contiguous()

    def product(x: Tensor, y: Tensor, use: int) -> Tensor:
        stream = _words(ctx.stream & ~(0x7F << 56) | use << 56)
        return _matmul_op(  # type: ignore[no-any-return]
            x, y, None, ctx.backward, ctx.backward, ctx.cast, ctx.seed, stream
        )

    of_a = of_b = of_c = None
    if ctx.needs_input_grad[0]:
        of_a = product(gradient, b.transpose(-1, -2), BACKWARD).sum_to_size(a.shape)
    if ctx.needs_input_grad[1]:
        of_b = product(a.transpose(-1, -2), gradient, WPRODUCT).sum_to_size(b.shape)
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
    return _matmul_op(a, b, c, datapath, back, cast or "", _words(seed), _words(stream))  # type: ignore[no-any-return]


def linear(x: Tensor, weight: Tensor, bias: Optional[Tensor] = None, datapath: str = "fp32", **options: Any) -> Tensor:
    """x weight^T + bias under a datapath; the bias is the start value of the sums.

    Args:
        x: (..., in). weight: (out, in). bias: (out). Other arguments: see :func:`matmul`.
    """
    rows = x.reshape(-1, x.shape[-1])
    y = matmul(rows, weight.transpose(0, 1), datapath, bias, **options)
    return y.reshape(*x.shape[:-1], weight.shape[0])


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
    **options: Any,
) -> Tensor:
    """A convolution as a product of matrices (im2col) under a datapath; the bias is the start value of the sums.

    Args:
        x: (B, in, h, w). weight: (out, in / groups, K, L). Other arguments: see `torch.nn.functional.conv2d` and
            :func:`matmul`. A sum runs over in / groups, then over the rows and columns of the kernel.
    """
    if isinstance(padding, str):
        raise ValueError(f"padding is {padding!r}; give numbers")
    B = x.shape[0]
    sizes = weight.shape[2:]
    pairs = [
        tuple(value) if isinstance(value, (tuple, list)) else (value,) * 2 for value in (stride, padding, dilation)
    ]
    out = [(x.shape[2 + i] + 2 * pairs[1][i] - pairs[2][i] * (sizes[i] - 1) - 1) // pairs[0][i] + 1 for i in range(2)]
    parts = []
    for group, w in enumerate(weight.chunk(groups)):
        inputs = x.chunk(groups, 1)[group]
        columns = functional.unfold(inputs, sizes, dilation=pairs[2], padding=pairs[1], stride=pairs[0])
        flat = columns.permute(1, 0, 2).reshape(columns.shape[1], -1)
        start = None if bias is None else bias.chunk(groups)[group].reshape(-1, 1)
        y = matmul(w.reshape(w.shape[0], -1), flat, datapath, start, **options)
        parts.append(y.reshape(w.shape[0], B, *out).transpose(0, 1))
    return torch.cat(parts, 1) if groups > 1 else parts[0].contiguous()


# ---- modules ----


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
                _spec(spec)
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
            its place among them.
        policy: a :class:`Policy` or its text, as "mixed:e4m3,agrad=e5m2/sr" or "weight=bf16,acc=h100-bf16".
        seed: of all random words. The words of a rounding belong to (step, layer, tensor).

    Returns:
        A handle whose `remove()` takes the policy off.
    """
    state = _State(Policy.parse(policy) if isinstance(policy, str) else policy, seed)
    p = state.policy
    layers = [module for module in model.modules() if not list(module.children())]

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


# ---- optimizers ----


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
            _spec(spec)
    steps = 0

    def put(tensor: Tensor, spec: str, use: int, number: int, lane: int) -> None:
        with torch.no_grad():
            tensor.copy_(_rounded(tensor, spec, seed, stream_id(use, number, steps, lane=lane), 0))

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
