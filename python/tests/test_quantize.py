"""Scaled quantisation against a second implementation in exact rationals, and against other tools' definitions."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import ulplab as ul

RNG = np.random.default_rng(46)
HALF = Fraction(1, 2)


# ---- a second implementation: numbers are Fractions, formats are written down here ----


def nearest_integer(x, mode):
    """An integer by the mode; rne, rna, rz, ru, rd, ro."""
    low = math.floor(x)
    if x == low:
        return low
    rest = x - low
    if mode == "rne":
        return low + (rest > HALF or (rest == HALF and low % 2))
    if mode == "rna":
        return low + (rest > HALF or (rest == HALF and x > 0))
    if mode == "rz":
        return low + (x < 0)
    if mode == "ro":
        return low if low % 2 else low + 1
    return low + (mode == "ru")


def exponent_of(x):
    """floor(log2 x) of x > 0."""
    e = x.numerator.bit_length() - x.denominator.bit_length()
    return e if x >= Fraction(2) ** e else e - 1


# name: significand bits, least exponent, largest value, least positive value
SCALES = {
    "binary32": (24, -126, (2 - Fraction(2) ** -23) * 2**127, Fraction(2) ** -149),
    "bf16": (8, -126, (2 - Fraction(2) ** -7) * 2**127, Fraction(2) ** -133),
    "fp16": (11, -14, Fraction(65504), Fraction(2) ** -24),
    "e8m0": (1, -127, Fraction(2) ** 127, Fraction(2) ** -127),
    "e4m3": (4, -6, Fraction(448), Fraction(2) ** -9),
    "ue5m3": (4, -14, Fraction(114688), Fraction(2) ** -17),
}
DIRECTIONS = {"amax": "rne", "even": "rne", "te": "rne", "floor": "rz", "ceil": "ru", "noclip": "ru"}


def round_scale(x, scale, mode):
    """x > 0 in the scale format, clamped to its positive values; `te` allows 0."""
    prec, emin, largest, least = SCALES[scale]
    te = mode == "te"
    mode = DIRECTIONS[mode] if mode in DIRECTIONS else mode
    if scale == "e8m0":
        e = exponent_of(x)
        low = Fraction(2) ** e
        up = x != low and (mode == "ru" or (mode == "rne" and (x / low > 3 * HALF or (x / low == 3 * HALF and e % 2 == 0))))
        return min(max(low * 2 if up else low, least), largest)  # the code e + 127 is even where e is odd
    unit = Fraction(2) ** (max(exponent_of(x), emin) - prec + 1)
    value = min(nearest_integer(x / unit, mode) * unit, largest)
    return value if te else max(value, least)


class Integers:
    def __init__(self, low, high, frac=0, emax=None):
        self.low, self.high, self.frac = low, high, frac
        self.max = Fraction(high, 2**frac)
        self.prec = high.bit_length()

    def code(self, quotient, zero, mode):
        return min(max(nearest_integer(quotient * 2**self.frac, mode) + zero, self.low), self.high)

    def value(self, code, zero):
        return Fraction(code - zero, 2**self.frac)


class Floats:
    """Codes of a sign, exponents with a bias, and fractions; the codes from `end` on are no finite numbers."""

    def __init__(self, ebits, mbits, bias, end):
        self.sign = 2 ** (ebits + mbits)
        self.values = []
        for code in range(end):
            e, m = code >> mbits, code & (2**mbits - 1)
            self.values.append(Fraction(m + (2**mbits if e else 0)) * Fraction(2) ** ((e or 1) - bias - mbits))
        self.max, self.prec = self.values[-1], mbits + 1

    def code(self, quotient, zero, mode):
        size, negative = abs(quotient), quotient < 0
        if mode in ("ru", "rd"):
            mode = "away" if (mode == "ru") != negative else "rz"
        k = max(i for i, v in enumerate(self.values) if v <= size)
        if k + 1 < len(self.values) and self.values[k] != size:
            low, high = self.values[k], self.values[k + 1]
            twice = 2 * size - low - high
            if mode == "away" or (mode == "ro" and k % 2 == 0) or (mode in ("rne", "rna") and twice > 0):
                k += 1
            elif twice == 0 and (mode == "rna" or (mode == "rne" and k % 2)):
                k += 1
        return k | (self.sign if negative else 0)

    def value(self, code, zero):
        value = self.values[code & (self.sign - 1)]
        return -value if code & self.sign else value


# bitsandbytes, functional.py: the table of NF4
NF4 = [
    -1.0,
    -0.6961928009986877,
    -0.5250730514526367,
    -0.39491748809814453,
    -0.28444138169288635,
    -0.18477343022823334,
    -0.09105003625154495,
    0.0,
    0.07958029955625534,
    0.16093020141124725,
    0.24611230194568634,
    0.33791524171829224,
    0.44070982933044434,
    0.5626170039176941,
    0.7229568362236023,
    1.0,
]


class Book:
    values = [Fraction(v) for v in NF4]
    max, prec = Fraction(1), 3

    def code(self, quotient, zero, mode):
        if quotient <= -1 or quotient >= 1:
            return 0 if quotient < 0 else 15
        k = max(i for i, v in enumerate(self.values) if v <= quotient)
        low, high = self.values[k], self.values[k + 1]
        if low == quotient:
            return k
        twice = 2 * quotient - low - high
        up = {"rz": quotient < 0, "ru": True, "rd": False, "ro": k % 2 == 0}.get(mode, twice > 0)
        if twice == 0 and mode in ("rne", "rna"):
            up = k % 2 == 1 if mode == "rne" else quotient > 0
        return k + up

    def value(self, code, zero):
        return self.values[code]


ELEMENTS = {
    "int8": Integers(-128, 127),
    "uint8": Integers(0, 255),
    "int4": Integers(-8, 7),
    "uint4": Integers(0, 15),
    "q2.6": Integers(-128, 127, 6),
    "int12": Integers(-2048, 2047),
    "e4m3": Floats(4, 3, 7, 127),
    "e5m2": Floats(5, 2, 15, 124),
    "e2m1": Floats(2, 1, 1, 8),
    "nf4": Book(),
}


def scale_of(amax, element, scale, rule, te=False):
    """amax / max by the rule; OCP MX's and torchao's rules where the scale is a power of two."""
    if amax == 0:
        return Fraction(1) if scale in ("binary32", "bf16", "fp16") else Fraction(0) if rule == "te" and scale != "e8m0" else SCALES[scale][3]
    if scale == "e8m0":
        emax = exponent_of(element.max)
        if rule == "floor":
            return min(max(Fraction(2) ** (exponent_of(amax) - emax), SCALES[scale][3]), SCALES[scale][2])
        if rule == "ceil":
            return round_scale(amax / Fraction(2) ** emax, scale, "ru")
        if rule == "even":
            e = exponent_of(amax)
            unit = Fraction(2) ** (e - element.prec + 1)
            rounded = nearest_integer(amax / unit, "rna") * unit  # the tie of the last value and the next binade goes up
            return min(max(Fraction(2) ** (exponent_of(rounded) - emax), SCALES[scale][3]), SCALES[scale][2])
        if rule == "te":
            rule = "noclip"
    return round_scale(amax / element.max, scale, rule)


def fit(values, element, scale, rule, zero_point, percentile=None, part=Fraction(1)):
    """The scale and zero point of a group of finite Fractions."""
    if zero_point:
        ordered = sorted(values)
        rank = -(-len(ordered) * percentile // 100) if percentile else len(ordered)
        high, low = (ordered[rank - 1], ordered[len(ordered) - rank]) if ordered else (Fraction(0), Fraction(0))
        high, low = max(high, 0) * part, min(low, 0) * part
        steps = Fraction(element.high - element.low, 2**element.frac)
        zero_scale = Fraction(1) if scale in ("binary32", "bf16", "fp16") else SCALES[scale][3]
        directed = "amax" if rule == "te" else rule
        s = round_scale((high - low) / steps, scale, DIRECTIONS[directed]) if high > low else zero_scale
        z = nearest_integer(element.low - low / s * 2**element.frac, "rne")
        return s, min(max(z, element.low), element.high)
    ordered = sorted(abs(v) for v in values)
    amax = Fraction(0)
    if ordered:
        amax = ordered[-(-len(ordered) * percentile // 100) - 1] if percentile else ordered[-1]
    return scale_of(amax * part, element, scale, rule), 0


def to_float32(x):
    """The nearest binary32 number, of an exact one."""
    if x == 0:
        return np.float32(0)
    size = abs(x)
    unit = Fraction(2) ** (max(exponent_of(size), -126) - 23)
    size = nearest_integer(size / unit, "rne") * unit
    value = np.float32(np.inf) if size >= 2**128 else np.float32(float(size))
    return -value if x < 0 else value


def code_of(x, s, z, element, mode):
    if s == 0:
        return element.code(Fraction(0) if x == 0 else (1 if x > 0 else -1) * Fraction(10) ** 9, z, mode)
    return element.code(x / s, z, mode)


def search(values, element, scale, zero_point, percentile):
    """Of j / 32 of the ends, j = 32 and then 16 .. 48, the first with the least sum of squares in binary64."""
    best = None
    for j in [32, *range(16, 49)]:
        s, z = fit(values, element, scale, "amax", zero_point, percentile, Fraction(j, 32))
        error = np.float64(0)
        for x in values:
            y = to_float32(element.value(code_of(x, s, z, element, "rne"), z) * s)
            d = np.float64(float(x)) - np.float64(y)
            error += d * d
        if best is None or error < best[0]:
            best = error, s, z
    return best[1:]


def groups_of(shape, per, axis):
    """For each group, in the order of the scales, the indices of its elements in C order; and the shape of the scales."""
    indices = np.arange(int(np.prod(shape))).reshape(shape)
    if per == "tensor":
        return [indices.reshape(-1)], ()
    if per == "channel":
        rows = np.moveaxis(indices, axis, 0)
        return [np.sort(row.reshape(-1)) for row in rows], (shape[axis],)
    if per == "row":
        return list(indices.reshape(-1, shape[-1])), shape[:-1]
    if isinstance(per, int):
        rows = indices.reshape(-1, shape[-1])
        groups = [row[at : at + per] for row in rows for at in range(0, shape[-1], per)]
        return groups, (*shape[:-1], -(-shape[-1] // per))
    r, c = (int(size) for size in per.split("x"))
    groups = []
    for matrix in indices.reshape(-1, *shape[-2:]):
        for i, k in itertools.product(range(0, shape[-2], r), range(0, shape[-1], c)):
            groups.append(matrix[i : i + r, k : k + c].reshape(-1))
    return groups, (*shape[:-2], -(-shape[-2] // r), -(-shape[-1] // c))


def compare(x, name, per, scale, rule, mode="rne", axis=0, zero_point=False, narrow=False, percentile=None):
    """Quantise x by the library, and compare every code, scale, zero point and value. Returns the number of elements."""
    element = ELEMENTS[name]
    if narrow:
        element = Integers(-element.high, element.high, element.frac)
    q = ul.quantize(
        x,
        name,
        axis,
        per=per,
        scale=scale,
        scale_rule=rule,
        mode=mode,
        zero_point=zero_point,
        narrow=narrow,
        percentile=percentile,
    )
    flat = [Fraction(float(v)) for v in x.reshape(-1)]
    groups, shape = groups_of(x.shape, per, axis)
    codes, values = q.codes.reshape(-1), q.dequantize().reshape(-1)
    assert q.scales.shape == shape and q.codes.shape == x.shape
    percent = Fraction(str(percentile)) if percentile is not None else None
    for number, group in enumerate(groups):
        numbers = [flat[i] for i in group]
        if rule == "mse":
            s, z = search(numbers, element, scale, zero_point, percent)
        else:
            s, z = fit(numbers, element, scale, rule, zero_point, percent)
        place = (name, per, scale, rule, mode, zero_point, number)
        assert Fraction(float(q.scales.reshape(-1)[number])) == s, place
        assert not zero_point or q.zero_points.reshape(-1)[number] == z, place
        for i, v in zip(group, numbers):
            code = code_of(v, s, z, element, mode)
            if isinstance(element, Floats) and v == 0 and math.copysign(1, x.reshape(-1)[i]) < 0:
                code |= element.sign
            assert codes[i] == code, (*place, i, float(v))
            want = to_float32(element.value(code, z) * s)
            assert values[i] == want, (*place, i, float(v))
    return len(flat)


def numbers(shape, wide, spread=3):
    x = RNG.standard_normal(shape) * 2.0 ** RNG.integers(-spread, spread + 1, shape)
    x = np.where(RNG.random(shape) < 0.2, np.round(x * 8) / 8, x)  # ties
    x = np.where(RNG.random(shape) < 0.05, 0.0, x)
    return x if wide else x.astype(np.float32)


PARTS = ["tensor", "row", "channel", "2x3", "1x4", 3, 128]


@pytest.mark.parametrize("name", sorted(ELEMENTS))
def test_parts_scales_and_rules(name):
    """Every part, scale format and rule, symmetric, from binary32 and binary64, with parts that are short at the end."""
    cells = 0
    for per, scale, rule in itertools.product(PARTS, SCALES, DIRECTIONS):
        for wide in (False, True):
            cells += compare(numbers((2, 3, 5), wide), name, per, scale, rule, axis=int(RNG.integers(3))) > 0
    assert cells == len(PARTS) * len(SCALES) * len(DIRECTIONS) * 2


@pytest.mark.parametrize("name", ["int8", "uint8", "int4", "uint4", "q2.6", "int12"])
def test_zero_points(name):
    cells = 0
    for per, scale, rule in itertools.product(PARTS, SCALES, DIRECTIONS):
        for shift in (-2.0, 0.0, 1.5):
            x = numbers((3, 7), bool(RNG.integers(2))) + np.float32(shift)
            narrow = name.startswith(("int", "q")) and bool(RNG.integers(2))
            cells += compare(x, name, per, scale, rule, zero_point=True, narrow=narrow) > 0
    assert cells == len(PARTS) * len(SCALES) * len(DIRECTIONS) * 3


@pytest.mark.parametrize("mode", ["rne", "rna", "rz", "ru", "rd", "ro"])
def test_modes_and_narrow_ranges(mode):
    for name in ELEMENTS:
        for scale in ("binary32", "e8m0"):
            integers = isinstance(ELEMENTS[name], Integers)
            compare(numbers((4, 9), True), name, 4, scale, "amax", mode, narrow=integers and ELEMENTS[name].low < 0)
            if integers:
                compare(numbers((4, 9), True), name, "2x5", scale, "amax", mode, zero_point=True)


@pytest.mark.parametrize("percentile", [50, 90, 99.9, 0.000001, 100])
def test_percentiles(percentile):
    for name, zero_point in itertools.product(["int8", "uint8", "e4m3", "nf4"], [False, True]):
        if zero_point and name in ("e4m3", "nf4"):
            continue
        for per in ("tensor", "row", 7):
            compare(numbers((5, 11), True), name, per, "binary32", "amax", zero_point=zero_point, percentile=percentile)


@pytest.mark.parametrize("name", ["int8", "uint8", "int4", "e4m3", "e2m1", "nf4"])
def test_least_squared_error(name):
    for scale, per in itertools.product(["binary32", "e8m0", "e4m3"], ["tensor", 8]):
        compare(numbers((2, 13), False), name, per, scale, "mse")
        if isinstance(ELEMENTS[name], Integers):
            compare(numbers((2, 13), True), name, per, scale, "mse", zero_point=True)


def test_least_squared_error_is_no_worse_than_amax():
    x = RNG.standard_normal((16, 64)).astype(np.float32)
    errors = [np.square(ul.quantize(x, "int4", per=64, scale_rule=r).dequantize() - x).sum() for r in ("mse", "amax")]
    assert errors[0] < 0.95 * errors[1]


def test_extreme_numbers():
    """Scales at both ends of their formats, and numbers beyond binary32."""
    for size in (2.0**-1070, 1e-300, 2.0**-149, 1e-40, 1e38, 1e300):
        x = np.array([size, -size / 3, size / 7, 0.0])
        for name, scale in itertools.product(["int8", "uint8", "e4m3", "nf4"], SCALES):
            if size > 1e38:  # the value is infinite
                continue
            compare(x, name, "tensor", scale, "amax")
            if name.startswith(("int", "uint")):
                compare(x, name, "tensor", scale, "amax", zero_point=True)
    assert np.all(np.isinf(ul.quantize([1e300], "int8", overflow="sat").dequantize()) == [True])


def test_quotients_are_rounded_once():
    """Numbers beside ties: a rounding to binary32, or a reciprocal, would move them onto the tie."""
    s = np.float32(1.0) / np.float32(127)
    ties = (np.arange(-126, 127) + 0.5) * np.float64(s)
    x = np.concatenate([[1.0], np.nextafter(ties, np.inf), np.nextafter(ties, -np.inf), ties])
    assert compare(x, "int8", "tensor", "binary32", "amax") == x.size
    reciprocal = np.rint(x.astype(np.float32) * (np.float32(1) / s)).astype(np.int8)
    assert not np.array_equal(ul.quantize(x, "int8").codes, reciprocal)


def test_stochastic_modes():
    """The mean of codes is the quotient; words follow the index, not the group."""
    x = np.full((64, 64), 0.3, np.float32)
    x[:, 0] = 1.0
    for name in ("int4", "nf4", "e2m1"):
        q = ul.quantize(x, name, per="row", mode="sra", seed=3)
        assert abs(q.dequantize()[:, 1:].mean() - 0.3) < 0.01
        assert len(np.unique(q.codes[:, 1:])) == 2
        assert np.array_equal(q.codes, ul.quantize(x, name, per=64, mode="sra", seed=3).codes)
        one = ul.quantize(x, name, per="row", mode="sra", bits=1, seed=3)
        assert set(np.unique(one.codes[:, 1:])) <= set(np.unique(q.codes[:, 1:]))


# ---- other tools' definitions ----


def test_onnx_quantize_linear():
    """ONNX QuantizeLinear, opset 21: saturate(round(x / y_scale) + y_zero_point), half to even; the quotient there is
    rounded to binary32 first, which differs only beside ties."""
    x = RNG.standard_normal((8, 33)).astype(np.float32)
    for name, low, high in (("int8", -128, 127), ("uint8", 0, 255), ("int4", -8, 7), ("uint4", 0, 15)):
        for per in ("tensor", "row"):
            q = ul.quantize(x, name, per=per, zero_point=True)
            scale = q.scales[..., None].astype(np.float64) if per == "row" else np.float64(q.scales)
            zero = q.zero_points[..., None] if per == "row" else q.zero_points
            onnx = np.clip(np.rint(x / scale.astype(np.float32)) + zero, low, high)
            exact = np.clip(np.rint(x.astype(np.float64) / scale) + zero, low, high)
            assert np.array_equal(q.codes, exact)
            assert np.count_nonzero(q.codes != onnx) <= 1
            assert np.array_equal(q.dequantize(), (q.codes.astype(np.int32) - zero).astype(np.float32) * scale.astype(np.float32))


def test_onnx_dynamic_quantize_linear():
    """ONNX DynamicQuantizeLinear (uint8): y_scale = (max - min) / 255 with 0 in the range, y_zero_point to even."""
    for shift in (-3.0, 0.0, 2.0):
        x = (RNG.standard_normal(100) + shift).astype(np.float32)
        q = ul.quantize(x, "uint8", zero_point=True)
        low, high = min(0.0, float(x.min())), max(0.0, float(x.max()))
        scale = np.float32((np.float64(high) - np.float64(low)) / 255)
        assert q.scales == scale
        assert q.zero_points == np.clip(np.rint(-low / np.float64(scale)), 0, 255)


def test_bitsandbytes_nf4():
    """bitsandbytes: absmax of blocks of 64, the nearest value; there x (1 / absmax) is compared with decimal midpoints,
    so that only numbers within 2^-22 of a midpoint can differ."""
    x = RNG.standard_normal((4, 256)).astype(np.float32)
    q = ul.quantize(x, "nf4", per=64)
    absmax = np.abs(x.reshape(4, 4, 64)).max(-1)
    assert np.array_equal(q.scales, absmax)
    table = np.array(NF4, np.float64)
    scaled = x.reshape(4, 4, 64).astype(np.float64) / absmax[..., None]
    distances = np.abs(scaled[..., None] - table)
    far = np.sort(distances, -1)[..., 1] - distances.min(-1) > 2.0**-22
    codes = q.codes.reshape(4, 4, 64)
    assert np.array_equal(codes[far], distances.argmin(-1)[far]) and far.mean() > 0.99
    # the same blocks, where values are computed as there: table * absmax in binary32
    assert np.array_equal(q.dequantize().reshape(4, 4, 64), table.astype(np.float32)[codes] * absmax[..., None])


def ggml(x, name):
    """ggml-quants.c, quantize_row_*_ref, in NumPy's binary32."""
    f = np.float32
    out = []
    for block in x.reshape(-1, 32).astype(f):
        with np.errstate(all="ignore"):
            if name == "q8_0":
                d = np.abs(block).max() / f(127)
            elif name == "q4_0":
                d = block[np.abs(block).argmax()] / f(-8)
            else:
                d = (block.max() - block.min()) / f(15)
            inverse = f(1) / d if d else f(0)
        out.append(np.frombuffer(np.float16(d).tobytes(), np.uint8))
        if name == "q8_0":
            y = block * inverse
            codes = np.trunc(y.astype(np.float64) + np.copysign(0.5, y)).astype(np.int8)
            out.append(codes.view(np.uint8))
            continue
        if name == "q4_1":
            out.append(np.frombuffer(np.float16(block.min()).tobytes(), np.uint8))
            y = (block - block.min()) * inverse + f(0.5)
        else:
            y = block * inverse + f(8.5)
        codes = np.minimum(15, y.astype(np.int8)).astype(np.uint8)
        out.append(codes[:16] | codes[16:] << 4)
    return np.concatenate(out)


