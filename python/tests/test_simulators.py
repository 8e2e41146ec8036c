"""QPyTorch (qtorch), pychop and microxcaling: where they agree, and the known differences, each with its cause.

A difference that a test here names is a row of the table in README.md. A new one fails.
"""

import os

import numpy as np
import pytest
from comparing import middles, same

import ulplab as ul

# ---- QPyTorch: float_quantize(x, exponent bits, fraction bits), on float32 ----

QTORCH = {"e4m3ieee": (4, 3), "e5m2": (5, 2), "binary16": (5, 10), "bfloat16": (8, 7)}


@pytest.fixture(scope="module")
def qtorch():
    pytest.importorskip("torch")
    pytest.importorskip("qtorch")
    try:  # the import compiles its kernels
        from qtorch import quant
    except (ImportError, RuntimeError, OSError) as failure:
        pytest.skip(f"qtorch does not build here: {failure}")
    return quant


def _by_qtorch(quant, x, name, rounding="nearest"):
    import torch

    return quant.float_quantize(torch.from_numpy(x.copy()), *QTORCH[name], rounding=rounding).numpy()


@pytest.mark.parametrize("name", QTORCH)
def test_qtorch_values(qtorch, name):
    values = np.asarray(ul.Format(name).values(), np.float32)
    values = values[np.isfinite(values)]
    assert (_by_qtorch(qtorch, values, name) == values).all()


@pytest.mark.parametrize("name", QTORCH)
def test_qtorch_rounds_ties_away(qtorch, name):
    """Known difference: "nearest" sends ties away from zero, as rna; IEEE 754-2019, 4.3.1 sends them to even."""
    f = ul.Format(name)
    ties = middles(f).astype(np.float32)
    theirs = _by_qtorch(qtorch, ties, name)
    assert np.array_equal(theirs, ul.round(ties, f, "rna"))
    differ = theirs != ul.round(ties, f)
    assert abs(differ.mean() - 0.5) < 0.02 and np.all(ul.encode(ul.round(ties, f), f) % 2 == 0)


@pytest.mark.parametrize("name", ["e4m3ieee", "e5m2", "binary16"])
def test_qtorch_rounds_subnormal_results_twice(qtorch, name):
    """Known difference: below the least normal number the largest float32 below a tie goes up, as the tie does."""
    f = ul.Format(name)
    low = middles(f)
    low = low[(low > 0) & (low < 2.0**f.emin)].astype(np.float32)
    x = np.nextafter(low, np.float32(0))
    theirs, ours = _by_qtorch(qtorch, x, name), ul.round(x, f)
    wrong = theirs != ours
    assert wrong.all() and np.all(np.abs(ours - x) < np.abs(theirs - x))
    normal = np.nextafter(middles(f)[middles(f) > 2.0**f.emin].astype(np.float32), np.float32(0))
    assert np.array_equal(_by_qtorch(qtorch, normal, name), ul.round(normal, f))


def test_qtorch_has_no_infinity_and_no_nan(qtorch):
    """Known difference: the exponent field of infinity and NaN holds numbers, and NaN is rounded to the largest one."""
    x = np.float32([65504, 65519, 65520, 70000, 1e6, np.inf, -np.inf, np.nan])
    theirs = _by_qtorch(qtorch, x, "binary16")
    assert theirs[2] == 65536 and theirs[4] == 131008 and theirs[5] == 131008 and theirs[7] == 131008
    assert same(ul.round(x, "binary16"), [65504, 65504, np.inf, np.inf, np.inf, np.inf, -np.inf, np.nan]).all()
    assert _by_qtorch(qtorch, np.float32([1e6]), "e4m3ieee")[0] == 480 and ul.Format("e4m3").max == 448


@pytest.mark.parametrize("word,fraction,name", [(8, 4, "q4.4"), (8, 7, "q1.7"), (16, 8, "q8.8"), (4, 0, "q4.0")])
def test_qtorch_fixed_point(qtorch, word, fraction, name):
    import torch

    f = ul.Format(name)
    middle = middles(f).astype(np.float32)
    x = np.concatenate([f.values(), middle, np.float32([-1e9, 1e9, np.inf, -np.inf])]).astype(np.float32)
    theirs = qtorch.fixed_point_quantize(torch.from_numpy(x), word, fraction, rounding="nearest").numpy()
    assert np.array_equal(theirs, ul.round(x, f))


