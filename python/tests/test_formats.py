"""Formats: parameters, values and codes, against NumPy and against each other."""

import numpy as np
import pytest

import ulplab as ul

SMALL = [row.name for row in ul.formats() if ul.Format(row.name).bits <= 16]


def test_parameters():
    f = ul.Format("e4m3")
    assert (f.bits, f.prec, f.bias, f.emin, f.emax, f.qmin) == (8, 4, 7, -6, 8, -9)
    assert (f.max, f.lowest, f.min_normal, f.min_positive) == (448.0, -448.0, 2.0**-6, 2.0**-9)
    assert f.has_inf is False and f.nan_codes == "all ones" and f.overflow == "sat" and f.max_code == 0x7E
    q = ul.Format("q8.8")
    assert q.is_fixed and q.frac_bits == 8 and q.lowest == -128.0 and q.max == 128 - 2.0**-8
    assert ul.Format("bf16") == ul.Format("bfloat16") and hash(ul.Format("bf16")) == hash(ul.Format("bfloat16"))
    assert ul.Format("half").name == "binary16"


def test_float16_is_binary16():
    codes = ul.Format("binary16").codes()
    numbers = codes.view(np.float16)
    values = ul.decode(codes, "binary16")
    assert np.array_equal(values, numbers.astype(np.float32), equal_nan=True)
    finite = ~np.isnan(numbers)
    assert np.array_equal(ul.encode(numbers, "binary16", None)[finite], codes[finite])
    assert ul.encode(np.float32([1.0]), "fp16", as_dtype=True).dtype == np.float16


@pytest.mark.parametrize("name", SMALL)
def test_codes_and_values(name):
    f = ul.Format(name)
    codes = f.codes()
    values = ul.decode(codes, f)
    numbers = ~np.isnan(values)
    again = ul.encode(values[numbers], f, None)
    assert np.array_equal(ul.decode(again, f), values[numbers])
    assert np.array_equal(again[values[numbers] != 0], codes[numbers][values[numbers] != 0])
    ascending = f.values()
    assert np.all(np.diff(ascending) > 0) and ascending[-1] == f.max and ascending[0] == f.lowest
    up = f.next_up(ascending[:-1])
    assert np.array_equal(up, ascending[1:])
    assert np.array_equal(f.next_down(ascending[1:]), ascending[:-1])
    if f.has_neg_zero:
        assert np.signbit(ul.decode(ul.encode(-0.0, f), f))


def test_wide_formats():
    x = np.random.default_rng(1).standard_normal(1000)
    assert np.array_equal(ul.encode(x, "binary64"), x.view(np.uint64))
    assert np.array_equal(ul.decode(x.view(np.uint64), "binary64"), x)
    y = x.astype(np.float32)
    assert np.array_equal(ul.encode(y, "binary32"), y.view(np.uint32))
    assert np.array_equal(ul.Format("binary64").spacing(x), np.spacing(np.abs(x)))


def test_bad_codes():
    for codes, error in (([256], ValueError), ([-1], ValueError), ([1.5], TypeError), (["a"], TypeError)):
        with pytest.raises(error):
            ul.decode(codes, "e4m3")
    with pytest.raises(ValueError, match="element 1"):
        ul.encode([1.0, 1.01], "e4m3", None)
    with pytest.raises(ValueError, match="NaN"):
        ul.encode([np.nan], "e2m1")
    with pytest.raises(ValueError, match="2\\^32"):
        ul.Format("binary32").codes()


def test_dtypes_are_formats():
    assert ul.Format(np.float16).name == "binary16" and ul.Format("float32").name == "binary32"
    assert ul.Format("float8_e4m3fn").name == "e4m3" and ul.Format(np.dtype("f8")).name == "binary64"
    assert ul.round(1.1, np.float16) == np.float16(1.1)
    assert ul.Format(np.int8).name == "q8.0" and ul.Format(np.dtype("int16")).name == "q16.0"
    with pytest.raises(ValueError, match="complex"):
        ul.Format(np.complex64)
    for bad in (None, object(), 7):
        with pytest.raises(TypeError, match=type(bad).__name__):
            ul.Format(bad)


def test_objects_are_pickled():
    import copy
    import pickle

    f, d, q = ul.Format("e4m3:inf"), ul.Datapath("h100-fp16"), ul.quantize(np.ones((2, 32)), "mxfp4:ceil")
    for of in (f, d, q.block):
        assert pickle.loads(pickle.dumps(of)).name == of.name and copy.deepcopy(of).name == of.name
    assert np.array_equal(pickle.loads(pickle.dumps(q)).dequantize(), q.dequantize())
    assert "448" in str(ul.Format("e4m3"))


def test_nothing_has_no_codes():
    assert ul.decode([], "e4m3").shape == (0,) and ul.encode([], "e4m3").dtype == np.uint8
