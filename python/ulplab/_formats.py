"""Formats: their parameters, values, codes and neighbours."""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import Any, NamedTuple, Optional, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._arrays import FLOAT64, Array, address, as_float, converted
from ._library import Handle, c_text, call, check, text, texts

_INTEGERS: list[str] = text(call.format_names(1)).split()
_NUMBERS: list[str] = text(call.format_names(0)).split()
_POLICIES: list[str] = texts(call.word, 1)
_NAN_CODES = ("none", "ieee", "all ones", "negative zero")
_TAPERS = ("none", "posit", "takum", "hif8")

#: formats and the dtypes of ml_dtypes with the same codes
_ML_DTYPES = {
    "bfloat16": "bfloat16",
    "e4m3": "float8_e4m3fn",
    "e4m3ieee": "float8_e4m3",
    "e5m2": "float8_e5m2",
    "e4m3fnuz": "float8_e4m3fnuz",
    "e5m2fnuz": "float8_e5m2fnuz",
    "e8m0": "float8_e8m0fnu",
    "e3m4": "float8_e3m4",
    "e2m1": "float4_e2m1fn",
    "e2m3": "float6_e2m3fn",
    "e3m2": "float6_e3m2fn",
    "e4m3fnuz:bias=11": "float8_e4m3b11fnuz",
    "q4.0": "int4",
    "q2.0": "int2",
}

_NUMPY = {"binary16": "float16", "binary32": "float32", "binary64": "float64"}


def _name_of(format: object) -> str:
    """The name of a format: of NumPy's, ml_dtypes' and PyTorch's dtypes and their names, too."""
    if isinstance(format, str):
        return format
    name = str(format)[len("torch.") :] if str(format).startswith("torch.") else None
    if name is None:
        try:
            if format is None:  # NumPy takes None for float64
                raise TypeError
            name = np.dtype(format).name  # type: ignore[call-overload]
        except TypeError:
            raise TypeError(f"a format is a name, a Format or a dtype, not {type(format).__name__}") from None
    return name