def test_qtorch_stochastic(qtorch):
    """Both go up with the probability of the discarded fraction; here the same seed gives the same bits anywhere."""
    import torch

    torch.manual_seed(1)
    x = np.full(200_000, 1 + 2.0**-5, np.float32)  # a quarter of e4m3's spacing above 1
    theirs = _by_qtorch(qtorch, x, "e4m3ieee", "stochastic")
    ours = ul.round(x, "e4m3ieee", "sr", seed=1)
    for result in (theirs, ours):
        assert set(np.unique(result)) == {1.0, 1.125} and abs((result > 1).mean() - 0.25) < 0.005
    assert np.array_equal(ours[1000:], ul.round(x[1000:], "e4m3ieee", "sr", seed=1, first=1000))


# ---- pychop: Chop(exponent bits, fraction bits, rmode)(x), on float64 ----

PYCHOP = {"e5m2": (5, 2), "binary16": (5, 10), "bfloat16": (8, 7), "binary32": (8, 23)}
PYCHOP_MODES = {"rne": 1, "ru": 2, "rd": 3, "rz": 4}


@pytest.fixture(scope="module")
def pychop():
    before = os.environ.get("chop_backend")
    found = pytest.importorskip("pychop")
    found.backend("numpy")
    yield found
    if before is None:
        os.environ.pop("chop_backend", None)
    else:
        os.environ["chop_backend"] = before


def _parts(f):
    """Numbers just below ties, the ties, numbers just above, and values; of a format of at most 16 bits."""
    middle = middles(f)
    values = np.asarray(f.values(), np.float64)
    return middle * (1 - 2.0**-40), middle, middle * (1 + 2.0**-40), values[np.isfinite(values)]


@pytest.mark.parametrize("name", ["e5m2", "binary16", "bfloat16"])
def test_pychop(pychop, name):
    """Equal within the range, but for the sign of a zero, which pychop drops."""
    f = ul.Format(name)
    x = np.concatenate(_parts(f))
    for mode, rmode in PYCHOP_MODES.items():
        assert np.array_equal(pychop.Chop(*PYCHOP[name], rmode=rmode)(x), ul.round(x, f, mode)), mode
    zero = np.float64([-0.0, -(2.0 ** (f.qmin - 3))])
    assert not np.signbit(pychop.Chop(*PYCHOP[name])(zero)[0]) and np.signbit(ul.round(zero, f)).all()


@pytest.mark.parametrize("name", ["e5m2", "binary16", "bfloat16"])
def test_pychop_ties_away(pychop, name):
    """Known difference: mode 8 takes what is within 10^-6 spacings of a tie for the tie, and sends negative ties up.

    IEEE 754-2019, 4.3.1, roundTiesToAway: the nearest value; of two, the one of larger magnitude.
    """
    f = ul.Format(name)
    below, tie, above, values = _parts(f)
    chop = pychop.Chop(*PYCHOP[name], rmode=8)
    upper = ul.round(tie, f, "ru")
    for x in (below, tie, above):
        assert np.array_equal(chop(x), upper)
    assert np.array_equal(chop(values), values)
    assert np.array_equal(np.abs(ul.round(below, f, "rna")), np.abs(ul.round(tie, f, "rz")))
    for x in (tie, above):
        assert np.array_equal(ul.round(x, f, "rna"), np.where(tie > 0, upper, ul.round(tie, f, "rd")))


def test_pychop_overflows_to_a_number_and_to_zero(pychop):
    """Known difference: above the range 65536, which binary16 lacks, then 0; IEEE 754-2019, 7.4 asks for infinity."""
    x = np.float64([65504, 65519, 65520, 70000, 131000, 1e6])
    assert np.array_equal(pychop.Chop(5, 10)(x), [65504, 65504, 65536, 0, 0, np.inf])
    assert np.array_equal(ul.round(x, "binary16"), [65504, 65504, np.inf, np.inf, np.inf, np.inf])


@pytest.mark.parametrize("name", ["e5m2", "binary16"])
def test_pychop_changes_values_in_round_to_odd(pychop, name):
    """Known difference: mode 9 moves values of the format that are even, though a value is not rounded."""
    f = ul.Format(name)
    values = np.asarray(f.values(), np.float64)
    values = values[np.isfinite(values) & (values > 0)]
    theirs = pychop.Chop(*PYCHOP[name], rmode=9)(values)
    even = ul.encode(values, f) % 2 == 0
    assert np.all(theirs[even] != values[even]) and np.array_equal(ul.round(values, f, "ro"), values)


def test_pychop_binary64(pychop):
    """Known difference: a binary64 number just below a power of two is no number of pychop's binary64."""
    x = np.nextafter(np.exp2(np.arange(-14.0, 16.0)), 0)
    with np.errstate(over="ignore"):
        theirs = pychop.Chop(11, 52)(x)
    assert np.sum(theirs != x) > len(x) // 2 and np.array_equal(ul.round(x, "binary64"), x)


