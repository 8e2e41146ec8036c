"""Sums of products under a datapath: matmul and dot."""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import Any, Optional, Union

import numpy as np
from numpy.typing import ArrayLike

from ._arrays import (
    FLOAT32,
    FLOAT64,
    Array,
    address,
    as_float,
    check_integer,
    check_out,
    converted,
    result_of,
    words_of,
)
from ._formats import codes_of, format_of
from ._library import Handle, c_text, call, check, text, texts
from ._rounding import round as _round

#: products of one call of the library: an interrupt of the user waits for the end of a call
_PRODUCTS = 1 << 28

_NO_CODE = 4  # ulp_status: an operand is no value of the input format


class Datapath:
    """How a sum of products is formed: a hardware row or a form, with settings.

    "h100-e4m3" and "a100-fp16" are Tensor Cores; "serial:fp16:rne", "chunk64:bf16:rne", "pairwise:fp16:rne",
    "kahan:fp16:rne", "exact:fp32:rne" are sums in an order; ":key=value" changes a field, as in
    "h100-e4m3:promote=128" or "h100-fp16:split-k=4:fp32". ``ulp help datapaths`` lists the forms and fields, :func:`datapaths` the hardware rows.

    Attributes:
        name: the canonical name.
        a, b, scale: names of the formats of the operands and of block scales; None where any numbers are taken, or
            where there are no scales.
        accumulator, result: names of the formats of partial sums, and of start values and results.
        step: products of one step. scale_block: products that share a scale, 0 for none.
        stochastic: whether the sums use random words.

    Raises:
        ValueError: the name is no datapath; the message says which part is wrong and what is allowed.
    """

    def __init__(self, name: str) -> None:
        self._handle = Handle("datapath", c_text(name, "the name of a datapath"))
        at = self._handle.address
        names = [text(call.datapath_text(at, i)) for i in range(6)]
        self.name: str = names[0]
        self.a: Optional[str] = names[1] or None
        self.b: Optional[str] = names[2] or None
        self.scale: Optional[str] = names[3] or None
        self.accumulator: str = names[4]
        self.result: str = names[5]
        numbers = [int(str(call.datapath_integer(at, i))) for i in range(4)]
        self.step: int = numbers[0]
        self.scale_block: int = numbers[1]
        self.stochastic: bool = bool(numbers[3])
        self._dtype = FLOAT32 if numbers[2] else FLOAT64

    def __repr__(self) -> str:
        return f"Datapath({self.name!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Datapath, (self.name,)

    def words(self, k: int) -> int:
        """The number of random words of a sum of k products."""
        return int(str(call.datapath_words(self._handle.address, check_integer(k, "k", 0, 2**40))))


@lru_cache(maxsize=1024)
def _datapath_named(name: str) -> Datapath:
    return Datapath(name)


def datapath_of(datapath: Union[str, Datapath]) -> Datapath:
    """A datapath, by its name or itself."""
    if isinstance(datapath, Datapath):
        return datapath
    if not isinstance(datapath, str):
        raise TypeError(f"a datapath is a name or a Datapath, not {type(datapath).__name__}")
    return _datapath_named(datapath)


def datapaths() -> list[str]:
    """The names of the hardware rows, one for each pair of input formats.

    Other datapaths are written by their form: "fp32" (the reference), "int8", "uint8.int8:zero-points=128,0",
    "maddubs-int8", "serial:FORMAT:MODE", likewise "split:", "chunkN:", "blockN:", "pairwise:", "kahan:" and "exact:". `python -m ulplab help datapaths` explains all of them.
    """
    return texts(call.datapath_row)