@pytest.mark.parametrize("name, size", [("q8_0", 34), ("q4_0", 18), ("q4_1", 20)])
def test_ggml(name, size):
    x = (RNG.standard_normal((200, 96)) * 10.0 ** RNG.integers(-3, 4, (200, 1))).astype(np.float32)
    x[0, :32], x[1, 32:64] = 0.0, np.round(x[1, 32:64])
    x[2, :32] = np.arange(32) - 16
    q = ul.quantize(x, name)
    assert q.blocks.shape == (200, 3 * size)
    assert np.array_equal(q.blocks.reshape(-1), ggml(x, name))
    blocks = q.blocks.reshape(-1, size)
    d = np.ascontiguousarray(blocks[:, :2]).view(np.float16).astype(np.float32)
    if name == "q8_0":
        want = blocks[:, 2:].view(np.int8) * d
    else:
        low, high = blocks[:, -16:] & 15, blocks[:, -16:] >> 4
        codes = np.concatenate([low, high], 1).astype(np.float32)
        m = np.ascontiguousarray(blocks[:, 2:4]).view(np.float16).astype(np.float32)
        want = (codes - 8) * d if name == "q4_0" else codes * d + m
    assert np.array_equal(q.dequantize().reshape(-1, 32), want) and ul.dequantize(q).shape == x.shape


