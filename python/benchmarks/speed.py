"""speed.py - the package against the C library, ml_dtypes and PyTorch, on one thread, in one run.

The best time of several rounds; every row is a ratio of times of this run. Libraries that are missing are left out.
"""

from __future__ import annotations

import ctypes
import time
from typing import Callable

import numpy as np

import ulplab as ul
from ulplab._arrays import address
from ulplab._library import call
from ulplab._products import datapath_of
from ulplab._rounding import rule_of

N = 4_000_000
SIZE = 512


def best(f: Callable[[], object], rounds: int = 9) -> float:
    """The least time of f in seconds."""
    least = float("inf")
    for _ in range(rounds):
        begin = time.perf_counter()
        f()
        least = min(least, time.perf_counter() - begin)
    return least


def row(what: str, seconds: float, beside: str, other: float) -> None:
    print(f"{what:<40} {seconds * 1e3:9.3f} ms   {beside:<28} {other * 1e3:9.3f} ms   ratio {other / seconds:7.2f}")


def rounding() -> None:
    x = np.random.default_rng(1).standard_normal(N).astype(np.float32)
    out = np.empty_like(x)
    rule = rule_of("e4m3", "rne", 0, None, None)
    to, source = address(out), address(x)
    ours = best(lambda: ul.round(x, "e4m3", out=out))
    row(f"round {N} float32 to e4m3", ours, "the C library", best(lambda: call.round(rule.address, to, source, N)))
    row(f"round {N} float32 to e4m3", ours, "with a new array", best(lambda: ul.round(x, "e4m3")))
    try:
        import ml_dtypes

        there = best(lambda: x.astype(ml_dtypes.float8_e4m3fn).astype(np.float32), 3)
        row(f"round {N} float32 to e4m3", ours, "ml_dtypes, there and back", there)
    except ImportError:
        pass
    try:
        import torch

        torch.set_num_threads(1)
        tensor = torch.from_numpy(x)
        there = best(lambda: tensor.to(torch.float8_e4m3fn).to(torch.float32))
        row(f"round {N} float32 to e4m3", ours, "PyTorch, there and back", there)
    except ImportError:
        pass


def codes() -> None:
    """Codes and values of arrays of 2^20 elements, and MX blocks."""
    x = np.random.default_rng(4).standard_normal(1 << 20).astype(np.float32)
    kinds = {
        "fp16": ("float16", "float16"),
        "bf16": ("bfloat16", "bfloat16"),
        "e4m3": ("float8_e4m3fn", "float8_e4m3fn"),
        "e5m2": ("float8_e5m2", "float8_e5m2"),
        "e2m1": ("float4_e2m1fn", None),
    }
    for name, (of_ml_dtypes, of_torch) in kinds.items():
        stored = ul.encode(x, name)
        to_codes = best(lambda name=name: ul.encode(x, name))
        to_values = best(lambda name=name, stored=stored: ul.decode(stored, name))
        try:
            import ml_dtypes

            dtype = np.float16 if name == "fp16" else getattr(ml_dtypes, of_ml_dtypes)
            theirs, who = x.astype(dtype), "NumPy" if name == "fp16" else "ml_dtypes"
            assert np.array_equal(theirs.view(stored.dtype), stored)
            row(f"encode 2^20 float32 to {name}", to_codes, who, best(lambda dtype=dtype: x.astype(dtype), 3))
            row(f"decode 2^20 codes of {name}", to_values, who, best(lambda theirs=theirs: theirs.astype(np.float32), 3))
        except ImportError:
            pass
        try:
            import torch

            if of_torch is None:
                continue
            tensor, kind = torch.from_numpy(x), getattr(torch, of_torch)
            cast = tensor.to(kind)
            row(f"encode 2^20 float32 to {name}", to_codes, "PyTorch", best(lambda kind=kind: tensor.to(kind)))
            row(f"decode 2^20 codes of {name}", to_values, "PyTorch", best(lambda cast=cast: cast.to(torch.float32)))
        except ImportError:
            pass
    blocks = x.reshape(-1, 32)
    for name, element in (("mxfp8", "float8_e4m3fn"), ("mxfp4", "float4_e2m1fn_x2")):
        q = ul.quantize(blocks, name)
        try:
            import torch
            from torchao.prototype.mx_formats.mx_tensor import to_dtype, to_mx

            tensor, kind = torch.from_numpy(blocks), getattr(torch, element)
            scales, data = to_mx(tensor, kind, 32)
            here, back = best(lambda name=name: ul.quantize(blocks, name)), best(q.dequantize)
            row(f"quantize 2^20 float32 to {name}", here, "torchao", best(lambda kind=kind: to_mx(tensor, kind, 32), 3))
            there = best(lambda data=data, scales=scales, kind=kind: to_dtype(data, scales, kind, 32, torch.float32), 3)
            row(f"dequantize 2^20 elements of {name}", back, "torchao", there)
        except ImportError:
            pass


def overhead() -> None:
    one = np.ones(1, np.float32)
    calls = 20_000

    def many() -> None:
        for _ in range(calls):
            ul.round(one, "e4m3")

    print(f"round one float32 to e4m3: {best(many) / calls * 1e6:.2f} microseconds a call")


def products() -> None:
    a = ul.round(np.random.default_rng(2).standard_normal((SIZE, SIZE)).astype(np.float32), "fp16")
    out = np.empty((SIZE, SIZE), np.float32)
    shape = (ctypes.c_uint64 * 9)(SIZE, SIZE, SIZE, SIZE, SIZE, SIZE, 0, 0, 0)
    at, to = address(a), address(out)
    for name in ("fp32", "h100-fp16", "serial:fp16:rne"):
        of = datapath_of(name)._handle.address
        here = best(lambda name=name: ul.matmul(a, a, name))
        in_c = best(lambda of=of: call.gemm(of, None, to, at, at, shape, 0, None, None, 0, 0, 0))
        row(f"matmul {SIZE} under {name}", here, "the C library", in_c)


if __name__ == "__main__":
    ul.set_threads(1)
    overhead()
    rounding()
    codes()
    products()
