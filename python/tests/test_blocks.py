"""Block-scaled formats: the definition of OCP MX and NVFP4, computed by NumPy."""

import numpy as np
import pytest

import ulplab as ul

RNG = np.random.default_rng(13)


@pytest.mark.parametrize("name", ["mxfp8-e4m3", "mxfp8-e5m2", "mxfp6-e2m3", "mxfp6-e3m2", "mxfp4"])
def test_mx_is_its_definition(name):
    """OCP MX v1.0, section 6.3: the scale is 2^(floor(log2 amax) - emax); elements are rounded and clamped."""
    x = (RNG.standard_normal((7, 96)) * 10.0 ** RNG.integers(-6, 6, (7, 96))).astype(np.float32)
    q = ul.quantize(x, name)
    element = ul.Format(q.block.element)
    rows = x.reshape(7, 3, 32).astype(np.float64)
    scale = 2.0 ** (np.floor(np.log2(np.abs(rows).max(-1, keepdims=True))) - element.emax)
    want = ul.round(rows / scale, element, overflow="sat") * scale
    assert np.array_equal(q.dequantize(), want.reshape(x.shape).astype(np.float32))
    assert np.array_equal(q.scale_values(), scale[..., 0])


def test_nvfp4():
    x = RNG.standard_normal((3, 40)).astype(np.float32)
    q = ul.quantize(x, "nvfp4")
    assert q.block.size == 16 and q.scales.shape == (3, 3)
    assert q.tensor_scale == np.float32(np.abs(x).max() / np.float64(6 * 448))
    assert ul.quantize(x, "nvfp4", tensor_scale=1.0).tensor_scale == 1.0
    assert np.abs(q.dequantize() - x).max() < 0.2 * np.abs(x).max()


def test_axes_and_packing():
    x = RNG.standard_normal((4, 33, 5)).astype(np.float32)
    q = ul.quantize(x, "mxfp4", axis=1)
    assert q.elements.shape == (4, 5, 33) and q.scales.shape == (4, 5, 2) and q.dequantize().shape == x.shape
    last = ul.quantize(np.moveaxis(x, 1, -1), "mxfp4")
    assert np.array_equal(q.elements, last.elements)
    assert np.array_equal(q.dequantize(), np.moveaxis(last.dequantize(), -1, 1))
    packed = q.packed()
    assert packed.shape == (4, 5, 17) and repr(q) == "<Quantized mxfp4, elements of shape (4, 5, 33), axis 1>"
    assert np.array_equal(packed[..., :16] & 15, q.elements[..., 0:32:2])
    assert np.array_equal(packed[..., :16] >> 4, q.elements[..., 1:32:2])
    assert np.array_equal(packed[..., 16], q.elements[..., 32])


def test_rules_and_words():
    x = np.float32([[7.9] + [0.1] * 31])
    assert ul.quantize(x, "mxfp4").dequantize()[0, 0] == 6.0
    assert ul.quantize(x, "mxfp4", scale_rule="noclip").dequantize()[0, 0] == 8.0
    assert ul.quantize(x, ul.Block("mxfp4:ceil")).block.rule == "ceil"
    y = RNG.standard_normal((1, 64)).astype(np.float32)
    one, two = (ul.quantize(y, "mxfp4", mode="sr", seed=s).elements for s in (1, 2))
    assert not np.array_equal(one, two)
    assert np.array_equal(one, ul.quantize(y, "mxfp4", mode="sr", seed=1).elements)


def test_special_values():
    x = np.float32([np.nan, np.inf, -np.inf, 0, -0.0, 1])
    assert np.isnan(ul.quantize(x, "mxfp8-e4m3").dequantize()[0])
    assert np.all(np.isnan(ul.quantize(x, "mxfp4").dequantize()))
    assert ul.quantize(np.zeros((2, 0), np.float32), "mxfp4").dequantize().shape == (2, 0)


def test_bad_arguments():
    for call, error in (
        (lambda: ul.quantize(1.0, "mxfp4"), ValueError),
        (lambda: ul.quantize([1.0], "mxfp5"), ValueError),
        (lambda: ul.quantize([1.0], "mxfp4", axis=1), ValueError),
        (lambda: ul.quantize([1.0], "mxfp4", scale_rule="round"), ValueError),
        (lambda: ul.quantize([1.0], "nvfp4", tensor_scale=-1.0), ValueError),
        (lambda: ul.quantize([1.0], "nvfp4", tensor_scale="max"), ValueError),
        (lambda: ul.quantize([1.0], 4), TypeError),
    ):
        with pytest.raises(error):
            call()


