"""Arrays of NumPy as arrays of C: dtypes, addresses, results."""

from __future__ import annotations

from ctypes import addressof, c_char
from decimal import Decimal
from typing import Any, Optional

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[Any]

FLOAT32 = np.dtype(np.float32)
FLOAT64 = np.dtype(np.float64)
_FLOAT16 = np.dtype(np.float16)

#: elements of one call of the library: an interrupt of the user waits for the end of a call
CHUNK = 1 << 22

#: significand bits, least exponent of subnormals, largest number of dtypes that are not the library's own
_NARROW = {"float16": (11, -24, 65504.0), "bfloat16": (8, -133, 3.3895313892515355e38)}


def address(array: Array) -> int:
    """The address of element 0 of an array."""
    try:
        return addressof(c_char.from_buffer(array))  # type: ignore[arg-type,unused-ignore]
    except (TypeError, ValueError, BufferError):  # read-only, empty, or of a dtype without a buffer
        return int(array.__array_interface__["data"][0])


def converted(array: Array, dtype: Any) -> Array:
    """An array in a dtype that holds its numbers. A signaling NaN becomes a quiet one, without a warning of NumPy."""
    if array.dtype == dtype:
        return array
    with np.errstate(invalid="ignore"):
        return array.astype(dtype)


def _is_beyond(array: Array) -> bool:
    return bool(array.size) and max(abs(int(array.min())), abs(int(array.max()))) > 2**53


def as_float(x: ArrayLike, name: str = "x") -> Array:
    """x as an array of float32 or float64 in C order, without a copy where it is one.

    float16 and the dtypes of ml_dtypes become float32, integers become float64; these conversions are exact.
    Raises TypeError for other dtypes and ValueError for integers beyond 2^53.
    """
    if isinstance(x, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array; give its data, or fill it")
    array = np.asarray(x)
    dtype = array.dtype
    if dtype != FLOAT32 and dtype != FLOAT64:
        if dtype.name in _NARROW or dtype.name.startswith(("float8_", "float6_", "float4_")):
            array = converted(array, FLOAT32)
        elif dtype.kind in "iu":
            if dtype.itemsize > 4 and _is_beyond(array):
                raise ValueError(f"{name} has integers beyond 2^53, which float64 does not hold")
            array = array.astype(np.float64)
        elif dtype.kind == "f" and dtype.itemsize <= 8:
            array = converted(array, FLOAT32 if dtype.itemsize == 4 else FLOAT64)  # another byte order
        else:
            raise TypeError(f"{name} has dtype {dtype}; allowed are floats of up to 64 bits and integers")
    return array if array.flags.c_contiguous and array.flags.aligned else np.array(array, order="C")


def as_texts(x: ArrayLike) -> Optional[tuple[list[str], tuple[int, ...]]]:
    """Exact numbers as texts, and their shape: texts, Decimal, and integers beyond 2^53. None for other numbers."""
    if isinstance(x, float) or (isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind not in "iuUO"):
        return None
    array = np.asarray(x)
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8 and _is_beyond(array):
        array = array.astype(object)
    elif array.dtype == FLOAT64 and array.size and np.abs(array).max() > 2**53:
        array = np.asarray(x, object)  # integers of different signs beyond 2^63 are floats in NumPy
        if not all(type(value) is int for value in array.flat):
            return None
    if array.dtype.kind == "U":
        array = np.asarray(x, object)  # a list of texts and floats has texts of the floats in NumPy
    if array.dtype.kind != "O" or isinstance(x, np.ma.MaskedArray):
        return None
    values = [value.item() if isinstance(value, np.generic) else value for value in array.flat]
    if not values or not all(type(value) in (str, int, Decimal) for value in values):
        return None
    return [hex(value) if type(value) is int else str(value) for value in values], array.shape


def holds(dtype: np.dtype[Any], prec: int, qmin: int, largest: float) -> bool:
    """Whether a dtype of 16 bits holds every value of a format."""
    its_prec, its_qmin, its_largest = _NARROW[dtype.name]
    return prec <= its_prec and qmin >= its_qmin and largest <= its_largest


def is_narrow(dtype: np.dtype[Any]) -> bool:
    """Whether a dtype is float16 or bfloat16."""
    return dtype.name in _NARROW


def check_out(out: object, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """out, if it is a writable array of this shape and dtype; else ValueError or TypeError."""
    if not isinstance(out, np.ndarray):
        raise TypeError(f"out is an array of NumPy, not {type(out).__name__}")
    if out.shape != shape:
        raise ValueError(f"out has shape {out.shape}; the result has shape {shape}")
    if out.dtype != dtype:
        raise ValueError(f"out has dtype {out.dtype}; the result has dtype {dtype}")
    if not out.flags.writeable:
        raise ValueError("out is read-only")
    return out


def largest_finite(array: Array) -> float:
    """The largest finite magnitude of an array; 0 if there is none."""
    if not array.size:
        return 0.0
    most = max(float(array.max()), -float(array.min()))
    if np.isfinite(most):
        return most
    magnitudes = np.abs(array[np.isfinite(array)])
    return float(magnitudes.max()) if magnitudes.size else 0.0


def check_integer(value: object, name: str, least: int, most: int) -> int:
    """value as an int; TypeError if it is no integer, ValueError if it is out of range."""
    try:
        number = value.__index__()  # type: ignore[attr-defined]
    except AttributeError:
        raise TypeError(f"{name} is an integer, not {type(value).__name__}") from None
    if not least <= number <= most:
        raise ValueError(f"{name} is {number}; allowed are {least} to {most}")
    return int(number)


def stream_number(stream: object) -> int:
    """The number of a stream: an integer, or the hash of a text (FNV-1a of 64 bits, as `ulp` has it)."""
    if isinstance(stream, str):
        number = 0xCBF29CE484222325
        for byte in stream.encode():
            number = (number ^ byte) * 0x100000001B3 % 2**64
        return number
    return check_integer(stream, "stream", 0, 2**64 - 1)


def words_of(seed: object, stream: object, first: object) -> tuple[int, int, int]:
    """The fields of a stream of random words, each in its range."""
    return check_integer(seed, "seed", 0, 2**64 - 1), stream_number(stream), check_integer(first, "first", 0, 2**64 - 1)


def result_of(values: Array, out: Optional[Array], scalar: bool) -> Any:
    """The result of a function: `out` with the values, or the values, as a number if the arguments were numbers."""
    if out is None:
        return values[()] if scalar else values
    if out is not values:
        out[...] = values
    return out
