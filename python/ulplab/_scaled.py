"""Scaled quantisation: elements of any format, a scale for any part of an array, zero points, stored layouts."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Optional, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._arrays import FLOAT32, FLOAT64, Array, address, as_float, check_integer, converted, largest_finite, words_of
from ._formats import codes_of, format_of
from ._library import Handle, c_text, call, check, text
from ._rounding import rule_of

Part = Union[str, int, tuple[int, int]]

_PERCENT = 10**6


def pack4(codes: ArrayLike) -> NDArray[np.uint8]:
    """Codes of 4 bits, two in a byte: the first of two in the low half; an odd last axis is filled by a zero code."""
    array = _codes4(codes)
    if array.shape[-1] % 2:
        array = np.concatenate([array, np.zeros((*array.shape[:-1], 1), np.uint8)], axis=-1)
    return (array[..., 0::2] | array[..., 1::2] << 4).astype(np.uint8)


def unpack4(packed: ArrayLike, length: Optional[int] = None) -> NDArray[np.uint8]:
    """The codes of :func:`pack4`. length: elements of the last axis, where the last half byte is none.

    Raises:
        ValueError: `length` does not go with the bytes.
    """
    array = np.asarray(packed)
    if array.dtype != np.uint8 or array.ndim == 0:
        raise TypeError(f"packed codes are an array of uint8, not of {array.dtype} with {array.ndim} dimensions")
    most = 2 * array.shape[-1]
    length = most if length is None else check_integer(length, "length", max(most - 1, 0), most)
    codes = np.stack([array & 15, array >> 4], axis=-1).reshape(*array.shape[:-1], most)
    return np.ascontiguousarray(codes[..., :length])


def _codes4(codes: ArrayLike) -> Array:
    array = np.asarray(codes)
    if array.ndim == 0 or array.dtype.kind not in "iu":
        raise TypeError(f"codes are an array of integers, not of {array.dtype} with {array.ndim} dimensions")
    if array.size and not -8 <= int(array.min()) <= int(array.max()) <= 15:
        raise ValueError(f"codes are from {int(array.min())} to {int(array.max())}; codes of 4 bits are -8 to 15")
    return (array & 15).astype(np.uint8)


def swizzle(scales: ArrayLike) -> NDArray[np.uint8]:
    """Scale codes of a matrix in the order that cuBLAS takes: tiles of 128 rows and 4 scales, 512 bytes each.

    In a tile, scale (row, column) is byte ``row % 32 * 16 + row // 32 * 4 + column``; tiles are in row-major order;
    bytes that are no scale are 0. Source: NVIDIA, cuBLAS documentation, "1D Block Scaling Factors Layout".
    """
    array = np.asarray(scales)
    if array.dtype != np.uint8 or array.ndim == 0:
        raise TypeError(f"scales are an array of uint8, not of {array.dtype} with {array.ndim} dimensions")
    matrix = array.reshape(-1, array.shape[-1]) if array.size else np.zeros((0, 0), np.uint8)
    down, across = -(-matrix.shape[0] // 128), -(-matrix.shape[1] // 4)
    whole = np.zeros((down * 128, across * 4), np.uint8)
    whole[: matrix.shape[0], : matrix.shape[1]] = matrix
    return np.ascontiguousarray(whole.reshape(down, 4, 32, across, 4).transpose(0, 3, 2, 1, 4)).reshape(-1)


def unswizzle(swizzled: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """The scale codes of :func:`swizzle`, of this shape.

    Raises:
        ValueError: the number of bytes does not go with the shape.
    """
    array = np.asarray(swizzled)
    columns = shape[-1] if shape else 1
    rows = int(np.prod(shape[:-1], dtype=np.int64)) if columns else 0
    down, across = (-(-rows // 128), -(-columns // 4)) if rows else (0, 0)
    if array.dtype != np.uint8 or array.shape != (down * across * 512,):
        raise ValueError(f"{array.shape} of {array.dtype}; scales of shape {shape} are {down * across * 512} bytes")
    whole = array.reshape(down, across, 32, 4, 4).transpose(0, 3, 2, 1, 4).reshape(down * 128, across * 4)
    return np.ascontiguousarray(whole[:rows, :columns]).reshape(shape)


@dataclass(frozen=True, repr=False)
class Scaled:
    """A quantised array: element codes, scales, and zero points; see :func:`quantize`.

    Attributes:
        element, scale: names of the formats of elements and scales.
        codes: of the shape of the array: signed integers for intN and qI.F, else unsigned codes.
        scales: values of the scales, float32; NaN for a group with a NaN that the element does not have.
        zero_points: int32 of the shape of `scales`; None without.
        tensor_scale: the factor of the whole array. bits: of a code.
    """

    element: str
    scale: str
    codes: Array
    scales: NDArray[np.float32]
    zero_points: Optional[NDArray[np.int32]]
    tensor_scale: float
    bits: int
    _handle: Handle
    _shape: Array

    def __repr__(self) -> str:
        return f"<Scaled {self.element}, codes of shape {self.codes.shape}, scales of shape {self.scales.shape}>"

    def dequantize(self) -> NDArray[np.float32]:
        """The values, float32, of the shape of the array."""
        low, high = (int(str(call.quantizer_number(self._handle.address, i))) for i in (2, 3))
        mask = 2**self.bits - 1
        codes = np.ascontiguousarray((self.codes.astype(np.int64) & mask).astype(np.uint16))
        scales = np.ascontiguousarray(self.scales.astype(np.float64))
        if not np.all(np.isnan(scales) | ((scales >= 0) & (scales < np.inf))):
            raise ValueError(f"scales has {scales[~(scales >= 0) | np.isinf(scales)][0]}; a scale is NaN, or finite from 0 on")
        zero_points = None
        if self.zero_points is not None:
            zero_points = np.ascontiguousarray(self.zero_points.astype(np.int32))
            if zero_points.size and not (low <= zero_points.min() <= zero_points.max() <= high or np.isnan(scales).any()):
                raise ValueError(f"zero_points are {zero_points.min()} to {zero_points.max()}; allowed are {low} to {high}")
        y = np.empty(codes.shape, np.float32)
        check(
            call.dequantize(
                self._handle.address,
                address(y),
                address(codes),
                address(scales),
                None if zero_points is None else address(zero_points),
                address(self._shape),
            )
        )
        return y

    def scale_codes(self) -> Array:
        """The codes of the scales in their format."""
        return codes_of(np.ascontiguousarray(self.scales), format_of(self.scale))

    def packed(self) -> NDArray[np.uint8]:
        """The codes of 4 bits, two in a byte; see :func:`pack4`."""
        if self.bits != 4:
            raise ValueError(f"codes of {self.element} have {self.bits} bits; codes of 4 bits are packed")
        return pack4(self.codes)

    def swizzled(self) -> NDArray[np.uint8]:
        """The codes of the scales in the order that cuBLAS takes; see :func:`swizzle`."""
        codes = self.scale_codes()
        if codes.dtype != np.uint8:
            raise ValueError(f"scales of {self.scale} have more than 8 bits; cuBLAS takes scales of 8 bits")
        return swizzle(codes)


@dataclass(frozen=True)
class GgufBlocks:
    """An array as GGUF stores it: q8_0, q4_0 or q4_1.

    Attributes:
        name: the type. blocks: uint8 of the shape of the array, with the bytes of the blocks in place of the last axis.
    """

    name: str
    blocks: NDArray[np.uint8]

    def dequantize(self) -> NDArray[np.float32]:
        """The values, float32, of the shape of the array."""
        size = int(str(call.ggml_bytes(self.name.encode())))
        blocks = np.ascontiguousarray(self.blocks)
        if blocks.dtype != np.uint8 or blocks.ndim == 0 or blocks.shape[-1] % size:
            raise ValueError(f"blocks are uint8 with a multiple of {size} bytes, not {blocks.dtype} of shape {blocks.shape}")
        y = np.empty((*blocks.shape[:-1], blocks.shape[-1] // size * 32), np.float32)
        call.ggml_decode(self.name.encode(), address(y), address(blocks), blocks.size // size)
        return y


def _tiles(shape: tuple[int, ...], part: Part, axis: int) -> tuple[list[int], tuple[int, ...]]:
    """The array and its tile as three dimensions each, and the shape of the scales."""
    n = int(np.prod(shape, dtype=np.int64))
    if isinstance(part, str) and "x" in part and part.replace("x", "", 1).isdigit():
        rows, columns = part.split("x")
        part = int(rows), int(columns)
    if part == "tensor":
        return [1, 1, n, 1, 1, max(n, 1)], ()
    if not shape:
        raise ValueError(f"x is a number; per={part!r} takes an array")
    if part == "channel":
        at = check_integer(axis, "axis", -len(shape), len(shape) - 1) % len(shape)
        outer, inner = (int(np.prod(lengths, dtype=np.int64)) for lengths in (shape[:at], shape[at + 1 :]))
        return [outer, shape[at], inner, max(outer, 1), 1, max(inner, 1)], (shape[at],)
    if part == "row":
        return [1, n // shape[-1] if shape[-1] else 0, shape[-1], 1, 1, max(shape[-1], 1)], shape[:-1]
    if isinstance(part, tuple) and len(part) == 2:
        rows, columns = (check_integer(size, "per", 1, 2**62) for size in part)
        if len(shape) < 2:
            raise ValueError(f"x has shape {shape}; tiles are parts of arrays of two dimensions at least")
        m, k = shape[-2:]
        outer = int(np.prod(shape[:-2], dtype=np.int64))
        return [outer, m, k, 1, rows, columns], (*shape[:-2], -(-m // rows), -(-k // columns))
    if isinstance(part, str) or isinstance(part, tuple):
        raise ValueError(f"per is {part!r}; allowed are 'tensor', 'row', 'channel', 'RxC', (R, C) and a number of elements")
    size = check_integer(part, "per", 1, 2**62)
    return [1, n // shape[-1] if shape[-1] else 0, shape[-1], 1, 1, size], (*shape[:-1], -(-shape[-1] // size))


def percentile_of(percentile: Optional[float]) -> int:
    """A percentile in 10^-6 percent; decimals of up to 6 digits after the point are exact."""
    if percentile is None:
        return 100 * _PERCENT
    value = Fraction(repr(float(percentile))) * _PERCENT if np.isfinite(percentile) else Fraction(0)
    if value.denominator != 1 or not 1 <= value <= 100 * _PERCENT:
        raise ValueError(f"percentile is {percentile!r}; allowed are numbers above 0 up to 100 with 6 digits after the point")
    return int(value)


def quantize_scaled(
    x: ArrayLike,
    name: str,
    part: Optional[Part],
    axis: int,
    scale: str,
    rule: Optional[str],
    percentile: Optional[float],
    tensor_scale: Union[str, float, None],
    zero_point: bool,
    narrow: bool,
    rounding: tuple[str, int, Optional[str]],
    words: tuple[int, Union[int, str], int],
) -> Scaled:
    """See :func:`ulplab.quantize`."""
    array = np.ascontiguousarray(as_float(x))
    if tensor_scale in ("amax", "auto"):
        largest = largest_finite(array)
        block = f"block:{name},1,{scale}" if not name.startswith("block:") else name
        factor = float(str(call.tensor_scale(Handle("block", c_text(block, "the format")).address, largest)))
    else:
        factor = 1.0 if tensor_scale is None else float(tensor_scale)
    if not 0.0 < factor < np.inf:
        raise ValueError(f"tensor_scale is {factor!r}; allowed are 'amax' (or 'auto'), a positive number and None")
    handle = Handle(
        "quantizer",
        c_text(name, "the name of a format"),
        c_text(scale, "the format of the scales"),
        c_text(rule, "the scale rule"),
        percentile_of(percentile),
        factor,
        zero_point,
        narrow,
    )
    size, bits, low, high, scale_bits = (int(str(call.quantizer_number(handle.address, i))) for i in range(5))
    if size and part is not None and part != (size, size):
        raise ValueError(f"per={part!r}: the block format {name} says what shares a scale")
    if size and part is None:
        array = np.ascontiguousarray(np.moveaxis(array, check_integer(axis, "axis", -array.ndim, array.ndim - 1), -1))
    lengths, scales_shape = _tiles(array.shape, part if part is not None else size or "tensor", axis)
    shape = np.array(lengths, np.uint64)
    narrow_codes = array.dtype == FLOAT32 and bits <= 8
    if not narrow_codes:
        array = converted(array, FLOAT64)
    code_dtype = np.dtype(np.uint8 if narrow_codes else np.uint16)
    codes, scales = np.zeros(array.shape, code_dtype), np.ones(scales_shape, np.float64)
    zero_points = np.full(scales_shape, low, np.int32)
    if not array.size and scales.size:  # a tensor without elements has the scale of zeros
        one, source = np.array([1, 1, 1, 1, 1, 1], np.uint64), np.zeros(1, array.dtype)
    else:
        one, source = shape, array
    rule_handle = rule_of("q8.0" if low < high else "binary32", *rounding, None)
    if array.size or scales.size == 1:
        scratch = codes if array.size else np.zeros(1, code_dtype)
        where = address(scratch), address(scales), address(zero_points), address(source), address(one)
        quantizing = call.quantize_floats if narrow_codes else call.quantize
        check(quantizing(handle.address, *where, rule_handle.address, *words_of(*words)))
    element, scale_name = (text(call.quantizer_text(handle.address, i)) for i in range(2))
    kind = np.dtype(f"{'i' if low < 0 else 'u'}{1 if bits <= 8 else 2}")
    signed = codes
    if low < 0 and bits % 8 == 0:
        signed = np.ascontiguousarray(codes.astype(f"u{kind.itemsize}", copy=False)).view(kind)
    elif low < 0:
        signed = (codes.astype(np.int32) ^ 1 << (bits - 1)) - (1 << (bits - 1))
    return Scaled(
        element,
        scale_name,
        signed.astype(kind, copy=False),
        scales.astype(np.float32),
        zero_points if zero_point else None,
        factor,
        bits,
        handle,
        shape,
    )


def quantize_gguf(x: ArrayLike, name: str) -> GgufBlocks:
    """See :func:`ulplab.quantize`."""
    array = np.ascontiguousarray(np.asarray(as_float(x), np.float32))
    if array.ndim == 0 or array.shape[-1] % 32:
        raise ValueError(f"x has shape {array.shape}; blocks of GGUF have 32 elements of the last axis")
    size = int(str(call.ggml_bytes(name.encode())))
    blocks = np.zeros((*array.shape[:-1], array.shape[-1] // 32 * size), np.uint8)
    check(call.ggml_encode(name.encode(), address(blocks), address(array), array.size // 32))
    return GgufBlocks(name.lower(), blocks)


def is_gguf(name: str) -> bool:
    """Whether a type of GGUF has this name."""
    return bool(call.ggml_bytes(name.encode()))


def scaled_name(name: Any) -> bool:
    """Whether the name is that of an element or of a block format with elements or scales that `Block` does not take."""
    try:
        Handle("block", c_text(name, "the name of a block format"))
    except ValueError:
        return True
    return False