@pytest.mark.parametrize("mode", ["rne", "rna", "rz", "ru", "rd", "ro"])
def test_float64_is_rounded_once(mode):
    """Numbers beside ties and beside powers of two, where a rounding to float32 first gives another result."""
    element = ul.Format("e4m3")
    values = np.asarray(element.values(), np.float64)
    values = values[np.isfinite(values)]
    ties = (values[1:] + values[:-1]) / 2
    beside = np.concatenate([np.nextafter(ties, np.inf), np.nextafter(ties, -np.inf)])
    rows = np.zeros((-(-len(beside) // 31), 32))
    rows[:, 0] = np.nextafter(512.0, 0)  # the scale is 1, though this number is 512 in float32
    rows[:, 1:].flat[: len(beside)] = beside
    q = ul.quantize(rows, "mxfp8-e4m3", mode=mode)
    assert np.all(q.scale_values() == 1.0)
    assert np.array_equal(q.dequantize(), ul.round(rows, element, mode, overflow="sat"))
    assert not np.array_equal(q.elements, ul.quantize(rows.astype(np.float32), "mxfp8-e4m3", mode=mode).elements)


def test_more_bad_arguments():
    assert ul.quantize([1e300, 1.0], "mxfp4").elements.tolist() == [7, 0]
    with pytest.raises(ValueError, match="noclip"):
        ul.quantize([1.0], "mxfp4", scale_rule="foo")
    assert ul.quantize([1.0], "mxfp4:noclip", scale_rule="ceil").block.rule == "ceil"
    for bad in (0, -1, np.nan, np.inf):
        with pytest.raises(ValueError, match="tensor_scale"):
            ul.quantize([1.0], "nvfp4", tensor_scale=bad)


def test_sizes_and_rules():
    x = RNG.standard_normal((3, 64)).astype(np.float32)
    assert ul.Block("nvfp4:32:noclip").size == 32 and ul.Block("nvfp4:32:noclip").rule == "noclip"
    assert ul.quantize(x, "mxint8:64").scales.shape == (3, 1)
    assert ul.quantize(x, "nvfp4:32", scale_rule="mse46").block.name == "nvfp4:32:mse46"
    errors = [np.square(ul.quantize(x, "nvfp4", tensor_scale=1.0, scale_rule=r).dequantize() - x).sum() for r in ("best", "mse46", "amax")]
    assert errors[0] <= errors[1] <= errors[2]
    assert ul.quantize([10.0, 20, 30, 40], "nvfp4:mse46", tensor_scale=1.0).dequantize().tolist() == [10, 20, 30, 40]


def test_tiles():
    """The tiles of the transpose are the transposed tiles; a tile has the scale of its numbers in a row."""
    x = RNG.standard_normal((40, 70)).astype(np.float32)
    for name in ("nvfp4", "nvfp4:mse46", "mxfp4:8", "nvint4:best"):
        q = ul.quantize(x, name, tiles=True)
        assert np.array_equal(q.dequantize().T, ul.quantize(x.T, name, tiles=True).dequantize())
        size = ul.Block(name).size
        assert q.scales.shape == (-(-40 // size), -(-70 // size))
        if name.startswith("nvfp4"):
            row = ul.quantize(x[:size, :size].reshape(-1), "nvfp4:256" + name[5:], tensor_scale=q.tensor_scale)
            assert np.array_equal(row.dequantize().reshape(size, size), q.dequantize()[:size, :size])
    with pytest.raises(ValueError):
        ul.quantize(x, "nvfp4", tiles=True, per=16)
    with pytest.raises(ValueError):
        ul.quantize(x, "nvfp4", tiles=True, axis=0)


def test_hadamard():
    """Against the matrix of Sylvester; the inverse gives integers back."""
    h = np.ones((1, 1))
    while len(h) < 16:
        h = np.block([[h, h], [h, -h]])
    x = RNG.integers(-99, 99, (5, 32)).astype(np.float32)
    te = np.array([1, 1, 1, -1, 1, -1, -1, -1, -1, -1, -1, 1, -1, 1, -1, -1])
    want = (x.reshape(5, 2, 16) * te) @ h / 4
    assert np.array_equal(ul.hadamard(x, 16, signs="te"), want.reshape(5, 32))
    assert np.array_equal(ul.hadamard(x.T, 16, axis=0), ((x.reshape(5, 2, 16) @ h) / 4).reshape(5, 32).T)
    y = ul.hadamard(x, 16, signs="gradient", seed=3)
    assert np.array_equal(ul.hadamard(y, 16, signs="gradient", seed=3, inverse=True), x)
    assert np.array_equal(ul.hadamard(x, 32, format="bf16"), ul.round(ul.hadamard(x, 32), "bf16"))
    for bad in (3, 512, 64):
        with pytest.raises(ValueError):
            ul.hadamard(x, bad)
    with pytest.raises(ValueError):
        ul.hadamard(x, 32, signs="te")