def test_q8_0_is_int8_beside_its_rule():
    """q8_0 is int8 with scales of binary16 per 32, but for its elements: they are made with the scale of binary32 and
    a reciprocal, ties away from zero."""
    x = RNG.standard_normal((50, 64)).astype(np.float32)
    exact = ul.quantize(x, "int8", per=32, mode="rna")
    stored = ul.quantize(x, "q8_0").blocks.reshape(-1, 34)
    assert np.array_equal(exact.scales.reshape(-1).astype(np.float16), stored[:, :2].copy().view(np.float16)[:, 0])
    assert np.count_nonzero(exact.codes.reshape(-1, 32) != stored[:, 2:].view(np.int8)) <= 2


def test_transformer_engine_nvfp4():
    """Transformer Engine, torchao (pull request 4598): scales of blocks of zeros and of tiny numbers are code 0."""
    x = np.zeros((3, 16), np.float32)
    x[1], x[2] = 2.0**-30, 1.0
    ours, theirs = (ul.quantize(x, name, tensor_scale=1.0) for name in ("nvfp4", "nvfp4:te"))
    assert ours.scales[:, 0].tolist() == [1, 1, 0x23] and theirs.scales[:, 0].tolist() == [0, 0, 0x23]
    assert theirs.elements[0].tolist() == [0] * 16 and theirs.elements[1].tolist() == [7] * 16
    assert np.all(theirs.dequantize()[:2] == 0.0)
    assert ul.quantize(x, "nvfp4", scale_rule="te").block.name == "nvfp4:te"