class Format:
    """A number format: a registered name or alias, eXmY, qI.F, binaryKpP, positN, takumN, with suffixes as :sat; or a dtype.

    ``ulp help formats`` and :func:`formats` list the registered names. A format is a set of numbers
    ``(-1)^s m 2^(e - prec + 1)`` with codes of `bits` bits (IEEE P3109 interim report v4.0, section 4).

    Attributes (exact, as int, bool or float):
        name, bits: the canonical name; bits of a code.
        prec: significand bits with the hidden bit. emin, emax: exponents of normal numbers. bias: of exponent fields.
        qmin: the least spacing is 2^qmin.
        max, lowest, min_normal, min_positive: the largest, the most negative, the least normal and positive values.
        is_signed, is_fixed, has_inf, has_zero, has_neg_zero, has_subnormals, fits_binary32: properties.
        frac_bits: fraction bits of fixed point. nan_codes: "none", "ieee", "all ones" or "negative zero".
        taper: "none", or the kind of a format whose precision depends on the exponent: "posit", "takum", "hif8"; prec is
            then the largest precision. exponent_bits: of a posit.
        overflow: the overflow policy that the name implies: "inf", "sat", "nan", "wrap", "sym" or "zero".
        max_code, inf_code, nan_code: codes of the largest value, of +Inf and of NaN (0 if there is none).

    Raises:
        ValueError: no format has this name; the message has near names.
    """

    bits: int
    prec: int
    bias: int
    is_signed: bool
    is_fixed: bool
    frac_bits: int
    has_inf: bool
    has_zero: bool
    has_neg_zero: bool
    has_subnormals: bool
    zero_binade: bool
    nan_codes: str
    overflow: str
    taper: str
    exponent_bits: int
    emin: int
    emax: int
    qmin: int
    fits_binary32: bool
    max_code: int
    inf_code: int
    nan_code: int
    max: float
    lowest: float
    min_normal: float
    min_positive: float

    def __init__(self, name: Any) -> None:
        self._handle = Handle("format", c_text(_name_of(name), "the name of a format"))
        integers = (ctypes.c_uint64 * len(_INTEGERS))()
        numbers = (ctypes.c_double * len(_NUMBERS))()
        self.name: str = text(call.format_fields(self._handle.address, integers, numbers))
        for field, value in zip(_INTEGERS, integers):
            setattr(self, field, self._field(field, value))
        for field, number in zip(_NUMBERS, numbers):
            setattr(self, field, float(number))

    @staticmethod
    def _field(field: str, value: int) -> Union[int, bool, str]:
        if field == "nan_codes":
            return _NAN_CODES[value]
        if field == "overflow":
            return _POLICIES[value]
        if field == "taper":
            return _TAPERS[value]
        if field.startswith(("is_", "has_", "fits_")) or field == "zero_binade":
            return bool(value)
        if field in ("bias", "emin", "emax", "qmin") and value >= 2**63:
            return value - 2**64
        return value

    def __repr__(self) -> str:
        return f"Format({self.name!r})"

    def __str__(self) -> str:
        special = [word for word, there in (("Inf", self.has_inf), ("NaN", self.nan_codes != "none")) if there]
        return (
            f"{self.name}: {self.bits} bits, {self.prec} of precision, {self.lowest:g} to {self.max:g}, least positive "
            f"{self.min_positive:g}, {' and '.join(special) or 'no Inf, no NaN'}, overflow {self.overflow}"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return Format, (self.name,)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Format) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def code_dtype(self) -> np.dtype[Any]:
        """The smallest unsigned dtype that holds a code."""
        return np.dtype(next(f"uint{8 * width}" for width in (1, 2, 4, 8) if 8 * width >= self.bits))

    @property
    def value_dtype(self) -> np.dtype[Any]:
        """float32 if it holds every value, else float64."""
        return np.dtype(np.float32 if self.fits_binary32 else np.float64)

    @property
    def dtype(self) -> Optional[np.dtype[Any]]:
        """The dtype whose bits are the codes: NumPy's, or of ml_dtypes if it is installed; None if there is none."""
        own = _NUMPY.get(self.name)
        if own is not None:
            return np.dtype(own)
        name = _ML_DTYPES.get(self.name)
        try:
            import ml_dtypes
        except ImportError:
            return None
        return np.dtype(getattr(ml_dtypes, name)) if name is not None and hasattr(ml_dtypes, name) else None

    def codes(self) -> Array:
        """All codes, ascending, of dtype :attr:`code_dtype`.

        Raises:
            ValueError: the format has more than 24 bits.
        """
        if self.bits > 24:
            raise ValueError(f"{self.name} has 2^{self.bits} codes; codes() lists at most 2^24")
        return np.arange(2**self.bits, dtype=self.code_dtype)

    def values(self) -> NDArray[np.float64]:
        """The finite values, ascending and different, as float64; zero once.

        Raises:
            ValueError: the format has more than 24 bits.
        """
        decoded = decode(self.codes(), self).astype(np.float64)
        return np.unique(decoded[np.isfinite(decoded)] + 0.0)

    def _each(self, name: str, x: ArrayLike, *more: int) -> Any:
        array = converted(as_float(x), FLOAT64)
        y = np.empty_like(array)
        getattr(call, name)(self._handle.address, address(y), address(array), array.size, *more)
        return y[()] if np.ndim(x) == 0 else y

    def next_up(self, x: ArrayLike) -> Any:
        """The least value above x, for any x; float64 of x's shape (IEEE 754-2019, 5.3.1).

        Past the largest value Inf where the format has it, else the largest value.
        """
        return self._each("next", x, 1)

    def next_down(self, x: ArrayLike) -> Any:
        """The greatest value below x, for any x; float64 of x's shape; see :meth:`next_up`."""
        return self._each("next", x, 0)

    def spacing(self, x: ArrayLike) -> Any:
        """The spacing of the values at x, a unit in the last place; float64 of x's shape."""
        return self._each("spacing", x)


