"""Scaled blocks against torchao's own functions, code by code."""

import numpy as np
import pytest

import ulplab as ul

torch = pytest.importorskip("torch")
pytest.importorskip("torchao.prototype.mx_formats")

from torchao.prototype.mx_formats.config import ScaleCalculationMode  # noqa: E402
from torchao.prototype.mx_formats.mx_tensor import to_mx  # noqa: E402
from torchao.prototype.mx_formats.nvfp4_tensor import nvfp4_quantize  # noqa: E402

RNG = np.random.default_rng(46)
ELEMENTS = {"mxfp8-e4m3": "float8_e4m3fn", "mxfp8-e5m2": "float8_e5m2", "mxfp4": "float4_e2m1fn_x2"}
RULES = {"floor": "FLOOR", "ceil": "CEIL", "even": "EVEN", "noclip": "RCEIL"}


def numbers(rows, size):
    """Blocks of many magnitudes, ties and powers of two among them, and a block of zeros."""
    x = RNG.standard_normal((rows, size)) * 2.0 ** RNG.integers(-60, 60, (rows, 1))
    x[::3] = np.round(x[::3] / np.abs(x[::3]).max(-1, keepdims=True) * 24) * 2.0 ** RNG.integers(-40, 40, (len(x[::3]), 1))
    x[1::7, 0] = 2.0 ** RNG.integers(-20, 20, len(x[1::7]))
    x[0] = 0
    return x.astype(np.float32)


def packed(codes):
    return codes[..., ::2] | codes[..., 1::2] << 4


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", ELEMENTS)
def test_mx(name, rule):
    x = numbers(4096, 32)
    scale, data = to_mx(torch.from_numpy(x), getattr(torch, ELEMENTS[name]), 32, getattr(ScaleCalculationMode, RULES[rule]))
    q = ul.quantize(x, name, scale_rule=rule)
    assert np.array_equal(np.asarray(q.scales).reshape(-1), scale.view(torch.uint8).numpy().reshape(-1))
    ours = packed(q.elements) if name == "mxfp4" else q.elements
    assert np.array_equal(ours, data.view(torch.uint8).numpy())


def test_nvfp4():
    """There a scale is at least 2^-6 (up to pull request 4598), and a number is multiplied by the reciprocal of the scale,
    so that numbers beside a tie can differ."""
    x = numbers(4096, 16)
    x *= np.float32(2.0) ** -np.round(np.log2(np.maximum(np.abs(x).max(-1, keepdims=True), np.float32(1e-30))))
    x *= np.float32(2.0) ** RNG.integers(-2, 8, (len(x), 1)).astype(np.float32)
    scale, data = nvfp4_quantize(torch.from_numpy(x))
    q = ul.quantize(x, "nvfp4", tensor_scale=1.0)
    scales, ours, theirs = np.asarray(q.scales).reshape(-1), packed(q.elements), data.view(torch.uint8).numpy()
    assert np.array_equal(np.maximum(scales, 8), scale.view(torch.uint8).numpy().reshape(-1))
    quotient = np.abs(x.astype(np.float64) / ul.decode(scales, "e4m3").reshape(-1, 1).astype(np.float64))
    middles = np.array([0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0])
    beside = np.abs(quotient[..., None] / middles - 1).min(-1) < 2.0**-22
    far = ~(beside[:, ::2] | beside[:, 1::2])
    assert np.array_equal(ours[far], theirs[far]) and far.mean() > 0.8
