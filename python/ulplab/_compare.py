"""How far the numbers of two arrays are apart in a format."""

from __future__ import annotations

import ctypes
from typing import NamedTuple, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._arrays import address, as_float
from ._formats import Format, format_of
from ._library import call, check


class Comparison(NamedTuple):
    """The differences of two arrays.

    Attributes:
        ulps: the distance of each pair in units in the last place, int64, of the arrays' shape: n if n - 1 numbers of the
            format lie between the two; -1 where NaN or Inf stand in one array alone. +0 and -0 are 0 apart.
        largest, at: the largest distance, and the index of its element; at is None if there is no element.
        absolute, relative: the largest differences of finite pairs; relative to the first array.
        nan, inf: pairs with NaN, or with Inf, in one array alone (Inf also: of different signs).
    """

    ulps: NDArray[np.int64]
    largest: int
    at: Union[tuple[int, ...], None]
    absolute: float
    relative: float
    nan: int
    inf: int

    def histogram(self) -> dict[int, int]:
        """The number of pairs of each distance, without those of NaN and Inf."""
        distances, counts = np.unique(self.ulps[self.ulps >= 0], return_counts=True)
        return {int(distance): int(count) for distance, count in zip(distances, counts)}


def _ordinals(values: NDArray[np.float64], f: Format) -> NDArray[np.int64]:
    """The ordinal of each finite value among the values of the format; 0 for other elements."""
    finite = np.ascontiguousarray(np.where(np.isfinite(values), values, f.max))
    ordinals = np.empty(values.shape, np.int64)
    at = ctypes.c_size_t()
    check(call.ordinals(f._handle.address, address(ordinals), address(finite), finite.size, ctypes.byref(at)))
    return ordinals


def compare(a: ArrayLike, b: ArrayLike, format: Union[str, Format]) -> Comparison:
    """Compares two arrays of values of a format, as ``ulp compare`` does.

    Raises:
        ValueError: arrays of different shapes, or a number that is no value of the format.
    """
    f = format_of(format)
    x, y = (np.asarray(as_float(values), np.float64) for values in (a, b))
    if x.shape != y.shape:
        raise ValueError(f"the arrays have the shapes {x.shape} and {y.shape}")
    both = np.isfinite(x) & np.isfinite(y)
    nan = np.isnan(x) != np.isnan(y)
    inf = ~both & ~nan & ~(np.isnan(x) & np.isnan(y)) & (x != y)
    ulps = np.where(both, np.abs(_ordinals(x, f) - _ordinals(y, f)), np.where(nan | inf, -1, 0))
    difference = np.abs(np.where(both, x, 0) - np.where(both, y, 0))
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where(difference > 0, difference / np.abs(np.where(both, x, 1)), 0)
    at = None if ulps.size == 0 else tuple(int(i) for i in np.unravel_index(int(ulps.argmax()), ulps.shape))
    largest = 0 if at is None else max(0, int(ulps[at]))
    most = (float(values.max()) if values.size else 0.0 for values in (difference, relative))
    return Comparison(ulps, largest, at, *most, int(nan.sum()), int(inf.sum()))
