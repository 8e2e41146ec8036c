"""Probing of any dot product: which sums it forms, from operands and results alone."""

from __future__ import annotations

import ctypes
from typing import Any, Callable, NamedTuple, Optional

import numpy as np

from ._formats import Format, codes_of, format_of
from ._library import Device, Handle, call, text
from ._rounding import FormatLike

_FOUND = ("not reachable", "found", "at least", "at most")


class Property(NamedTuple):
    """A property of a device.

    Attributes:
        name: "L", "F products", "rounding", ... value: in words: "16", "rz", "not reachable".
        found: "found", "at least", "at most" or "not reachable". number: the value as a number.
        meaning: what the property is. how: the vector that was used, or the reason why there is none.
    """

    name: str
    value: str
    found: str
    number: int
    meaning: str
    how: str


class Probe:
    """The properties of a device; see :func:`probe`. `report[name]` is a :class:`Property`.

    Attributes:
        properties: all properties by name. runs: the number of sums that the device formed.
    """

    def __init__(self, properties: dict[str, Property], runs: int) -> None:
        self.properties = properties
        self.runs = runs

    def __getitem__(self, name: str) -> Property:
        return self.properties[name]

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        rows = [f"{p.name:<20} {p.value:<24} {p.meaning}" for p in self.properties.values()]
        return "\n".join([*rows, f"{self.runs} sums"])


def probe(
    f: Callable[[Any, Any, Any], Any],
    a: FormatLike = "binary16",
    b: Optional[FormatLike] = None,
    result: FormatLike = "binary32",
    *,
    dtype: Any = np.float32,
) -> Probe:
    """Finds how a function forms sums of products.

    Args:
        f: f(a, b, c) is c + the sum of a[i] b[i], for vectors a and b (k) and a number c, which are values of the
            formats. It may be the product of a library, or of a GPU through PyTorch.
        a, b, result: the formats of the operands (b as a if None), and of start values and results.
        dtype: the dtype of the vectors and of c that f gets.

    Returns:
        The properties: products in one sum, bits kept, alignment, rounding, order, special values.

    The vectors are made for sums of blocks of products in an order, as matrix units form them. A function that adds in
    a tree or in several partial sums is described by the nearest such sum only.

    Raises:
        What f raises. ValueError: a result of f is no value of the format.

    Sources: Fasi et al. 2021, doi:10.7717/peerj-cs.330; Khattak and Mikaitis 2025, arXiv 2512.07004.
    """
    of_a = format_of(a)
    of_b = of_a if b is None else format_of(b)
    of_result = format_of(result)
    raised: list[BaseException] = []

    def device(code: Any, c: float, at_a: Any, at_b: Any, k: int) -> int:
        try:
            x = np.ctypeslib.as_array(at_a, (k,)).astype(dtype) if k else np.zeros(0, dtype)
            y = np.ctypeslib.as_array(at_b, (k,)).astype(dtype) if k else np.zeros(0, dtype)
            code[0] = _code(f(x, y, np.asarray(c, dtype)[()]), of_result)
            return 0
        except BaseException as error:
            raised.append(error)
            return 1

    stopped = ctypes.c_int()
    try:
        handle = Handle(
            "probe",
            Device(device),
            of_a.name.encode(),
            of_b.name.encode(),
            of_result.name.encode(),
            ctypes.byref(stopped),
        )
    except Exception:
        if raised:
            raise raised[0] from None
        raise
    properties = {}
    i = 0
    while (name := call.property(handle.address, i, 0)) is not None:
        value = ctypes.c_int64()
        found = int(str(call.found(handle.address, i, ctypes.byref(value))))
        words = [text(call.property(handle.address, i, which)) for which in (1, 2, 3)]
        properties[text(name)] = Property(text(name), words[0], _FOUND[found], value.value, words[1], words[2])
        i += 1
    return Probe(properties, int(str(call.runs(handle.address))))


def _code(y: Any, f: Format) -> int:
    """The code of a result. The bits of a NaN of float32 stay."""
    value = np.asarray(y)
    if value.dtype.kind not in "fiu" and value.dtype.name != "bfloat16":
        raise TypeError(f"f returned {type(y).__name__}, not a number")
    if value.size != 1:
        raise ValueError(f"f returned an array of shape {value.shape}, not a number")
    value = value.reshape(())
    if f.name == "binary32" and value.dtype == np.float32:
        return int(value.view(np.uint32))
    return int(codes_of(np.asarray(value, np.float64), f))
