"""Rounding and arithmetic on arrays."""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple, Optional, Union

import numpy as np
from numpy.typing import ArrayLike

from ._arrays import (
    CHUNK,
    FLOAT32,
    FLOAT64,
    Array,
    address,
    as_float,
    as_texts,
    check_integer,
    check_out,
    converted,
    holds,
    is_narrow,
    result_of,
    words_of,
)
from ._formats import Format, codes_of, format_of
from ._library import Handle, c_text, call, check, texts

FormatLike = Union[str, Format]

_MODES = frozenset(texts(call.word, 0)) | {"sr"}
_OPERATIONS = {name: i for i, name in enumerate(texts(call.word, 2))}

_round32 = call.round
_round64 = call.round64


class Stats(NamedTuple):
    """Counts of a rounding.

    Attributes:
        count: elements. overflow: finite elements out of range. saturated: results at the end of the range that come
            from overflow or infinity. underflow: finite elements, not zero, that became zero.
        subnormal, zero, nan: results that are subnormal, zero (of either sign), NaN.
    """

    count: int  # type: ignore[assignment]
    overflow: int
    saturated: int
    underflow: int
    subnormal: int
    zero: int
    nan: int


class _Rule(Handle):
    """A format, a mode, an overflow policy, a number of random bits and a backend."""

    __slots__ = ("format", "narrow", "stochastic", "value_dtype")

    def __init__(
        self, format: FormatLike, mode: str, bits: int, overflow: Optional[str], backend: Optional[str]
    ) -> None:
        self.address = None
        self.format = format_of(format)
        random = check_integer(bits, "bits", 0, 32)
        if not isinstance(mode, str):
            raise TypeError(f"mode is a text, not {type(mode).__name__}")
        super().__init__(
            "rounder",
            self.format.name.encode(),
            c_text(mode, "mode"),
            c_text(overflow, "overflow"),
            random,
            c_text(backend, "backend"),
        )
        self.stochastic = mode.lower().startswith("sr")
        if random and not self.stochastic:
            raise ValueError(f"bits is {random}, but mode {mode} uses no random bits; sra, srb and src do")
        self.narrow = self.format.fits_binary32
        self.value_dtype = self.format.value_dtype


_rules: dict[tuple[object, ...], _Rule] = {}


def rule_of(format: FormatLike, mode: str, bits: int, overflow: Optional[str], backend: Optional[str]) -> _Rule:
    key = (format if type(format) is str else getattr(format, "name", format), mode, bits, overflow, backend)
    try:
        return _rules[key]
    except (KeyError, TypeError):
        rule = _Rule(format, mode, bits, overflow, backend)
        if len(_rules) > 4096:
            _rules.clear()
        _rules[key] = rule
        return rule


