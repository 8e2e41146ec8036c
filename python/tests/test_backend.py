"""backend="cuda": the bytes of the CPU, on the library with the emulated CUDA device (ULPLAB_EMULATED) or on a GPU."""

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest

import ulplab as ul


def results(backend):
    """Names and digests of results: rounding of both widths, products, a training."""
    rng = np.random.default_rng(1)
    x = (1000 * rng.standard_normal(5000)).astype(np.float32)
    a, b = (ul.round(rng.standard_normal(shape), "fp16") for shape in ((33, 70), (70, 21)))
    every = {}
    for name, mode in (("e4m3", "rne"), ("bf16", "sr"), ("q8.8", "rd"), ("fp24", "ru")):
        every[name] = ul.round(x, name, mode, seed=1, backend=backend)
    every["float64"] = ul.round(x.astype(np.float64) / 3, "fp16", "sr", bits=4, seed=1, backend=backend)
    for path in ("fp32", "h100-fp16", "serial:bf16:sr"):
        every[path] = ul.matmul(a, b, path, seed=3, backend=backend)
    run = ul.train("conv3@3 relu fc10", "mixed:fp16/sr,acc=h100-fp16", steps=4, scaler="pytorch", backend=backend)
    every["training"] = run.weights
    return [f"{name} {hashlib.sha256(np.ascontiguousarray(y).tobytes()).hexdigest()}" for name, y in every.items()]


def test_emulated_device():
    library = os.environ.get("ULPLAB_EMULATED")
    if not library:
        pytest.skip("ULPLAB_EMULATED names no library")
    done = subprocess.run(
        [sys.executable, __file__], env={**os.environ, "ULPLAB_LIBRARY": library}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == results(None)


def test_device():
    try:
        ul.round([1.0], "e4m3", backend="cuda")
    except ul.DeviceError as error:
        pytest.skip(f"no device: {error}")
    assert results("cuda") == results(None)


if __name__ == "__main__":
    print(*results("cuda"), sep="\n")