@lru_cache(maxsize=1024)
def _format_named(name: str) -> Format:
    return Format(name)


def format_of(format: Any) -> Format:
    """A format, by its name, a dtype or itself."""
    if isinstance(format, Format):
        return format
    return _format_named(_name_of(format))


class FormatRow(NamedTuple):
    """A registered format: its name, its other names, and the standard or paper that defines it."""

    name: str
    aliases: tuple[str, ...]
    source: str


def formats() -> list[FormatRow]:
    """The registered formats. Names as e5m7, q4.12 and binary8p3se are formats, too."""
    rows = []
    for i, name in enumerate(texts(lambda j: call.format_text(j, 0))):
        rows.append(FormatRow(name, tuple(text(call.format_text(i, 1)).split()), text(call.format_text(i, 2))))
    return rows


class OtherName(NamedTuple):
    """What other tools call a format; the name is a name here, too. format is "" where no format here has the numbers."""

    name: str
    format: str
    where: str


def names() -> list[OtherName]:
    """The names of formats in other tools, as ``ulp help names`` prints them."""
    rows = texts(lambda i: call.other_name(i, 0))
    return [OtherName(name, text(call.other_name(i, 1)), text(call.other_name(i, 2))) for i, name in enumerate(rows)]


def _decoded(f: Format, codes: Array) -> Array:
    """The values of codes of dtype f.code_dtype, in C order."""
    values = np.empty(codes.shape, np.float64)
    check(call.decode(f._handle.address, address(values), address(codes), codes.itemsize, codes.size))
    return values.astype(f.value_dtype)


@lru_cache(maxsize=256)
def _table(name: str) -> Array:
    """The values of all codes of a format of at most 16 bits."""
    table = _decoded(format_of(name), format_of(name).codes())
    table.flags.writeable = False
    return table


def decode(codes: ArrayLike, format: Union[str, Format]) -> Any:
    """The values of codes.

    Args:
        codes: unsigned integers of any shape, or an array of a dtype of ml_dtypes with the codes of the format.
        format: a format or its name.

    Returns:
        The values, of the shape of `codes`, float32 if the format fits binary32, else float64. NaN codes give NaN.

    Raises:
        TypeError: `codes` are no integers. ValueError: a code is negative or has more bits than the format.
    """
    f = format_of(format)
    array = np.asarray(codes)
    if f.dtype is not None and array.dtype == f.dtype:
        array = np.ascontiguousarray(array).view(f.code_dtype)
    if not array.size:
        array = np.empty(array.shape, f.code_dtype)
    if array.dtype.kind not in "iu":
        raise TypeError(f"codes are integers, not {array.dtype}")
    full = array.dtype == f.code_dtype and f.bits == 8 * array.itemsize
    if array.size and not full and (int(array.min()) < 0 or int(array.max()) >> f.bits):
        worst = int(array.min()) if int(array.min()) < 0 else int(array.max())
        raise ValueError(f"codes has {worst}; codes of {f.name} are 0 to {2**f.bits - 1}")
    if f.bits <= 16 and f.fits_binary32:
        source = np.ascontiguousarray(array.astype(f.code_dtype, copy=False))
        values: Array = np.empty(array.shape, np.float32)
        where = address(values), address(source), source.itemsize, source.size
        check(call.decode_floats(f._handle.address, *where))
    elif f.bits <= 16:
        values = _table(f.name)[array]
    else:
        values = _decoded(f, np.ascontiguousarray(array.astype(f.code_dtype)))
    return values[()] if np.ndim(codes) == 0 else values


def codes_of(values: Array, f: Format) -> Array:
    """The codes of values (float32 or float64, C order) of the format; ValueError names an element that has none."""
    codes = np.empty(values.shape, f.code_dtype)
    at = ctypes.c_size_t()
    check(
        call.encode(
            f._handle.address,
            address(codes),
            codes.itemsize,
            address(values),
            values.itemsize == 8,
            values.size,
            ctypes.byref(at),
        )
    )
    return codes
