"""The C library: where it is, what its functions take, and how its errors become exceptions."""

from __future__ import annotations

import ctypes
import ctypes.util
import os
from collections.abc import Iterator
from ctypes import POINTER, c_char_p, c_double, c_float, c_int, c_int64, c_size_t, c_uint64, c_void_p
from pathlib import Path
from typing import Callable, Optional


class DeviceError(RuntimeError):
    """The machine lacks an instruction set or a GPU, or a device reported an error."""


def _places() -> Iterator[str]:
    """The files that may be the library, in the order of the search."""
    chosen = os.environ.get("ULPLAB_LIBRARY")
    if chosen:
        yield chosen
        return
    here = Path(__file__).resolve().parent
    yield from sorted(str(path) for path in here.glob("lib/libulp.so*"))
    yield str(here.parent.parent / "build" / "lib" / "libulp.so")
    installed = ctypes.util.find_library("ulp")
    if installed:
        yield installed


def _load() -> tuple[ctypes.CDLL, str]:
    tried = []
    for place in _places():
        if "/" in place and not os.path.exists(place):
            tried.append(f"{place}: no such file")
            continue
        try:
            return ctypes.CDLL(place), place
        except OSError as error:
            tried.append(str(error))
    raise ImportError("ulplab found no library libulp.so; set ULPLAB_LIBRARY to its path. Tried: " + "; ".join(tried))


library, path = _load()

_P = c_void_p
#: int (*)(uint64_t *code, double c, const double *a, const double *b, size_t k)
Device = ctypes.CFUNCTYPE(c_int, POINTER(c_uint64), c_double, POINTER(c_double), POINTER(c_double), c_size_t)

#: void (*)(int point, uint64_t layer, uint64_t step, int scale_log2, uint64_t n, float *raw, float *rounded)
Observer = ctypes.CFUNCTYPE(None, c_int, c_uint64, c_uint64, c_int, c_uint64, POINTER(c_float), POINTER(c_float))

# name: result, arguments; see kernels/foreign/foreign.h and sim/train/foreign_training.h
_FUNCTIONS: dict[str, tuple[object, list[object]]] = {
    "error": (c_char_p, []),
    "release": (None, [_P]),
    "word": (c_char_p, [c_int, c_size_t]),
    "format_names": (c_char_p, [c_int]),
    "format": (c_int, [_P, c_char_p]),
    "format_fields": (c_char_p, [_P, _P, _P]),
    "format_text": (c_char_p, [c_size_t, c_int]),
    "other_name": (c_char_p, [c_size_t, c_int]),
    "next": (None, [_P, _P, _P, c_size_t, c_int]),
    "spacing": (None, [_P, _P, _P, c_size_t]),
    "decode": (c_int, [_P, _P, _P, c_size_t, c_size_t]),
    "encode": (c_int, [_P, _P, c_size_t, _P, c_int, c_size_t, _P]),
    "decode_floats": (c_int, [_P, _P, _P, c_size_t, c_size_t]),
    "encode_rounded": (c_int, [_P, _P, c_size_t, _P, c_size_t, c_uint64, c_uint64, c_uint64]),
    "ordinals": (c_int, [_P, _P, _P, c_size_t, _P]),
    "rounder": (c_int, [_P, c_char_p, c_char_p, c_char_p, c_int, c_char_p]),
    "round": (c_int, [_P, _P, _P, c_size_t]),
    "round64": (c_int, [_P, _P, _P, c_size_t]),
    "round_any": (c_int, [_P, _P, _P, c_size_t, c_int, c_uint64, c_uint64, c_uint64, _P]),
    "round_texts": (c_int, [_P, _P, c_char_p, c_size_t, c_uint64, c_uint64, c_uint64, _P]),
    "map": (c_int, [_P, c_int, _P, _P, _P, _P, c_size_t, c_int, c_uint64, c_uint64, c_uint64]),
    "datapath": (c_int, [_P, c_char_p]),
    "datapath_row": (c_char_p, [c_size_t]),
    "datapath_text": (c_char_p, [_P, c_int]),
    "datapath_integer": (c_int, [_P, c_int]),
    "datapath_words": (c_uint64, [_P, c_uint64]),
    "gemm": (c_int, [_P, c_char_p, _P, _P, _P, _P, c_int, _P, _P, c_uint64, c_uint64, c_uint64]),
    "block": (c_int, [_P, c_char_p]),
    "block_text": (c_char_p, [c_size_t, c_int]),
    "block_part": (c_char_p, [_P, c_int]),
    "block_size": (c_size_t, [_P]),
    "tensor_scale": (c_float, [_P, c_double]),
    "block_encode": (
        c_int,
        [_P, _P, _P, _P, c_int, c_size_t, c_size_t, c_float, _P, c_uint64, c_uint64, c_uint64],
    ),
    "block_decode": (c_int, [_P, _P, _P, _P, c_size_t, c_size_t, c_float]),
    "hadamard": (
        c_int,
        [_P, _P, _P, c_size_t, c_size_t, ctypes.c_uint32, c_int, c_int, *[c_uint64] * 5],
    ),
    "quantizer": (c_int, [_P, c_char_p, c_char_p, c_char_p, ctypes.c_uint32, c_float, c_int, c_int]),
    "quantizer_text": (c_char_p, [_P, c_int]),
    "quantizer_number": (c_int64, [_P, c_int]),
    "quantize": (c_int, [_P, _P, _P, _P, _P, _P, _P, c_uint64, c_uint64, c_uint64]),
    "quantize_floats": (c_int, [_P, _P, _P, _P, _P, _P, _P, c_uint64, c_uint64, c_uint64]),
    "dequantize": (c_int, [_P, _P, _P, _P, _P, _P]),
    "ggml_bytes": (c_size_t, [c_char_p]),
    "ggml_encode": (c_int, [c_char_p, _P, _P, c_size_t]),
    "ggml_decode": (None, [c_char_p, _P, _P, c_size_t]),
    "probe": (c_int, [_P, Device, c_char_p, c_char_p, c_char_p, POINTER(c_int)]),
    "property": (c_char_p, [_P, c_int, c_int]),
    "found": (c_int, [_P, c_int, POINTER(c_int64)]),
    "runs": (c_uint64, [_P]),
    "run_new": (c_int, [_P, _P, c_uint64, c_uint64, c_double, _P, _P, _P]),
    "run_release": (None, [_P]),
    "run_number": (c_uint64, [_P, c_int]),
    "run_layer": (c_char_p, [_P, c_uint64, POINTER(c_uint64), POINTER(c_uint64)]),
    "run_observe": (None, [_P, _P, ctypes.c_uint32]),
    "point": (c_char_p, [c_int]),
    "run_step": (c_int, [_P, _P]),
    "run_score": (c_int, [_P, c_int, _P]),
    "run_weights": (c_int, [_P, _P, _P]),
}