def _operand(x: Array, name: str, dtype: np.dtype[Any]) -> Array:
    """An operand as an array of the product's dtype; ValueError for a number that the dtype does not hold."""
    if x.dtype == FLOAT64 and dtype == FLOAT32:
        with np.errstate(over="ignore"):
            narrow = x.astype(np.float32)
        same = (narrow == x) | (np.isnan(narrow) & np.isnan(x))
        if not bool(np.all(same)):
            at = tuple(int(i) for i in np.argwhere(~same)[0])
            raise ValueError(
                f"{name}{list(at)} is {float(x[at])!r}, no float32 number; round {name} first, or give cast='rne'"
            )
        return narrow
    return converted(x, dtype)


def _explain(operands: tuple[tuple[str, Array, Optional[str]], ...]) -> None:
    """Raises ValueError for the first element that is no value of its operand's format."""
    for name, array, format in operands:
        if format is not None:
            try:
                codes_of(np.ascontiguousarray(array), format_of(format))
            except ValueError as error:
                raise ValueError(f"{name}: {error}; round {name} first, or give cast='rne'") from None


def _matrices(array: Array, transposed: bool) -> tuple[Array, int, int, int]:
    """A stack of matrices in C order, the rows and columns of a matrix, and the length of a row in memory."""
    array = np.ascontiguousarray(array)
    rows, columns = array.shape[-2:]
    return (array, columns, rows, max(columns, 1)) if transposed else (array, rows, columns, max(columns, 1))


