"""Sums of products: shapes and layouts, Tensor Core rows, sums in an order against a loop."""

import numpy as np
import pytest

import ulplab as ul

RNG = np.random.default_rng(11)


def values(*shape, format="fp16"):
    return ul.round(RNG.standard_normal(shape).astype(np.float32), format)


def test_serial_is_a_loop():
    a, b = values(5, 33), values(33, 4)
    for name, mode in (("fp16", "rne"), ("bf16", "rz"), ("e5m2", "ru")):
        want = np.zeros((5, 4), np.float32)
        for k in range(33):
            want = ul.fma(a[:, k : k + 1], b[k], want, name, mode)
        assert np.array_equal(ul.matmul(a, b, f"serial:{name}:{mode}"), want)


def test_layouts():
    a, b = values(2, 3, 7, 16), values(3, 16, 5)
    for path in ("h100-fp16", "serial:fp16:rne", "fp32", "exact:fp32:rne"):
        want = ul.matmul(a, b, path)
        assert want.shape == (2, 3, 7, 5)
        for i in range(2):
            for j in range(3):
                assert np.array_equal(want[i, j], ul.matmul(a[i, j], b[j], path))
        assert np.array_equal(want, ul.matmul(np.swapaxes(a, -1, -2), b, path, transpose_a=True))
        assert np.array_equal(want, ul.matmul(a, np.swapaxes(b, -1, -2), path, transpose_b=True))
        assert np.array_equal(want, ul.matmul(np.asfortranarray(a), b[:, ::1], path))
        assert np.array_equal(want[0, 0, 2, 3], ul.dot(a[0, 0, 2], b[0, :, 3], path))


def test_start_values():
    a, b, c = values(4, 8), values(8, 3), values(4, 3, format="binary32")
    got = ul.matmul(a, b, "h100-fp16", c)
    for i in range(4):
        for j in range(3):
            assert got[i, j] == ul.dot(a[i], b[:, j], "h100-fp16", c[i, j])
    assert np.signbit(ul.dot([-0.0], [1.0], "serial:fp16:rne", -0.0))
    assert not np.signbit(ul.dot([-0.0], [1.0], "serial:fp16:rne"))


def test_known_results_of_tensor_cores():
    """Fasi et al. 2021: an H100 keeps 25 bits below the exponent of the largest product, an A100 keeps 24."""
    a, b = [1, -1, 2**-10, 2**-10], [1, 1, 2**-15, 2**-15]
    assert ul.dot(a, b, "a100-fp16") == 0.0
    assert ul.dot(a, b, "h100-fp16") == 2.0**-24
    assert ul.dot(a, b, "exact:fp32:rne") == 2.0**-24


def test_results_that_need_binary64():
    a = np.full((1, 400), 127.0)
    result = ul.matmul(a, a.T, "int8")
    assert result.dtype == np.float64 and result[0, 0] == 400 * 127**2