# ---- block formats, layouts ----


@pytest.mark.parametrize("name", ["mxfp8-e4m3", "mxfp4", "nvfp4", "nvfp4:te", "mxint8", "mxint4", "nvint4", "bfp8"])
def test_one_system(name):
    """A block format and the same by its parts give the same codes, scales and values."""
    x = numbers((3, 50), False, 8)
    block = ul.quantize(x, name, tensor_scale=1.0)
    scaled = ul.quantize(x, name, percentile=100.0)
    assert np.array_equal(block.elements, scaled.codes.view(np.uint8) & (2**scaled.bits - 1))
    assert np.array_equal(block.scales, scaled.scale_codes())
    assert np.array_equal(block.dequantize(), scaled.dequantize())


def test_blocks_as_text():
    x = numbers((2, 40), False)
    assert ul.Block("block:E2M1,16,E4M3").size == 16
    one, two = ul.quantize(x, "block:e2m1,16,e4m3"), ul.quantize(x, "nvfp4")
    assert np.array_equal(one.elements, two.elements) and np.array_equal(one.scales, two.scales)
    rule = ul.quantize(x, "block:e2m1,16,e4m3", scale_rule="te")
    assert rule.block.rule == "te" and rule.block.name == "block:e2m1,16,e4m3:te"
    nf4 = ul.quantize(x, "block:nf4,8,bf16")
    assert nf4.scales.shape == (2, 5) and nf4.element == "nf4" and nf4.scale == "bfloat16"
    assert np.array_equal(ul.quantize(x, "mxint4", axis=0).dequantize(), ul.quantize(x.T, "mxint4").dequantize().T)
    for bad in ("block:e2m1,0,e4m3", "block:e2m1,16", "block:e2m1,16,q8.0", "block:e2m1,16,e4m3:up", "block:,1,e4m3"):
        with pytest.raises(ValueError):
            ul.Block(bad)