def test_pychop_fixed_point(pychop):
    f = ul.Format("q4.4")
    x = np.concatenate([middles(f), f.values(), [-9.0, 8.5]])
    assert np.array_equal(pychop.Chopf(4, 4)(x), ul.round(x, f))


BLOCKS = {
    "mxfp8-e4m3": "mxfp8_e4m3",
    "mxfp8-e5m2": "mxfp8_e5m2",
    "mxfp6-e3m2": "mxfp6_e3m2",
    "mxfp6-e2m3": "mxfp6_e2m3",
    "mxfp4": "mxfp4_e2m1",
    "mxint8": "mxint8",
}


@pytest.mark.parametrize("name", BLOCKS)
def test_pychop_blocks(pychop, name):
    x = np.random.default_rng(4).standard_normal((50, 32)).astype(np.float32)
    theirs = np.stack([pychop.mx_quantize(row, format=BLOCKS[name]) for row in x])
    assert np.array_equal(ul.quantize(x, name, scale_rule="floor").dequantize(), theirs)


# ---- microxcaling: quantize_mx of Microsoft; a checkout of it is on PYTHONPATH ----

ELEMENTS = {
    "mxfp8-e4m3": "fp8_e4m3",
    "mxfp8-e5m2": "fp8_e5m2",
    "mxfp6-e3m2": "fp6_e3m2",
    "mxfp6-e2m3": "fp6_e2m3",
    "mxfp4": "fp4_e2m1",
    "mxint8": "int8",
}


@pytest.fixture(scope="module")
def mx_ops():
    pytest.importorskip("torch")
    return pytest.importorskip("mx.mx_ops")


def _by_microxcaling(mx_ops, x, name, rounding):
    import torch

    of = {"axes": [-1], "block_size": 32, "round": rounding}
    return mx_ops._quantize_mx(torch.from_numpy(x.copy()), 8, ELEMENTS[name], **of).numpy()


@pytest.mark.parametrize("name", ELEMENTS)
def test_microxcaling(mx_ops, name):
    rng = np.random.default_rng(5)
    x = rng.standard_normal((500, 32)) * np.exp2(rng.integers(-100, 100, (500, 1)))
    x = x.astype(np.float32)
    ours = ul.quantize(x, name, scale_rule="floor").dequantize()
    assert np.array_equal(_by_microxcaling(mx_ops, x, name, "even"), ours)


@pytest.mark.parametrize("name", ELEMENTS)
def test_microxcaling_nearest_is_ties_away(mx_ops, name):
    """Known difference: its default "nearest" is rna; its "even" is rne, the default of IEEE 754-2019, 4.3.3."""
    f = ul.Format(ul.Block(name).element)
    ties = middles(f).astype(np.float32)
    ties = ties[np.abs(ties) <= f.max]
    rows = np.zeros((-(-len(ties) // 31), 32), np.float32)
    rows[:, 0] = f.max  # the scale is that of the largest element
    rows[:, 1:].flat[: len(ties)] = ties
    for rounding, mode in (("nearest", "rna"), ("even", "rne")):
        ours = ul.quantize(rows, name, scale_rule="floor", mode=mode).dequantize()
        assert np.array_equal(_by_microxcaling(mx_ops, rows, name, rounding), ours)
    assert not np.array_equal(
        ul.quantize(rows, name, scale_rule="floor", mode="rna").dequantize(),
        ul.quantize(rows, name, scale_rule="floor").dequantize(),
    )


@pytest.mark.parametrize("name", ELEMENTS)
def test_microxcaling_takes_too_large_a_scale(mx_ops, name):
    """Known difference: the largest float32 below 2^k has the exponent k there, by a logarithm in float32."""
    k = 20
    row = np.zeros((1, 32), np.float32)
    row[0, :5] = np.float32([1, 0.3, 0.07, -0.6, 0.011]) * np.float32(2.0**k)
    row[0, 0] = np.nextafter(row[0, 0], np.float32(0))
    q = ul.quantize(row, name, scale_rule="floor")
    emax = int(np.floor(np.log2(ul.Format(q.block.element).max)))
    assert q.scale_values()[0, 0] == 2.0 ** (k - 1 - emax)  # floor(log2(amax)) - emax, OCP MX v1.0, 6.3
    theirs = _by_microxcaling(mx_ops, row, name, "even")
    assert not np.array_equal(theirs, q.dequantize()) and theirs[0, 0] == 2.0**k
    doubled = 2 * ul.quantize(row / 2, name, scale_rule="floor", mode="rne").dequantize()
    assert np.array_equal(doubled, q.dequantize())
