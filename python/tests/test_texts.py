"""Texts, Decimal and large integers are exact numbers that are rounded once: compared with rational numbers."""

import os
import random
from bisect import bisect_left
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import ulplab as ul

MODES = ["rne", "rna", "rz", "ru", "rd", "ro"]
#: texts of all formats together; `make check-all` has all
TEXTS = 100_000 if os.environ.get("ULP_TESTS") == "all" else 25_000
#: the tie of a tapered format, and of a gap around zero, is no mean: tests/unit/t_number.c has all formats
ROWS = [row.name for row in ul.formats() if ul.Format(row.name).taper == "none" and not ul.Format(row.name).zero_binade]


class Grid:
    """The values of a format around a rational number."""

    def __init__(self, name):
        self.f = ul.Format(name)
        self.values = None
        if self.f.bits <= 16:
            values = np.asarray(self.f.values(), np.float64)
            self.values = sorted(set(values[np.isfinite(values)].tolist()))

    def around(self, x):
        """The largest value up to x, and the least from x on."""
        if self.values is not None:
            at = bisect_left(self.values, x)
            if self.values[at] == x:
                return Fraction(self.values[at]), Fraction(self.values[at])
            return Fraction(self.values[at - 1]), Fraction(self.values[at])
        exponent = abs(x.numerator).bit_length() - x.denominator.bit_length()
        exponent -= abs(x) < Fraction(2) ** exponent
        unit = Fraction(2) ** max(exponent - self.f.prec + 1, self.f.qmin)
        return x // unit * unit, -(-x // unit) * unit

    def is_odd(self, value):
        return int(ul.encode(float(value), self.f)) & 1 == 1

    def rounded(self, x, mode):
        low, high = self.around(x)
        if low == high:
            return low
        if mode in ("rd", "ru"):
            return low if mode == "rd" else high
        toward, away = (low, high) if x > 0 else (high, low)
        if mode == "rz":
            return toward
        if mode == "ro":
            return toward if self.is_odd(toward) else away
        lost, left = abs(x - toward), abs(away - x)
        if lost != left:
            return toward if lost < left else away
        return away if mode == "rna" or self.is_odd(toward) else toward


def decimal_of(x):
    """The exact decimal of a dyadic number."""
    digits = x.denominator.bit_length() - 1
    text = str(abs(x.numerator) * 5**digits).rjust(digits + 1, "0")
    return "-" * (x < 0) + (f"{text[:-digits]}.{text[-digits:]}" if digits else text + ".")


def texts_of(grid, count, rng):
    """Texts at and next to middles of a format, and of random digits, with their values."""
    f, found = grid.f, []
    while len(found) < count:
        x = Fraction(rng.uniform(-1, 1)) * Fraction(2) ** rng.randint(max(f.emin, -60), min(f.emax, 60))
        if rng.random() < 0.2:
            text = ("%." + str(rng.choice([3, 17, 40, 480])) + "f") % float(x)
            x = Fraction(text)
        else:
            if not f.lowest < x < f.max:
                continue
            low, high = grid.around(x)
            x = (low + high) / 2 if rng.random() < 0.8 else low
            text = decimal_of(x)
            place = len(text.partition(".")[2]) + rng.choice([1, 40, 400])
            step = rng.choice([-1, 0, 1])
            if step:
                x += Fraction(step, 10**place)
                text = "-" * (x < 0) + f"{abs(x) // 1}.{int(abs(x) % 1 * 10**place):0{place}d}"
        if f.lowest <= x <= f.max and (f.has_zero or x >= f.min_positive):
            found.append((text, x))
    return found


@pytest.mark.parametrize("name", ROWS)
def test_rationals(name):
    grid, rng = Grid(name), random.Random(name)
    found = texts_of(grid, -(-TEXTS // len(ROWS)), rng)
    for mode in MODES:
        got = ul.round([text for text, _ in found], name, mode)
        for (text, x), y in zip(found, got):
            want = grid.rounded(x, mode)
            assert want == y, f"{text} to {name}, {mode}: {y!r}, not {float(want)!r}"


def test_forms():
    assert ul.round(2**62 + 2**54 + 1, "bf16") == 2**62 + 2**55
    assert ul.round([2**62 + 2**54, 2**62 + 2**54 + 1], "bf16").tolist() == [2**62, 2**62 + 2**55]
    assert ul.round(np.array([2**62 + 2**54 + 1, 1]), "bf16").tolist() == [2**62 + 2**55, 1]
    assert ul.round([-(2**63) - 1, 2**64 + 1], "fp64", "ru").tolist() == [-(2.0**63), 2.0**64 + 4096]
    assert ul.round(10**5000, "fp16", "rz") == 65504
    assert ul.round(Decimal("0.1"), "fp64", "rd") == float.fromhex("0x1.9999999999999p-4")
    assert ul.round("2049.00000000000000001", "fp16") == 2050
    assert ul.encode("2049.00000000000000001", "fp16") == 0x6801
    assert ul.round([["0x1.8p1", "-inf"], ["1e400", "1e-400"]], "fp16", "rz").tolist() == [[3, -np.inf], [65504, 0]]
    assert np.isnan(ul.round("nan", "fp16"))
    out = np.empty(2)
    assert ul.round(["0.1", "0.2"], "fp64", out=out) is out and out.tolist() == [0.1, 0.2]


def test_stochastic_words():
    text = "0x1.00180000000000000000000000000001p0"  # 0.375 of the spacing of binary16 above 1
    many = ul.round([text] * 4000, "fp16", "sr", seed=7)
    assert many[17:].tolist() == ul.round([text] * 3983, "fp16", "sr", seed=7, first=17).tolist()
    assert abs(np.mean(many > 1) - 0.375) < 0.04
