"""Arithmetic: each operation against an exact computation with fractions, rounded by the definition."""

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
