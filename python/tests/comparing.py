"""Equality of numbers to the bit, for comparisons with other libraries."""

import numpy as np


def same(x, y):
    """Where x and y are the same number with the same sign, or both NaN."""
    with np.errstate(invalid="ignore"):  # a signaling NaN
        x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    return (np.isnan(x) & np.isnan(y)) | ((x == y) & (np.signbit(x) == np.signbit(y)))


def middles(f):
    """The middles of neighbouring finite values of a format, float64."""
    values = np.asarray(f.values(), np.float64)
    values = values[np.isfinite(values)]
    return (values[1:] + values[:-1]) / 2