def test_parts_of_k():
    """split-k=N:FORMAT: N parts of ceil(k / N) products, added in float32, then c, then the result's rounding."""
    a, b, c = values(4, 33), values(33, 5), values(4, 5)
    for form, parts, format in (("serial:fp16:rne", 4, "fp16"), ("exact:fp32:rne", 3, "bf16"), ("fp32", 50, "fp32")):
        most = -(-33 // min(parts, 33))
        total = np.zeros((4, 5), np.float32)
        for first in range(0, 33, most):
            total += ul.round(ul.matmul(a[:, first : first + most], b[first : first + most], form), format)
        d = ul.Datapath(f"{form}:split-k={parts}:{format}")
        assert np.array_equal(ul.matmul(a, b, d, c), ul.round(total + c, d.result))
    with pytest.raises(ValueError, match="from 1 to 65536"):
        ul.Datapath("fp32:split-k=0:fp16")


def test_integers_with_zero_points():
    """ONNX MatMulInteger: the sum of (a - a_zero_point)(b - b_zero_point) in int32."""
    for name, low_a, low_b in (("uint8", 0, 0), ("uint8.int8", 0, -128), ("int8.uint8", -128, 0), ("int8", -128, -128)):
        a = RNG.integers(low_a, low_a + 256, (3, 70))
        b = RNG.integers(low_b, low_b + 256, (70, 4))
        za, zb = low_a + 200, low_b + 3
        got = ul.matmul(a, b, f"{name}:zero-points={za},{zb}")
        assert np.array_equal(got, (a - za) @ (b - zb))
        assert np.array_equal(ul.matmul(a, b, name), a @ b)
    with pytest.raises(ValueError, match="zero point of a"):
        ul.Datapath("uint8:zero-points=256,0")


def test_pairs_in_16_bits():
    """VPMADDUBSW: the sum of two products is clamped to int16, or wraps."""
    a, b = RNG.integers(0, 256, (3, 70)), RNG.integers(-128, 128, (70, 4))
    pairs = (a[:, :, None] * b[None]).reshape(3, 35, 2, 4).sum(axis=2)
    assert np.array_equal(ul.matmul(a, b, "maddubs-int8"), np.clip(pairs, -32768, 32767).sum(axis=1))
    assert np.array_equal(ul.matmul(a, b, "maddubs-int8-wrap"), ((pairs + 32768) % 65536 - 32768).sum(axis=1))
    assert (np.abs(pairs) > 32767).any()


def test_stochastic_sums_do_not_depend_on_the_call():
    from ulplab import _products

    a, b = values(9, 40), values(40, 6)
    whole = ul.matmul(a, b, "serial:fp16:sr", seed=3)
    kept = _products._PRODUCTS
    try:
        _products._PRODUCTS = 500
        parts = ul.matmul(a, b, "serial:fp16:sr", seed=3)
    finally:
        _products._PRODUCTS = kept
    assert np.array_equal(whole, parts)
    d = ul.Datapath("serial:fp16:sr")
    assert d.stochastic and d.words(40) == 40
    assert np.array_equal(whole[2:3], ul.matmul(a[2:3], b, d, seed=3, first=2 * 6 * 40))
    stacked = ul.matmul(np.stack([a, a]), b, d, seed=3)
    assert np.array_equal(stacked[0], whole) and not np.array_equal(stacked[1], whole)


def test_block_scales():
    d = ul.Datapath("b200-e2m1-mxf4")
    assert d.scale == "e8m0" and d.scale_block == 32
    x, y = RNG.standard_normal((2, 4, 64)).astype(np.float32)
    q, r = ul.quantize(x, "mxfp4"), ul.quantize(y, "mxfp4")
    got = ul.matmul(
        ul.decode(q.elements, "e2m1"),
        ul.decode(r.elements, "e2m1"),
        d,
        transpose_b=True,
        a_scales=q.scale_values(),
        b_scales=r.scale_values(),
    )
    exact = q.dequantize().astype(np.float64) @ r.dequantize().astype(np.float64).T
    assert np.allclose(got, exact, rtol=2**-20, atol=1e-6)


def test_rows():
    names = ul.datapaths()
    assert "h100-fp16" in names and len(names) > 50
    for name in names:
        d = ul.Datapath(name)
        assert d.a is not None and d.step >= 1
        one = np.ones((1, d.step), np.float32)
        assert ul.matmul(one, one, d, transpose_b=True)[0, 0] == d.step


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda: ul.matmul(np.ones((2, 3)), np.ones((4, 2))), ValueError, "3 products"),
        (lambda: ul.matmul(np.ones(3), np.ones((3, 2))), ValueError, "dimensions"),
        (lambda: ul.matmul(np.ones((2, 3)), np.ones((3, 2)), "h101-fp16"), ValueError, "h101|row|name"),
        (lambda: ul.matmul(np.full((1, 1), 1.03125), np.ones((1, 1)), "h100-e4m3"), ValueError, "a: element 0.*cast"),
        (lambda: ul.matmul(np.ones((1, 1)), [[1.0], [1.03125]], "h100-e4m3"), ValueError, "products"),
        (lambda: ul.matmul(np.ones((1, 2)), [[1.0], [1.03125]], "h100-e4m3"), ValueError, "b: element 1.*cast"),
        (lambda: ul.matmul(np.full((1, 1), 1 + 1e-12), np.ones((1, 1)), "h100-e4m3"), ValueError, "float32"),
        (lambda: ul.matmul([[1.0]], [[1.0]], "serial:fp16:rne", [[1.0001220703125]]), ValueError, "c: element 0"),
        (lambda: ul.matmul(np.full((1, 1), 0.1), np.ones((1, 1)), "fp32"), ValueError, "float32"),
        (lambda: ul.matmul(np.ones((1, 1)), np.ones((1, 1)), "fp32", np.ones((2, 2))), ValueError, "c has shape"),
        (lambda: ul.matmul(np.ones((1, 1)), np.ones((1, 1)), "fp32", a_scales=[[1.0]]), ValueError, "scales"),
        (lambda: ul.matmul(np.ones((1, 1)), np.ones((1, 1)), out=np.ones((2, 2), np.float32)), ValueError, "shape"),
        (lambda: ul.matmul(np.ones((1, 1)), np.ones((1, 1)), 5), TypeError, "datapath"),
        (lambda: ul.dot(np.ones((1, 1)), np.ones(1)), ValueError, "vectors"),
    ],
)
def test_bad_arguments(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_cast():
    a = np.full((1, 1), 1.01)
    assert ul.matmul(a, np.ones((1, 1)), "h100-e4m3", cast="rne")[0, 0] == 1.0


def test_empty():
    assert ul.matmul(np.ones((0, 3)), np.ones((3, 2))).shape == (0, 2)
    assert np.array_equal(ul.matmul(np.ones((2, 0)), np.ones((0, 2))), np.zeros((2, 2)))


def test_probe_finds_the_row():
    for name, bits, length in (("h100-fp16", "25", "16"), ("a100-fp16", "24", "8"), ("v100-fp16", "23", "4")):
        report = ul.probe(lambda a, b, c, name=name: ul.dot(a, b, name, c))
        assert report["F products"].value == bits and report["L"].value == length
        assert report["rounding"].value == "rz" and report.runs > 100 and "F products" in str(report)
    serial = ul.probe(lambda a, b, c: ul.dot(a, b, "serial:binary32:rne", c))
    assert serial["L"].value == "1" and serial["rounding"].value == "rne"


def test_probe_of_sums_that_add_c_last():
    def rounded(a, b, c):
        sum = np.float32(0)
        for x, y in zip(a, b):
            sum += x * y
        return sum + c

    def carried(a, b, c):
        return np.float32(np.sum(a.astype(np.float64) * b.astype(np.float64))) + c

    with np.errstate(all="ignore"):
        for f, between in ((rounded, "rounded"), (carried, "carried on")):
            report = ul.probe(f)
            assert report["c"].value == "added last" and report["between sums"].value == between
            assert report["rounding"].value == report["rounding of c"].value == "rne"


def test_probe_raises_what_the_function_raises():
    def fails(a, b, c):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        ul.probe(fails)
    with pytest.raises(KeyboardInterrupt):
        ul.probe(lambda a, b, c: (_ for _ in ()).throw(KeyboardInterrupt()))
    with pytest.raises(ValueError, match="shape"):
        ul.probe(lambda a, b, c: np.ones(2))


def test_probe_wants_numbers():
    for result in (None, "1", [1, 2]):
        with pytest.raises((TypeError, ValueError), match="f returned"):
            ul.probe(lambda a, b, c, result=result: result)


def test_cast_without_input_formats():
    a = RNG.standard_normal((3, 3))
    assert np.array_equal(ul.matmul(a, a, cast="rne"), ul.matmul(a.astype(np.float32), a.astype(np.float32)))