def round(
    x: ArrayLike,
    format: FormatLike,
    mode: str = "rne",
    *,
    bits: int = 0,
    overflow: Optional[str] = None,
    seed: int = 0,
    stream: Union[int, str] = 0,
    first: int = 0,
    out: Optional[Array] = None,
    stats: bool = False,
    backend: Optional[str] = None,
) -> Any:
    """Rounds every element once to a value of a format.

    Args:
        x: numbers of any shape: float16, float32, float64, dtypes of ml_dtypes, integers of any size, or texts and
            Decimal: decimals and hex floats of any length, exact numbers as in "2049.00000000000000001".
        format: a format, its name ("e4m3", "bf16", "q8.8", "e5m7:sat"), or a dtype (np.float16, "float8_e4m3fn").
        mode: "rne", "rna", "rnu", "rnz", "rnd", "rz", "ru", "rd", "ro"; "sra" (or "sr"), "srb", "src" are stochastic.
        bits: random bits of a stochastic mode, 1 to 32; 0 is 32.
        overflow: "inf", "sat", "sym", "nan", "zero", "wrap" (fixed point only); None is the policy of the format.
        seed, stream, first: element i (in C order) has the random word (seed, stream, first + i) of Philox4x32-10;
            a text as `stream` is hashed. The same words give the same bits on any machine and number of threads.
        out: an array for the result, of its shape and dtype; `out=x` rounds in place.
        stats: also return :class:`Stats`.
        backend: "cpu" (None) or "cuda".

    Returns:
        An array of x's shape; a number if x is one. The dtype is x's if it holds every value of the format, else
        float32 if this does, else float64. Integers and texts give float64. With stats a pair: the array and the counts.
        NaN stays NaN, also in a format without NaN codes, which :func:`encode` refuses. A format without zero (e8m0)
        gives its least value in place of zero.

    Raises:
        ValueError: an unknown name, a number out of range, an `out` that does not fit. TypeError: a dtype that is no
        number.

    Source: IEEE 754-2019, 4.3 and 7.4; IEEE P3109 interim report v4.0, section 4.6.
    """
    rule = rule_of(format, mode, bits, overflow, backend)
    if seed != 0 or stream != 0 or first != 0:
        words_of(seed, stream, first)
    if type(x) is np.ndarray and x.dtype == FLOAT32 and rule.narrow and x.flags.c_contiguous:
        array = x
        dtype: np.dtype[Any] = FLOAT32
        scalar = x.ndim == 0
    else:
        exact = as_texts(x)
        if exact is not None:
            if stats or backend not in (None, "cpu"):
                raise ValueError("texts and integers beyond 2^53 have no stats and no other backend than cpu")
            values = _round_texts(rule, *exact, seed, stream, first)
            return result_of(values, None if out is None else check_out(out, values.shape, FLOAT64), not exact[1])
        array = as_float(x)
        given = getattr(x, "dtype", array.dtype)
        scalar = np.ndim(x) == 0
        dtype = array.dtype if array.dtype == FLOAT64 or rule.narrow else FLOAT64
        if array.dtype != dtype:
            array = converted(array, dtype)
        f = rule.format
        if is_narrow(given) and holds(given, f.prec, f.qmin, max(f.max, -f.lowest)):
            dtype = given
    if out is not None:
        check_out(out, array.shape, dtype)
    direct = out is not None and dtype == array.dtype and out.flags.c_contiguous
    if direct and out is not x and np.may_share_memory(out, array):
        direct = False
    to = out if out is not None and direct else np.empty_like(array)
    n = array.size
    if n <= CHUNK and not rule.stochastic and not stats:
        function = _round32 if array.dtype == FLOAT32 else _round64
        status = function(rule.address, address(to), address(array), n)
        if status:
            check(status)
        counts = None
    else:
        counts = _round_chunks(rule, to, array, seed, stream, first, stats)
    values = to if dtype == to.dtype else to.astype(dtype)
    result = result_of(values, out, scalar)
    return (result, counts) if stats else result


def _round_texts(
    rule: _Rule, numbers: list[str], shape: tuple[int, ...], seed: int, stream: Union[int, str], first: int
) -> Array:
    """Rounds exact numbers."""
    values = np.empty(shape, np.float64)
    for number in numbers:
        if "\0" in number:
            raise ValueError(f"{number!r} is no number")
    at = ctypes.c_size_t()
    joined = "\0".join(numbers).encode()
    words = words_of(seed, stream, first)
    check(call.round_texts(rule.address, address(values), joined, values.size, *words, ctypes.byref(at)))
    return values


def _round_chunks(
    rule: _Rule, to: Array, array: Array, seed: int, stream: Union[int, str], first: int, stats: bool
) -> Optional[Stats]:
    """Rounds by calls on at most CHUNK elements, between which Python handles signals."""
    counts = (ctypes.c_uint64 * 7)() if stats else None
    *words, begin = words_of(seed, stream, first)
    size, source, target = array.itemsize, address(array), address(to)
    for at in range(0, array.size, CHUNK):
        n = min(CHUNK, array.size - at)
        index = (begin + at) % 2**64
        places = (target + at * size, source + at * size)
        check(call.round_any(rule.address, *places, n, size == 8, *words, index, counts))
    return Stats(*counts) if counts is not None else None


def _rounded_codes(array: Array, rule: _Rule, words: tuple[int, int, int]) -> Optional[Array]:
    """The codes of an array of float32 rounded by a rule; None if a result has no code."""
    codes = np.empty(array.shape, rule.format.code_dtype)
    *stream, begin = words
    source, target, size = address(array), address(codes), codes.itemsize
    for at in range(0, array.size, CHUNK):
        n = min(CHUNK, array.size - at)
        places = target + at * size, size, source + 4 * at, n
        if call.encode_rounded(rule.address, *places, *stream, (begin + at) % 2**64) != 0:
            return None
    return codes


