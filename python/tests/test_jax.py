"""The page jax.md: its code runs, and its results are those of NumPy arrays."""

import re
from pathlib import Path

import numpy as np
import pytest

import ulplab as ul

jax = pytest.importorskip("jax")
PAGE = Path(__file__).resolve().parent.parent / "jax.md"


def test_page():
    if not PAGE.exists():
        pytest.skip("outside of the source tree")
    names = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S):
        exec(block, names)
    w, x = np.asarray(names["w"]), np.asarray(names["x"])
    wq, xq = ul.round(w, "e4m3"), ul.round(x, "e4m3")
    y = ul.matmul(xq, wq, "h100-e4m3")
    assert np.isclose(float(names["value"]), np.maximum(y, 0).sum(), rtol=1e-6)
    back = (y > 0).astype(np.float32)
    want = ul.round(ul.matmul(xq.T, back, "h100-e4m3", cast="rne"), "e5m2")
    assert np.array_equal(np.asarray(names["gradient"]), want)
    batch = np.stack([x, -x])
    mapped = jax.vmap(lambda a: names["fake_quantize"](a, "e4m3", "e5m2"))(batch)
    assert np.array_equal(np.asarray(mapped), ul.round(batch, "e4m3"))