def test_bfp8_is_a_shared_exponent():
    """The exponent of the largest magnitude; 7 bits of magnitude, ties to even, at most 127."""
    x = numbers((4, 16), False)
    q = ul.quantize(x, "bfp8")
    for row, elements, scale in zip(x, q.elements, q.scales):
        exponent = int(np.floor(np.log2(np.abs(row).max())))
        assert scale == exponent + 127
        sizes = np.minimum(np.rint(np.abs(row.astype(np.float64)) * 2.0 ** (6 - exponent)), 127)
        assert np.array_equal(elements & 127, sizes) and np.array_equal(elements >> 7, np.signbit(row))


def test_packing():
    x = numbers((3, 7), False)
    q = ul.quantize(x, "int4", per="row")
    packed = q.packed()
    assert packed.shape == (3, 4) and np.all(packed[:, 3] >> 4 == 0)
    assert packed[1, 0] == (int(q.codes[1, 0]) & 15) | (int(q.codes[1, 1]) & 15) << 4
    assert np.array_equal(ul.unpack4(packed, 7), q.codes & 15)
    assert ul.unpack4(packed).shape == (3, 8)
    for call in (lambda: ul.unpack4(packed, 6), lambda: ul.unpack4(packed, 9), lambda: ul.quantize(x, "int8").packed()):
        with pytest.raises(ValueError):
            call()
    with pytest.raises(ValueError, match="codes of 4 bits"):
        ul.pack4([16])
    with pytest.raises(TypeError):
        ul.unpack4([1.0])


