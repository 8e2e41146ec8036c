"""The casts of ml_dtypes, NumPy and PyTorch: every code, and random numbers. Known differences are named here.

A difference that a test here names is a row of the table in README.md. A new one fails.
"""

import numpy as np
import pytest
from comparing import same

import ulplab as ul

ML_DTYPES = {
    "bfloat16": "bfloat16",
    "e4m3": "float8_e4m3fn",
    "e4m3ieee": "float8_e4m3",
    "e5m2": "float8_e5m2",
    "e4m3fnuz": "float8_e4m3fnuz",
    "e5m2fnuz": "float8_e5m2fnuz",
    "e3m4": "float8_e3m4",
    "e8m0": "float8_e8m0fnu",
    "e2m1": "float4_e2m1fn",
    "e2m3": "float6_e2m3fn",
    "e3m2": "float6_e3m2fn",
}

#: where ml_dtypes overflows to NaN and the format's own policy here is saturation
NAN_POLICY = {"e4m3", "e4m3fnuz", "e5m2fnuz", "e8m0"}


@pytest.fixture(scope="module")
def ml_dtypes():
    return pytest.importorskip("ml_dtypes")


def dtype_of(ml_dtypes, name):
    """The dtype of a format; skips the test where this ml_dtypes has none."""
    if not hasattr(ml_dtypes, ML_DTYPES[name]):
        pytest.skip(f"this ml_dtypes has no {ML_DTYPES[name]}")
    return getattr(ml_dtypes, ML_DTYPES[name])


@pytest.mark.parametrize("name", ML_DTYPES)
def test_codes_of_ml_dtypes(ml_dtypes, name):
    dtype = dtype_of(ml_dtypes, name)
    f = ul.Format(name)
    codes = f.codes()
    theirs = codes.view(dtype).astype(np.float32)
    assert same(ul.decode(codes, f), theirs).all()
    if f.dtype is not None:
        assert same(ul.decode(codes.view(f.dtype), f), theirs).all()


@pytest.mark.parametrize("name", ML_DTYPES)
def test_float32_to_ml_dtypes(ml_dtypes, name):
    dtype = dtype_of(ml_dtypes, name)
    f = ul.Format(name)
    bits = np.frombuffer(np.random.default_rng(1).bytes(400_000), np.uint32)
    values = f.values()
    middle = ((values[1:] + values[:-1]) / 2).astype(np.float32)
    near = np.concatenate([np.nextafter(middle, np.float32(s)) for s in (-np.inf, np.inf)])
    x = np.concatenate([bits.view(np.float32), middle, near, np.float32([0, -0.0, np.inf, -np.inf, np.nan])])
    if f.has_inf is False and f.nan_codes == "none":
        x = x[np.isfinite(x)]
    if name == "e8m0":
        x = x[x > 0]
    with np.errstate(all="ignore"):
        theirs = x.astype(dtype).astype(np.float32)
    ours = ul.round(x, f, overflow="nan" if name in NAN_POLICY else None)
    if name == "e8m0":
        # known differences: ml_dtypes rounds every number between 2^-127 and 2^-126 up, and every tie up; here a tie
        # goes to the even code (IEEE P3109 interim report v4.0, section 4.6)
        low = (x > 2.0**-127) & (x < 1.5 * 2.0**-127)
        tie = np.frexp(x)[0] == 0.75
        assert low.any() and np.all(theirs[low] == 2.0**-126) and np.all(ours[low] == 2.0**-127)
        inner = tie & (x < 2.0**127)
        assert np.all(theirs[inner] == x[inner] / np.float32(0.75)) and np.all(ul.encode(ours[inner], f) % 2 == 0)
        x, ours, theirs = (of[~(low | tie)] for of in (x, ours, theirs))
    assert same(ours, theirs).all(), (x[~same(ours, theirs)][:5], ours[~same(ours, theirs)][:5])


@pytest.mark.parametrize("name", ["e4m3", "e5m2", "bfloat16", "e2m1"])
def test_ml_dtypes_rounds_float64_twice(ml_dtypes, name):
    """Known difference: ml_dtypes converts float64 through float32: beside a tie half of the results are wrong."""
    dtype = dtype_of(ml_dtypes, name)
    values = ul.Format(name).values()
    values = values[values > 0]
    ties = (values[1:] + values[:-1]) / 2
    above, below = ties * (1 + 2.0**-40), ties * (1 - 2.0**-40)
    assert np.array_equal(ul.round(above, name), values[1:])
    assert np.array_equal(ul.round(below, name), values[:-1])
    theirs = np.concatenate([above.astype(dtype).astype(np.float64), below.astype(dtype).astype(np.float64)])
    assert np.sum(theirs != np.concatenate([values[1:], values[:-1]])) == len(ties)


TORCH = {
    "bfloat16": "bfloat16",
    "binary16": "float16",
    "e5m2": "float8_e5m2",
    "e4m3": "float8_e4m3fn",
    "e4m3fnuz": "float8_e4m3fnuz",
    "e5m2fnuz": "float8_e5m2fnuz",
    "e8m0": "float8_e8m0fnu",
}


@pytest.mark.parametrize("name", TORCH)
def test_codes_of_torch(name):
    torch = pytest.importorskip("torch")
    if not hasattr(torch, TORCH[name]):
        pytest.skip(f"this PyTorch has no {TORCH[name]}")
    f = ul.Format(name)
    codes = f.codes()
    theirs = torch.from_numpy(codes.view(np.int16 if f.bits == 16 else np.uint8)).view(getattr(torch, TORCH[name]))
    assert len(codes) == 2**f.bits and same(ul.decode(codes, f), theirs.to(torch.float32).numpy()).all()


def test_torch_casts():
    torch = pytest.importorskip("torch")
    pairs = {
        "bfloat16": torch.bfloat16,
        "binary16": torch.float16,
        "e5m2": torch.float8_e5m2,
        "e4m3": torch.float8_e4m3fn,
        "e4m3fnuz": torch.float8_e4m3fnuz,
        "e5m2fnuz": torch.float8_e5m2fnuz,
    }
    x = np.frombuffer(np.random.default_rng(3).bytes(400_000), np.float32)
    for name, dtype in pairs.items():
        theirs = torch.from_numpy(x.copy()).to(dtype).to(torch.float32).numpy()
        policy = "nan" if name in NAN_POLICY else None
        if name == "e4m3" and float(torch.tensor(1e9).to(dtype).float()) == 448.0:
            policy = "sat"  # PyTorch saturates from some version on
        ours = ul.round(x, name, overflow=policy)
        different = ~same(ours, theirs)
        assert not different.any(), (name, x[different][:5], ours[different][:5], theirs[different][:5])