def encode(
    x: ArrayLike,
    format: FormatLike,
    mode: Optional[str] = "rne",
    *,
    bits: int = 0,
    overflow: Optional[str] = None,
    seed: int = 0,
    stream: Union[int, str] = 0,
    first: int = 0,
    as_dtype: bool = False,
) -> Any:
    """The codes of numbers, rounded as :func:`round` does.

    Args:
        mode: a rounding mode; None: every element has to be a value of the format.
        as_dtype: return a view of the codes as the dtype with these codes (:attr:`Format.dtype`).
        Other arguments: see :func:`round`.

    Returns:
        Codes of x's shape as the smallest unsigned dtype that holds them (:attr:`Format.code_dtype`).

    Raises:
        ValueError: as :func:`round`; with mode None for the first element that is no value of the format; for NaN in a
        format without NaN; with as_dtype where no dtype has the codes.
    """
    f = format_of(format)
    values = x if mode is not None and as_texts(x) is not None else as_float(x)
    codes = None
    if mode is not None and f.bits <= 16 and isinstance(values, np.ndarray) and values.dtype == FLOAT32:
        rule = rule_of(f, mode, bits, overflow, None)
        codes = _rounded_codes(np.ascontiguousarray(values), rule, words_of(seed, stream, first))
    if mode is not None and codes is None:
        values = np.asarray(round(values, f, mode, bits=bits, overflow=overflow, seed=seed, stream=stream, first=first))
    if codes is None:
        codes = codes_of(values, f)
    if as_dtype:
        if f.dtype is None:
            raise ValueError(f"no dtype has the codes of {f.name}; ml_dtypes may be missing")
        codes = codes.view(f.dtype)
    return codes[()] if np.ndim(x) == 0 else codes


def _arithmetic(
    operation: str, operands: tuple[ArrayLike, ...], format: FormatLike, mode: str, options: dict[str, Any]
) -> Any:
    """An operation on arrays of any shapes that broadcast, the exact result of each element rounded once."""
    known = {"bits": 0, "overflow": None, "seed": 0, "stream": 0, "first": 0, "out": None, "backend": None}
    unknown = set(options) - set(known)
    if unknown:
        raise TypeError(f"{operation}() takes no argument {sorted(unknown)[0]!r}; there are {', '.join(known)}")
    o = {**known, **options}
    rule = rule_of(format, mode, o["bits"], o["overflow"], o["backend"])
    arrays = [as_float(operand, f"operand {i + 1}") for i, operand in enumerate(operands)]
    wide = not rule.narrow or any(a.dtype == FLOAT64 for a in arrays)
    dtype = FLOAT64 if wide else FLOAT32
    # a number of Python does not widen the result, as in NumPy
    widen = [a.dtype == FLOAT64 for a, operand in zip(arrays, operands) if type(operand) not in (int, float)]
    returned = FLOAT64 if not rule.narrow or any(widen) or not widen else FLOAT32
    shape = np.broadcast_shapes(*(np.shape(a) for a in arrays))
    full = [np.ascontiguousarray(np.broadcast_to(converted(a, dtype), shape)) for a in arrays]
    out = None if o["out"] is None else check_out(o["out"], shape, returned)
    to = np.empty(shape, dtype)
    *words, begin = words_of(o["seed"], o["stream"], o["first"])
    at = [address(to)] + [address(a) for a in full]
    at += [0] * (4 - len(at))
    for element in range(0, to.size, CHUNK):
        n, more = min(CHUNK, to.size - element), element * dtype.itemsize
        pointers = [p + more if p else None for p in at]
        check(call.map(rule.address, _OPERATIONS[operation], *pointers, n, wide, *words, (begin + element) % 2**64))
    scalar = all(np.ndim(operand) == 0 for operand in operands)
    return result_of(to.astype(returned, copy=False), out, scalar)


_ARITHMETIC = """

    Args:
        {operands}: numbers; shapes broadcast. They need not be values of the format.
        format, mode: see :func:`round`.
        options: bits, overflow, seed, stream, first, out, backend, as of :func:`round`.

    Returns:
        float32, or float64 if an operand is an array or number of float64, if all operands are numbers of Python, or if
        the format does not fit binary32.

    Source: IEEE 754-2019, 5.4.1.
    """


def add(a: ArrayLike, b: ArrayLike, format: FormatLike, mode: str = "rne", **options: Any) -> Any:
    return _arithmetic("add", (a, b), format, mode, options)


def sub(a: ArrayLike, b: ArrayLike, format: FormatLike, mode: str = "rne", **options: Any) -> Any:
    return _arithmetic("sub", (a, b), format, mode, options)


def mul(a: ArrayLike, b: ArrayLike, format: FormatLike, mode: str = "rne", **options: Any) -> Any:
    return _arithmetic("mul", (a, b), format, mode, options)


def div(a: ArrayLike, b: ArrayLike, format: FormatLike, mode: str = "rne", **options: Any) -> Any:
    return _arithmetic("div", (a, b), format, mode, options)