@pytest.mark.parametrize("shape", [(1, 1), (128, 4), (129, 5), (300, 9), (2, 70, 3), (0, 4), (4, 0)])
def test_swizzled_scales(shape):
    """The formula of cuBLAS's documentation, scale by scale."""
    scales = RNG.integers(1, 256, shape).astype(np.uint8)
    bytes_ = ul.swizzle(scales)
    columns = shape[-1]
    matrix = scales.reshape(-1, columns) if scales.size else np.zeros((0, 0), np.uint8)
    across = -(-columns // 4)
    assert bytes_.size == -(-matrix.shape[0] // 128) * (across if matrix.size else 0) * 512
    for row, column in np.ndindex(matrix.shape):
        tile = row // 128 * across + column // 4
        place = tile * 512 + row % 32 * 16 + row % 128 // 32 * 4 + column % 4
        assert bytes_[place] == matrix[row, column]
    assert np.count_nonzero(bytes_) == scales.size
    assert np.array_equal(ul.unswizzle(bytes_, shape), scales)
    with pytest.raises(ValueError):
        ul.unswizzle(np.zeros(7, np.uint8), shape)


# ---- special values, refusals ----


def test_special_values():
    x = np.array([[1.0, np.nan, 2.0], [1.0, 2.0, np.inf], [0.0, -0.0, 0.0]])
    q = ul.quantize(x, "int8", per="row")
    assert np.isnan(q.scales[:2]).all() and q.scales[2] == 1.0 and not q.codes[:2].any()
    assert np.isnan(q.dequantize()[:2]).all() and np.all(q.dequantize()[2] == 0)
    assert ul.quantize(x[1], "int8", overflow="sat").codes.tolist() == [64, 127, 127]
    f = ul.quantize(x, "e4m3", per="row")
    assert f.scales[1] == np.float32(np.float64(2) / 448) and np.isnan(f.dequantize()[1, 2])
    assert np.isinf(ul.quantize(x, "e5m2", per="row").dequantize()[1, 2])
    z = ul.quantize(np.zeros(4), "int8", zero_point=True)
    assert z.scales == 1.0 and z.zero_points == -128 and z.codes.tolist() == [-128] * 4


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 3), (2, 0, 5)])
def test_empty_arrays(shape):
    for per in ("tensor", "row", "channel", "2x2", 4):
        if per == "2x2" and len(shape) < 2:
            continue
        q = ul.quantize(np.zeros(shape), "int8", per=per, zero_point=True)
        assert q.codes.shape == shape and q.dequantize().shape == shape
        assert per != "tensor" or (q.scales == 1.0 and q.zero_points == -128)


