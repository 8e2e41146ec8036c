"""Distances in units in the last place."""

import numpy as np
import pytest

import ulplab as ul


@pytest.mark.parametrize("name", ["e4m3", "bf16", "q8.0", "e8m0", "posit8", "hif8"])
def test_neighbours(name):
    f = ul.Format(name)
    values = np.asarray(f.values(), np.float64)
    values = np.unique(values[np.isfinite(values)])  # zeros of both signs are one
    shuffled = np.random.default_rng(1).permutation(len(values))
    found = ul.compare(values, values[shuffled], f)
    assert np.array_equal(found.ulps, np.abs(np.arange(len(values)) - shuffled))
    assert found.largest == found.ulps.max() and found.ulps[found.at] == found.largest
    assert sum(found.histogram().values()) == len(values)


def test_specials():
    a, b = np.array([1.0, -0.0, np.nan, np.nan, np.inf, np.inf]), np.array([1.125, 0.0, np.nan, 1.0, np.inf, -np.inf])
    found = ul.compare(a, b, "e4m3")
    assert found.ulps.tolist() == [1, 0, 0, -1, 0, -1] and (found.nan, found.inf) == (1, 1)
    assert found.largest == 1 and found.at == (0,) and found.absolute == 0.125 and found.relative == 0.125
    assert ul.compare([], [], "fp16").at is None
    assert ul.compare(np.float32(1), np.nextafter(np.float32(1), np.float32(2)), "fp32").largest == 1


def test_bad_arguments():
    with pytest.raises(ValueError, match="shapes"):
        ul.compare([1.0], [1.0, 2.0], "fp16")
    with pytest.raises(ValueError, match="element 0"):
        ul.compare([0.1], [0.1], "fp16")