def sqrt(a: ArrayLike, format: FormatLike, mode: str = "rne", **options: Any) -> Any:
    return _arithmetic("sqrt", (a,), format, mode, options)


def fma(a: ArrayLike, b: ArrayLike, c: ArrayLike, format: FormatLike, mode: str = "rne", **options: Any) -> Any:
    return _arithmetic("fma", (a, b, c), format, mode, options)


for _function, _result, _operands in (
    (add, "a + b", "a, b"),
    (sub, "a - b", "a, b"),
    (mul, "a b", "a, b"),
    (div, "a / b", "a, b"),
    (sqrt, "the square root of a", "a"),
    (fma, "a b + c", "a, b, c"),
):
    _function.__doc__ = f"{_result}, the exact result rounded once." + _ARITHMETIC.format(operands=_operands)

def exp(x: ArrayLike, format: FormatLike, mode: str = "rne", **options: Any) -> Any:
    return _arithmetic("exp", (x,), format, mode, options)


def exp2(x: ArrayLike, format: FormatLike, mode: str = "rne", **options: Any) -> Any:
    return _arithmetic("exp2", (x,), format, mode, options)


def log(x: ArrayLike, format: FormatLike, mode: str = "rne", **options: Any) -> Any:
    return _arithmetic("log", (x,), format, mode, options)


def log2(x: ArrayLike, format: FormatLike, mode: str = "rne", **options: Any) -> Any:
    return _arithmetic("log2", (x,), format, mode, options)


def sin(x: ArrayLike, format: FormatLike, mode: str = "rne", **options: Any) -> Any:
    return _arithmetic("sin", (x,), format, mode, options)


def cos(x: ArrayLike, format: FormatLike, mode: str = "rne", **options: Any) -> Any:
    return _arithmetic("cos", (x,), format, mode, options)


def tanh(x: ArrayLike, format: FormatLike, mode: str = "rne", **options: Any) -> Any:
    return _arithmetic("tanh", (x,), format, mode, options)


def sigmoid(x: ArrayLike, format: FormatLike, mode: str = "rne", **options: Any) -> Any:
    return _arithmetic("sigmoid", (x,), format, mode, options)


def gelu(x: ArrayLike, format: FormatLike, mode: str = "rne", **options: Any) -> Any:
    return _arithmetic("gelu", (x,), format, mode, options)


def gelu_tanh(x: ArrayLike, format: FormatLike, mode: str = "rne", **options: Any) -> Any:
    return _arithmetic("gelu_tanh", (x,), format, mode, options)


def silu(x: ArrayLike, format: FormatLike, mode: str = "rne", **options: Any) -> Any:
    return _arithmetic("silu", (x,), format, mode, options)


def softplus(x: ArrayLike, format: FormatLike, mode: str = "rne", **options: Any) -> Any:
    return _arithmetic("softplus", (x,), format, mode, options)


def rsqrt(x: ArrayLike, format: FormatLike, mode: str = "rne", **options: Any) -> Any:
    return _arithmetic("rsqrt", (x,), format, mode, options)


def reciprocal(x: ArrayLike, format: FormatLike, mode: str = "rne", **options: Any) -> Any:
    return _arithmetic("reciprocal", (x,), format, mode, options)


_FUNCTION = """, correctly rounded: the exact value rounded once, in every format and mode.

    Args:
        x: numbers of any shape. They need not be values of the format.
        format, mode: see :func:`round`.
        options: bits, overflow, seed, stream, first, out, as of :func:`round`. exp and exp2 do not wrap around.

    Returns:
        The dtype of :func:`sqrt`. Zeros, infinities and arguments without a result: IEEE 754-2019, 9.2.1; other
        functions have their limits at infinity. About a microsecond a number on one thread.

    Source: Ziv 1991, doi:10.1145/114697.116813.
    """

for _function, _result in (
    (exp, "e^x"),
    (exp2, "2^x"),
    (log, "the natural logarithm of x"),
    (log2, "the logarithm of x to base 2"),
    (sin, "the sine of x in radians"),
    (cos, "the cosine of x in radians"),
    (tanh, "the hyperbolic tangent of x"),
    (sigmoid, "1 / (1 + e^-x)"),
    (gelu, "x (1 + erf(x / sqrt 2)) / 2"),
    (gelu_tanh, "x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2, approximate=\"tanh\" of PyTorch"),
    (silu, "x / (1 + e^-x)"),
    (softplus, "log(1 + e^x)"),
    (rsqrt, "1 / sqrt x"),
    (reciprocal, "1 / x"),
):
    _function.__doc__ = _result + _FUNCTION