def test_bad_arguments():
    x = np.ones((2, 4), np.float32)
    for arguments, pattern in (
        (("int8", {"per": "column"}), "'tensor', 'row', 'channel'"),
        (("int8", {"per": 0}), "per"),
        (("int8", {"per": (0, 2)}), "per"),
        (("int8", {"per": "channel", "axis": 2}), "axis"),
        (("e4m3", {"zero_point": True}), "zero point"),
        (("nf4", {"tensor_scale": 2.0}), "code book"),
        (("uint8", {"narrow": True}), "narrow"),
        (("int8", {"percentile": 0}), "percentile"),
        (("int8", {"percentile": 101}), "percentile"),
        (("int8", {"percentile": float("nan")}), "percentile"),
        (("int8", {"scale": "int8"}), "scale"),
        (("int8", {"scale": "binary64"}), "scale"),
        (("int8", {"scale": "e4m4x"}), "scale"),
        (("int8", {"scale_rule": "max"}), "amax"),
        (("int33", {}), "element"),
        (("binary32", {}), "element"),
        (("mxfp4", {"per": "row"}), "shares a scale"),
        (("q8_0", {"per": "row"}), "no choice"),
        (("q8_0", {}), "32"),
        (("int8", {"tensor_scale": -1.0}), "tensor_scale"),
    ):
        name, options = arguments
        with pytest.raises(ValueError, match=pattern):
            ul.quantize(x, name, **options)
            pytest.fail(f"{arguments} is accepted")
    with pytest.raises(ValueError, match="finite"):
        ul.quantize(np.full(32, np.nan), "q4_0")
    q = ul.quantize(x, "int8", zero_point=True)
    for field, value in (("scales", np.float32(np.inf)), ("zero_points", np.int32(200))):
        bad = ul.Scaled(**{**q.__dict__, field: np.asarray(value)})
        with pytest.raises(ValueError, match=field):
            bad.dequantize()
