"""Arithmetic: each operation against an exact computation with fractions, rounded by the definition."""

import math
from fractions import Fraction

import numpy as np
import pytest

import ulplab as ul


def nearest(exact, values):
    """The value nearest to an exact number; None for a tie. `values` ascend."""
    at = np.searchsorted(values, float(exact))
    around = sorted(values[max(at - 2, 0) : at + 2], key=lambda v: abs(Fraction(float(v)) - exact))
    distances = [abs(Fraction(float(v)) - exact) for v in around[:2]]
    return None if distances[0] == distances[1] else float(around[0])


@pytest.mark.parametrize("name", ["e4m3", "e3m2", "q4.4", "fp16"])
def test_against_fractions(name):
    f = ul.Format(name)
    rng = np.random.default_rng(7)
    values = f.values()
    inner = values[(np.abs(values) < np.sqrt(f.max) / 2)]
    a, b, c = (rng.choice(inner, 300) for _ in range(3))
    cases = (
        (ul.add(a, b, f), lambda x, y, z: x + y),
        (ul.sub(a, b, f), lambda x, y, z: x - y),
        (ul.mul(a, b, f), lambda x, y, z: x * y),
        (ul.fma(a, b, c, f), lambda x, y, z: x * y + z),
        (ul.div(a, b, f), lambda x, y, z: x / y if y else None),
    )
    checked = 0
    for result, exact_of in cases:
        for x, y, z, r in zip(a, b, c, result):
            exact = exact_of(Fraction(float(x)), Fraction(float(y)), Fraction(float(z)))
            want = None if exact is None or abs(exact) > f.max else nearest(exact, values)
            if want is not None:
                assert r == want
                checked += 1
    assert checked > 700


def test_binary32_and_binary64_are_numpy():
    rng = np.random.default_rng(8)
    x, y = rng.standard_normal((2, 5000))
    for dtype, name in ((np.float32, "binary32"), (np.float64, "binary64")):
        a, b = x.astype(dtype), y.astype(dtype)
        assert np.array_equal(ul.add(a, b, name), a + b)
        assert np.array_equal(ul.sub(a, b, name), a - b)
        assert np.array_equal(ul.mul(a, b, name), a * b)
        assert np.array_equal(ul.div(a, b, name), a / b)
        assert np.array_equal(ul.sqrt(np.abs(a), name), np.sqrt(np.abs(a)))


def test_broadcasting_and_dtypes():
    a, b = np.ones((3, 1), np.float32), np.arange(4, dtype=np.float32)
    assert ul.add(a, b, "e4m3").shape == (3, 4) and ul.add(a, b, "e4m3").dtype == np.float32
    assert ul.add(a, 0.1, "e4m3").dtype == np.float32
    assert ul.add(a, np.float64(0.1), "e4m3").dtype == np.float64
    assert ul.add(1.0, 2.0, "e4m3") == 3.0 and np.ndim(ul.add(1.0, 2.0, "e4m3")) == 0
    out = np.empty((3, 4), np.float32)
    assert ul.mul(a, b, "e4m3", out=out) is out and np.array_equal(out, a * b)
    for call, error in (
        (lambda: ul.add(np.ones(3), np.ones(4), "e4m3"), ValueError),
        (lambda: ul.add(1.0, 2.0, "e4m3", round="up"), TypeError),
        (lambda: ul.add("1", 2.0, "e4m3"), TypeError),
        (lambda: ul.sqrt(1.0, "e4m3x"), ValueError),
    ):
        with pytest.raises(error):
            call()


def test_stagnation():
    """100 + 0.01, a hundred times: binary16 stays at 100 to nearest; stochastic rounding moves."""
    total, moved = 100.0, 100.0
    for i in range(100):
        total = ul.add(total, 0.01, "fp16")
        moved = ul.add(moved, 0.01, "fp16", "sr", seed=1, first=i)
    assert total == 100.0 and 100.0 < moved < 103.0


FUNCTIONS = {
    "exp": math.exp,
    "log": math.log,
    "sin": math.sin,
    "cos": math.cos,
    "tanh": math.tanh,
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "gelu": lambda x: x * math.erfc(-x / math.sqrt(2)) / 2,
    "gelu_tanh": lambda x: x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2,
    "silu": lambda x: x / (1 + math.exp(-x)),
    "softplus": lambda x: math.log1p(math.exp(x)),
    "exp2": lambda x: 2.0**x,
    "log2": math.log2,
    "rsqrt": lambda x: 1 / math.sqrt(x),
    "reciprocal": lambda x: 1 / x,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    """All numbers of e5m2 and a sample of binary16 between 2^-9 and 8: the binary64 result, which is within 2^-40 of the
    exact one, rounds to the same number unless a middle of two numbers is as near."""
    function = getattr(ul, name)
    for format in ("e5m2", "fp16"):
        x = ul.Format(format).values()
        x = x[(np.abs(x) > 2**-9) & (np.abs(x) < 8)][:: 1 if format == "e5m2" else 37]
        x = x[x > 0] if name in ("log", "log2", "rsqrt") else x
        near = np.array([FUNCTIONS[name](float(v)) for v in x])
        low, high = (ul.round(near * (1 + e), format) for e in (-(2**-40), 2**-40))
        got = function(x, format)
        sure = low == high
        assert sure.sum() > 0.9 * x.size and np.array_equal(got[sure], low[sure])
        up, down = function(x, format, "ru"), function(x, format, "rd")
        assert np.all(down <= got) and np.all(got <= up) and np.all(down <= near + np.abs(near) * 2**-40)


def test_functions_at_the_ends():
    assert ul.exp(0.0, "fp16") == 1 and ul.log(1.0, "bf16") == 0 and ul.exp2(-24, "fp16") == 2**-24
    assert np.isnan(ul.log(-1.0, "fp16")) and ul.rsqrt(-0.0, "fp32") == -np.inf and np.signbit(ul.silu(-np.inf, "fp16"))
    nearest = float(np.float32(math.e))
    assert ul.exp(np.float32(1), "fp32", "ru") == nearest + (nearest < math.e) * 2**-22
    a = ul.tanh(np.linspace(-3, 3, 1000), "e4m3", "sr", seed=1)
    assert np.array_equal(a[300:], ul.tanh(np.linspace(-3, 3, 1000)[300:], "e4m3", "sr", seed=1, first=300))
    with pytest.raises(ValueError, match="wrap-around"):
        ul.exp(1.0, "q8.8:wrap")