def matmul(
    a: ArrayLike,
    b: ArrayLike,
    datapath: Union[str, Datapath] = "fp32",
    c: Optional[ArrayLike] = None,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
    cast: Optional[str] = None,
    a_scales: Optional[ArrayLike] = None,
    b_scales: Optional[ArrayLike] = None,
    seed: int = 0,
    stream: Union[int, str] = 0,
    first: int = 0,
    out: Optional[Array] = None,
    backend: Optional[str] = None,
) -> Any:
    """c + a b, every sum of products formed as a datapath says.

    Args:
        a: (..., m, k), or (..., k, m) with transpose_a. b: (..., k, n), or (..., n, k) with transpose_b. The leading
            dimensions broadcast. The dtypes of :func:`ulplab.round` are allowed.
        datapath: a datapath or its name.
        c: (..., m, n), the start values of the sums, values of the datapath's result format; None for +0.
        cast: the mode that rounds a and b to the input formats of a Tensor Core, else to the dtype of the result; None:
            they have to be values of these formats, so that a sum rounds nothing that the datapath does not round.
        a_scales, b_scales: (m, ceil(k / scale_block)) and (n, ceil(k / scale_block)), values of the scale format,
            for datapaths with block scales and for a and b of two dimensions; None: all scales are 1.
        seed, stream, first: the random words of sums with stochastic rounding; the sum of element i (C order) has the
            words from index first + i words(k) on.
        out: an array for the result. backend: "cpu" (None) or "cuda".

    Returns:
        (..., m, n), float32, or float64 if the result format does not fit binary32 (int8, fp64). The bits depend on
        nothing else: not on threads, instruction set, blocks or layout.

    Raises:
        ValueError: shapes that do not fit, an unknown name, an operand that is no value of the input format.
    """
    d = datapath_of(datapath)
    dtype = d._dtype
    of_a = as_float(a, "a")
    of_b = as_float(b, "b")
    if of_a.ndim < 2 or of_b.ndim < 2:
        raise ValueError(f"a has {of_a.ndim} dimensions and b has {of_b.ndim}; matrices have at least two (see dot)")
    if cast is not None:
        holder = "binary32" if dtype == FLOAT32 else "binary64"
        of_a = np.asarray(_round(of_a, d.a or holder, cast))
        of_b = np.asarray(_round(of_b, d.b or holder, cast))
    left, m, k, lda = _matrices(_operand(of_a, "a", dtype), transpose_a)
    right, k_b, n, ldb = _matrices(_operand(of_b, "b", dtype), transpose_b)
    if k != k_b:
        raise ValueError(f"the sums of a have {k} products and the sums of b {k_b}: shapes {of_a.shape}, {of_b.shape}")
    batch = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    shape = (*batch, m, n)
    target = None if out is None else check_out(out, shape, dtype)
    result = np.empty(shape, dtype)
    if c is not None:
        start = _operand(as_float(c, "c"), "c", dtype)
        if d.result not in ("binary32", "binary64"):
            _explain((("c", start, d.result),))
        try:
            result[...] = start
        except ValueError:
            raise ValueError(f"c has shape {start.shape}; the result has shape {shape}") from None
    scales = [_scales(a_scales, "a_scales", m, k, d, batch), _scales(b_scales, "b_scales", n, k, d, batch)]
    *words, begin = words_of(seed, stream, first)
    per_sum = d.words(k) if d.stochastic else 0
    left = np.broadcast_to(left, (*batch, *left.shape[-2:]))
    right = np.broadcast_to(right, (*batch, *right.shape[-2:]))
    by = c_text(backend, "backend")
    rows = max(1, min(m, _PRODUCTS // max(1, n * k)))
    for place in np.ndindex(*batch):
        number = int(np.ravel_multi_index(place, batch)) if batch else 0
        at_a, at_b, at_c = address(left[place]), address(right[place]), address(result[place])
        for row in range(0, m, rows):
            more = min(rows, m - row)
            skipped = row if transpose_a else row * lda
            numbers = (ctypes.c_uint64 * 9)(more, n, k, lda, ldb, max(n, 1), transpose_a, transpose_b, c is not None)
            status = call.gemm(
                d._handle.address,
                by,
                at_c + row * n * dtype.itemsize,
                at_a + skipped * dtype.itemsize,
                at_b,
                numbers,
                dtype == FLOAT64,
                None if scales[0] is None else address(scales[0]) + row * scales[0].shape[1] * 4,
                None if scales[1] is None else address(scales[1]),
                *words,
                (begin + (number * m + row) * n * per_sum) % 2**64,
            )
            if status == _NO_CODE:
                _explain((("a", left, d.a), ("b", right, d.b)))
            check(status)
    return result_of(result, target, False)


def _scales(
    scales: Optional[ArrayLike], name: str, rows: int, k: int, d: Datapath, batch: tuple[int, ...]
) -> Optional[Array]:
    if scales is None:
        return None
    if d.scale is None:
        raise ValueError(f"{name} is given, but {d.name} has no block scales")
    if batch:
        raise ValueError(f"{name} is given, but a or b has more than two dimensions")
    shape = (rows, -(-k // d.scale_block))
    array = as_float(scales, name)
    if array.shape != shape:
        raise ValueError(f"{name} has shape {array.shape}; {d.name} takes {shape} here")
    codes_of(array, format_of(d.scale))
    return np.ascontiguousarray(converted(array, FLOAT32))


def dot(a: ArrayLike, b: ArrayLike, datapath: Union[str, Datapath] = "fp32", c: ArrayLike = 0.0, **options: Any) -> Any:
    """c + the sum of a[i] b[i], formed as a datapath says.

    Args:
        a, b: (k). c: a number. datapath and options: as of :func:`matmul`.

    Returns:
        A number of float32, or of float64 if the result format does not fit binary32.
    """
    left, right = np.asarray(a), np.asarray(b)
    if left.ndim != 1 or right.ndim != 1:
        raise ValueError(f"a has shape {left.shape} and b {right.shape}; a dot product takes two vectors")
    for name in ("transpose_a", "transpose_b", "out"):
        if name in options:
            raise TypeError(f"dot() takes no argument {name!r}")
    for name in ("a_scales", "b_scales"):
        if options.get(name) is not None:
            options[name] = np.asarray(options[name])[np.newaxis]
    of_c = as_float(c)
    start = None if of_c.ndim == 0 and of_c == 0 and not np.signbit(of_c) else np.reshape(of_c, (1, 1))
    return matmul(left[np.newaxis], right[:, np.newaxis], datapath, start, **options)[0, 0]