class _Calls:
    """The functions ulp_foreign_NAME as attributes NAME."""

    def __getattr__(self, name: str) -> Callable[..., object]:
        function = getattr(library, "ulp_foreign_" + name)
        function.restype, function.argtypes = _FUNCTIONS[name]
        setattr(self, name, function)
        return function  # type: ignore[no-any-return]


call = _Calls()

_threads_set = library.ulp_threads_set
_threads_set.restype, _threads_set.argtypes = None, [c_int]
_threads_get = library.ulp_threads_get
_threads_get.restype, _threads_get.argtypes = c_int, []

# ulp_status: the other numbers are ValueError
_NO_MEMORY, _NO_DEVICE, _BAD_FILE, _DEVICE_FAILED = 7, 8, 9, 10


def check(status: object) -> None:
    """Raises the exception of a status that is not 0, with the sentence of the library."""
    if status == 0:
        return
    sentence = text(call.error())
    if status == _NO_MEMORY:
        raise MemoryError(sentence)
    if status in (_NO_DEVICE, _DEVICE_FAILED):
        raise DeviceError(sentence)
    if status == _BAD_FILE:
        raise OSError(sentence)
    raise ValueError(sentence)


def text(of: object) -> str:
    """The text of a C string."""
    assert isinstance(of, bytes)
    return of.decode()


def c_text(of: Optional[str], what: str) -> Optional[bytes]:
    """A Python text for C; None stays None."""
    if of is None:
        return None
    if not isinstance(of, str):
        raise TypeError(f"{what} is a text, not {type(of).__name__}")
    if "\0" in of:
        raise ValueError(f"{what} {of!r} has a zero byte")
    return of.encode()


def texts(function: Callable[..., object], *arguments: object) -> list[str]:
    """The texts function(*arguments, 0), function(*arguments, 1), ... before the first NULL."""
    found: list[str] = []
    while (item := function(*arguments, len(found))) is not None:
        found.append(text(item))
    return found


class Handle:
    """An object of the library, which is released with the Python object."""

    __slots__ = ("_release", "address")

    def __init__(self, maker: str, *arguments: object, release: str = "release") -> None:
        self.address: Optional[int] = None
        self._release = getattr(call, release)
        to = c_void_p()
        check(getattr(call, maker)(ctypes.byref(to), *arguments))
        self.address = to.value

    def __del__(self) -> None:
        if getattr(self, "address", None) is not None:
            self._release(self.address)
            self.address = None


def set_threads(n: int) -> None:
    """Sets the number of threads of array operations, at most 1024.

    0 restores the default: the environment's OMP_NUM_THREADS, else all processors. Results never depend on it.
    """
    if type(n) is not int:
        raise TypeError(f"n is an integer, not {type(n).__name__}")
    if not 0 <= n <= 1024:
        raise ValueError(f"n is {n}; the number of threads is 0 to 1024")
    _threads_set(n)


def get_threads() -> int:
    """The number of threads of array operations."""
    return int(_threads_get())
