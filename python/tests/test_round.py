"""Rounding: against NumPy's own casts, against other words for the same thing, and against bad arguments."""

import itertools

import numpy as np
import pytest

import ulplab as ul

ALL_BITS = np.arange(2**16, dtype=np.uint16)


def same(x, y):
    """Equal numbers of equal signs, or both NaN."""
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    return bool(np.all((np.isnan(x) & np.isnan(y)) | ((x == y) & (np.signbit(x) == np.signbit(y)))))


def some_floats(dtype, n=20000, seed=1):
    """Random bits of a dtype: every exponent, Inf and NaN."""
    width = np.dtype(dtype).itemsize
    return np.frombuffer(np.random.default_rng(seed).bytes(n * width), dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_binary16_is_numpy(dtype):
    with np.errstate(over="ignore", invalid="ignore"):
        x = some_floats(dtype)
        assert same(ul.round(x, "binary16"), x.astype(np.float16))


def test_binary32_is_numpy():
    with np.errstate(over="ignore", invalid="ignore"):
        x = some_floats(np.float64)
        assert same(ul.round(x, "binary32"), x.astype(np.float32))


def test_directed_modes_enclose():
    x = np.random.default_rng(2).standard_normal(10000).astype(np.float32)
    for name in ("e4m3", "bf16", "q8.8", "e5m2", "e3m4"):
        down, up = ul.round(x, name, "rd"), ul.round(x, name, "ru")
        assert np.all(down <= x) and np.all(x <= up)
        near = ul.round(x, name)
        assert np.all((near == down) | (near == up))
        assert np.all(np.abs(near - x) <= np.minimum(x - down, up - x))
        assert same(ul.round(x, name, "rz"), np.where(x < 0, up, down))
        odd = ul.round(x, name, "ro")
        codes = ul.encode(odd, name, None)
        assert np.all((odd == x) | (codes % 2 == 1))


@pytest.mark.parametrize("name", ["e4m3", "bf16", "fp16", "q4.4", "e8m0", "dlfloat16", "e5m2:sat", "fp24"])
def test_values_stay(name):
    f = ul.Format(name)
    values = f.values() if f.bits <= 16 else ul.round(np.linspace(-3, 3, 999), name)
    assert same(ul.round(values, name), values)
    for mode in ("rna", "rz", "ru", "rd", "ro", "sra", "srb", "src"):
        assert same(ul.round(values, f, mode, seed=3), values)


def test_dtypes_of_results():
    assert ul.round(np.float32(1.1), "e4m3").dtype == np.float32
    assert ul.round(np.float16(1.1), "e4m3").dtype == np.float16
    assert ul.round(np.float16(1.1), "bf16").dtype == np.float32  # bfloat16 has 65536, float16 has not
    assert ul.round(1.1, "e4m3").dtype == np.float64
    assert ul.round(3, "e4m3").dtype == np.float64
    assert ul.round(np.float32(1.1), "binary64").dtype == np.float64
    assert ul.round([1, 2], "q4.4").shape == (2,)


def test_shapes_and_strides():
    x = np.random.default_rng(3).standard_normal((6, 7, 8)).astype(np.float32)
    want = ul.round(x.ravel(), "e4m3").reshape(x.shape)
    for axes in itertools.permutations(range(3)):
        assert same(ul.round(x.transpose(axes), "e4m3"), want.transpose(axes))
    assert same(ul.round(x[::2, ::-1, 1:], "e4m3"), want[::2, ::-1, 1:])
    assert same(ul.round(np.broadcast_to(x[0], (4, 7, 8)), "e4m3"), np.broadcast_to(want[0], (4, 7, 8)))
    assert same(ul.round(x.astype(">f4"), "e4m3"), want)
    assert ul.round(np.zeros((0, 3), np.float32), "e4m3").shape == (0, 3)
    unaligned = np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(np.float32)
    assert same(ul.round(unaligned, "e4m3"), want.ravel())


def test_out():
    x = np.random.default_rng(4).standard_normal(1000).astype(np.float32)
    want = ul.round(x, "e4m3")
    out = np.empty_like(x)
    assert ul.round(x, "e4m3", out=out) is out and same(out, want)
    strided = np.zeros((1000, 2), np.float32)
    ul.round(x, "e4m3", out=strided[:, 0])
    assert same(strided[:, 0], want) and not strided[:, 1].any()
    overlapping = np.concatenate([x, x[:1]])
    ul.round(overlapping[:-1], "e4m3", out=overlapping[1:])
    assert same(overlapping[1:], want)
    in_place = x.copy()
    assert ul.round(in_place, "e4m3", out=in_place) is in_place and same(in_place, want)
    read_only = np.zeros(1000, np.float32)
    read_only.flags.writeable = False
    for bad, error in (
        (read_only, ValueError),
        (np.zeros(999, np.float32), ValueError),
        (np.zeros(1000), ValueError),
        ([0.0] * 1000, TypeError),
    ):
        with pytest.raises(error):
            ul.round(x, "e4m3", out=bad)


def test_read_only_input():
    x = np.linspace(0, 1, 100, dtype=np.float32)
    want = ul.round(x, "e4m3")
    x.flags.writeable = False
    assert same(ul.round(x, "e4m3"), want)


def test_stochastic_is_a_function_of_the_index():
    x = np.full(100_000, 1 + 1 / 32, np.float32)
    y = ul.round(x, "e4m3", "sr", seed=5, stream=9)
    assert same(y, ul.round(x, "e4m3", "sra", seed=5, stream=9))
    assert same(y[1000:], ul.round(x[1000:], "e4m3", "sr", seed=5, stream=9, first=1000))
    assert not same(y, ul.round(x, "e4m3", "sr", seed=6, stream=9))
    assert set(np.unique(y)) == {1.0, 1.125}
    share = np.mean(y == 1.125)  # 1/4; the deviation of a mean of 100,000 is 0.00137
    assert abs(share - 0.25) < 0.007
    threads = ul.get_threads()
    try:
        for n in (1, 2, 3):
            ul.set_threads(n)
            assert same(y, ul.round(x, "e4m3", "sr", seed=5, stream=9))
    finally:
        ul.set_threads(threads)


def test_chunks_do_not_show():
    from ulplab import _rounding

    x = np.random.default_rng(6).standard_normal(5000).astype(np.float32)
    whole = ul.round(x, "e4m3", "sr", seed=1, stats=True)
    kept = _rounding.CHUNK
    try:
        _rounding.CHUNK = 700
        parts = ul.round(x, "e4m3", "sr", seed=1, stats=True)
        sums = ul.add(x, x, "e4m3", "sr", seed=1)
    finally:
        _rounding.CHUNK = kept
    assert same(whole[0], parts[0]) and whole[1] == parts[1]
    assert same(sums, ul.add(x, x, "e4m3", "sr", seed=1))


def test_stats():
    y, counts = ul.round(np.array([1e9, -np.inf, 1e-9, 2**-8, 0, 1, np.nan], np.float32), "e4m3", stats=True)
    assert counts == ul.Stats(count=7, overflow=1, saturated=2, underflow=1, subnormal=1, zero=2, nan=1)
    assert same(y, [448, -448, 0, 2**-8, 0, 1, np.nan])


def test_overflow_policies():
    x = np.float32([1e9, -1e9])
    assert same(ul.round(x, "e4m3", overflow="nan"), [np.nan, np.nan])
    assert same(ul.round(x, "e5m2", overflow="sat"), [57344, -57344])
    assert same(ul.round(x, "e5m2"), [np.inf, -np.inf])
    assert same(ul.round(np.float32([130]), "q8.0", overflow="wrap"), [-126])


def test_stream_text_is_its_hash():
    x = np.full(100, 1.03, np.float32)
    # FNV-1a of 64 bits of "a" is af63dc4c8601ec8c
    assert same(ul.round(x, "e4m3", "sr", stream="a"), ul.round(x, "e4m3", "sr", stream=0xAF63DC4C8601EC8C))


@pytest.mark.parametrize(
    "arguments, options, error, words",
    [
        (([1.0], "e4m4x"), {}, ValueError, "e4m4x"),
        (([1.0], "fp61"), {}, ValueError, "fp16"),
        (([1.0], ""), {}, ValueError, "format"),
        (([1.0], "e12m3"), {}, ValueError, "range"),
        (([1.0], "q40.40"), {}, ValueError, "range"),
        (([1.0], "e4m3", "nearest"), {}, ValueError, "rne"),
        (([1.0], "e4m3\0"), {}, ValueError, "zero byte"),
        (([1.0], 7), {}, TypeError, "name"),
        (([1.0], "e4m3", None), {}, TypeError, "mode"),
        (([1.0], "e4m3", "sr"), {"bits": 33}, ValueError, "33"),
        (([1.0], "e4m3", "sr"), {"bits": -1}, ValueError, "-1"),
        (([1.0], "e4m3", "rne"), {"bits": 4}, ValueError, "rne"),
        (([1.0], "e4m3", "sr"), {"seed": -1}, ValueError, "seed"),
        (([1.0], "e4m3", "sr"), {"seed": 1.5}, TypeError, "seed"),
        (([1.0], "e4m3", "sr"), {"stream": 2**64}, ValueError, "stream"),
        (([1.0], "e4m3"), {"overflow": "clamp"}, ValueError, "sat"),
        (([1.0], "e4m3"), {"overflow": "wrap"}, ValueError, "wrap"),
        (([1.0], "e4m3"), {"backend": "gpu"}, ValueError, "cpu"),
        ((["a"], "e4m3"), {}, ValueError, "no number"),
        ((["1", "1\0"], "e4m3"), {}, ValueError, "no number"),
        ((["1", 2.5], "e4m3"), {}, TypeError, "dtype"),
        (("1" * 100001, "e4m3"), {}, ValueError, "100001 characters"),
        (("1", "e4m3"), {"stats": True}, ValueError, "stats"),
        ((np.ma.array([1.0]), "e4m3"), {}, TypeError, "masked"),
        (([1j], "e4m3"), {}, TypeError, "complex"),
        (([None], "e4m3"), {}, TypeError, "object"),
        (([True], "e4m3"), {}, TypeError, "bool"),
    ],
)
def test_bad_arguments(arguments, options, error, words):
    with pytest.raises(error, match=words.replace("^", r"\^")):
        ul.round(*arguments, **options)


def test_many_calls_leak_nothing():
    import resource

    x = np.ones(16, np.float32)
    for i in range(20_000):
        ul.round(x, f"e{2 + i % 5}m{1 + i % 7}ieee")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for i in range(100_000):
        ul.round(x, f"e{2 + i % 5}m{1 + i % 7}ieee")
        if i % 100 == 0:
            ul.Format("e5m7")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2000  # KiB


def test_words_are_checked_in_every_mode():
    for words, error in (({"seed": -1}, ValueError), ({"first": 2**64}, ValueError), ({"stream": 1.5}, TypeError)):
        for mode in ("rne", "sr"):
            with pytest.raises(error):
                ul.round([1.0], "e4m3", mode, **words)


def test_narrow_dtypes():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = np.float32([0.3, 448, -0.0, np.nan]).astype(ml_dtypes.float8_e4m3fn)
    y = ul.round(x, "e5m2")
    assert y.dtype == np.float32 and np.array_equal(y, ul.round(x.astype(np.float32), "e5m2"), equal_nan=True)


@pytest.mark.filterwarnings("error")
def test_signaling_nan_makes_no_warning():
    x = np.uint32([0x7F800001, 0x3F800000]).view(np.float32)
    for y in (ul.round(x, "binary64"), ul.round(x, "e4m3"), ul.add(x, 1.0, "binary64"), ul.Format("e4m3").next_up(x)):
        assert np.isnan(y[0]) and not np.isnan(y[1])
