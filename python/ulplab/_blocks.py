"""Block-scaled formats: MX, NVFP4 and others as codes of elements and scales."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Optional, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._arrays import FLOAT32, Array, address, as_float, check_integer, converted, largest_finite, words_of
from ._formats import decode, format_of
from ._library import Handle, c_text, call, check, text, texts
from ._rounding import rule_of
from ._scaled import GgufBlocks, Part, Scaled, is_gguf, pack4, quantize_gguf, quantize_scaled, scaled_name


class Block:
    """A block-scaled format: "mxfp8", "mxfp4", "nvfp4", ..., with another size as in "mxint8:256", or
    "block:ELEMENT,SIZE,SCALE"; with a rule as in "mxfp4:noclip" and "nvfp4:32:mse46".

    Attributes:
        name: the canonical name. element, scale: names of the formats of elements and scales.
        size: elements that share a scale. rule: "floor", "ceil", "even", "noclip", "amax", "te", "mse46",
            "best" or "up17".

    Raises:
        ValueError: no block format has this name.

    Sources: OCP Microscaling Formats v1.0, section 5; NVIDIA 2025, arXiv:2509.25149 (NVFP4).
    """

    def __init__(self, name: str) -> None:
        self._handle = Handle("block", c_text(name, "the name of a block format"))
        at = self._handle.address
        self.name, self.element, self.scale, self.rule = (text(call.block_part(at, i)) for i in range(4))
        self.size = int(str(call.block_size(at)))

    def __repr__(self) -> str:
        return f"Block({self.name!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Block, (self.name,)

    @property
    def has_tensor_scale(self) -> bool:
        """Whether arrays have a binary32 factor of their own in addition to the scales of blocks, as in NVFP4."""
        return self.scale != "e8m0"


@lru_cache(maxsize=256)
def _block_named(name: str) -> Block:
    return Block(name)


def blocks() -> list[str]:
    """The names of the registered block formats."""
    return texts(lambda i: call.block_text(i, 0))


@dataclass(frozen=True, repr=False)
class Quantized:
    """An array in a block-scaled format; see :func:`quantize`.

    Attributes:
        block: the format. axis: the axis along which blocks lie.
        elements: element codes, uint8, of the shape of the array with `axis` last.
        scales: scale codes, uint8, of this shape with ceil(length / block.size) in place of the last length.
        tensor_scale: the factor of the whole array, 1 for formats without it.
    """

    block: Block
    axis: int
    elements: NDArray[np.uint8]
    scales: NDArray[np.uint8]
    tensor_scale: float

    def __repr__(self) -> str:
        return f"<Quantized {self.block.name}, elements of shape {self.elements.shape}, axis {self.axis}>"

    def packed(self) -> NDArray[np.uint8]:
        """The element codes as hardware wants them: two codes of 4 bits in a byte, the first in the low half.

        Codes of 6 and 8 bits stay one in a byte. An odd last axis is filled by a zero code.
        """
        return pack4(self.elements) if format_of(self.block.element).bits == 4 else self.elements

    def scale_values(self) -> NDArray[np.float32]:
        """The values of the scales, without the tensor scale."""
        return np.asarray(decode(self.scales, self.block.scale), np.float32)

    def dequantize(self) -> NDArray[np.float32]:
        """The values, float32, of the shape of the array."""
        return dequantize(self)


def _with_rule(name: str, rule: str) -> str:
    """The name of a block format with another scale rule."""
    parts = name.split(":")
    has_more = parts[0].lower() == "block" or (len(parts) > 1 and parts[1].isdigit())
    return ":".join([*parts[: 2 if has_more else 1], rule])


def quantize(
    x: ArrayLike,
    block: Union[str, Block],
    axis: int = -1,
    *,
    per: Optional[Part] = None,
    tiles: bool = False,
    scale: str = "binary32",
    scale_rule: Optional[str] = None,
    percentile: Optional[float] = None,
    zero_point: bool = False,
    narrow: bool = False,
    tensor_scale: Union[str, float, None] = None,
    mode: str = "rne",
    bits: int = 0,
    overflow: Optional[str] = None,
    seed: int = 0,
    stream: Union[int, str] = 0,
    first: int = 0,
) -> Any:
    """An array in a block-scaled format, or with scales of its own for any part of it.

    Args:
        x: numbers; for blocks of at least one dimension. Each quotient of a number and its scales is rounded once.
        block: a block format, "mxfp8", "mxfp4", "nvfp4", "nvfp4:te", "mxint8:256", "nvfp4:32:noclip",
            "block:e2m1,16,e4m3", ...: see :func:`blocks`. Or
            an element: a format of up to 16 bits, "int8", "uint4", "q2.6", "e4m3", ..., or the code book "nf4"; the
            result is then :class:`Scaled`. Or "q8_0", "q4_0", "q4_1" of GGUF, with ggml's bytes: :class:`GgufBlocks`.
        axis: blocks lie along this axis, and channels are its indices; the last block of a row may have fewer elements.
        per: of an element: what shares a scale: "tensor" (or None), "row", "channel", a tile "128x128" or (128, 128)
            of the last two axes, or a number of neighbours on the last axis; parts at the end may be short.
        tiles: of a block format: tiles of size x size elements of the last two axes share a scale; the result is
            :class:`Scaled`.
        scale: of an element: the format of the scales, "binary32", "bf16", "fp16", "e8m0", "e4m3", "ue5m3".
        scale_rule: "floor", "ceil", "even", "noclip", "amax", "te", "mse46", "best", "up17" or "mse"; None is the rule of
            the block format, and "amax" for elements. "mse46" is Four Over Six, arXiv:2512.02010; "best" takes the scale
            with the least squared error; "up17" is 17/16 amax / max to nearest. "mse" takes the one of 33 scales with the least squared error; see formats/quantize.h.
        percentile: take this percentile of the magnitudes for the largest one, as 99.9.
        zero_point: scales and zero points from the least and the largest number, of integers.
        narrow: -127 to 127 in place of -128 to 127, and likewise for other bits.
        tensor_scale: a factor of the whole array; "amax" computes NVFP4's from the largest magnitude; None is "amax"
            for NVFP4 and 1 for formats with power-of-two scales and for elements.
        mode, bits, overflow, seed, stream, first: the rounding of the elements, as of :func:`ulplab.round`; the index
            of an element is its place in the array with `axis` last.

    Raises:
        ValueError: an unknown name, an axis that x does not have.
    """
    if isinstance(block, str) and is_gguf(block):
        given = (per, scale_rule, percentile, tensor_scale, overflow, zero_point or None, narrow or None, tiles or None)
        if any(value is not None for value in given) or (axis, scale, mode, bits) != (-1, "binary32", "rne", 0):
            raise ValueError(f"the definition of {block} leaves no choice: it takes x alone")
        return quantize_gguf(x, block)
    own = tiles or per is not None or percentile is not None or zero_point or narrow or scale != "binary32" or scale_rule == "mse"
    if own or (isinstance(block, str) and scaled_name(block)):
        name = block.name if isinstance(block, Block) else block
        if not isinstance(name, str):
            raise TypeError(f"a format is a name or a Block, not {type(name).__name__}")
        if tiles:
            if per is not None:
                raise ValueError(f"per={per!r} and tiles: a block format has tiles of its size")
            if axis != -1:
                raise ValueError(f"axis is {axis}; tiles are parts of the last two axes")
            of_tiles = Block(name if scale_rule is None or scale_rule == "mse" else _with_rule(name, scale_rule))
            if tensor_scale is None and of_tiles.has_tensor_scale:
                tensor_scale = "amax"
            if tensor_scale in ("amax", "auto"):
                tensor_scale = float(str(call.tensor_scale(of_tiles._handle.address, largest_finite(as_float(x)))))
            per = (of_tiles.size, of_tiles.size)
        return quantize_scaled(
            x,
            name,
            per,
            axis,
            scale,
            scale_rule,
            percentile,
            tensor_scale,
            zero_point,
            narrow,
            (mode, bits, overflow),
            (seed, stream, first),
        )
    rules = texts(call.word, 3)
    if scale_rule is not None and scale_rule not in rules:
        raise ValueError(f"no scale rule {scale_rule!r}; there are {', '.join(rules)}")
    if isinstance(block, Block):
        if scale_rule is not None:
            block = _with_rule(block.name, scale_rule)
    elif not isinstance(block, str):
        raise TypeError(f"a block format is a name or a Block, not {type(block).__name__}")
    elif scale_rule is not None:
        block = _with_rule(block, scale_rule)
    of = _block_named(block) if isinstance(block, str) else block
    array = as_float(x)
    if array.ndim == 0:
        raise ValueError("x is a number; a block-scaled format takes an array")
    place = check_integer(axis, "axis", -array.ndim, array.ndim - 1)
    rows = np.ascontiguousarray(np.moveaxis(array, place, -1))
    if tensor_scale is None:
        tensor_scale = "amax" if of.has_tensor_scale else 1.0
    if tensor_scale in ("amax", "auto"):
        factor = float(str(call.tensor_scale(of._handle.address, largest_finite(rows))))
    elif isinstance(tensor_scale, str):
        raise ValueError(f"tensor_scale is {tensor_scale!r}; allowed are 'amax' (or 'auto'), a positive number and None")
    else:
        factor = float(tensor_scale)
        if not 0.0 < factor < np.inf:
            raise ValueError(f"tensor_scale is {factor!r}; allowed are 'amax' (or 'auto'), a positive number and None")
    n = rows.shape[-1]
    count = -(-n // of.size)
    elements = np.empty(rows.shape, np.uint8)
    scales = np.empty((*rows.shape[:-1], count), np.uint8)
    rule = rule_of("binary32", mode, bits, overflow, None)
    check(
        call.block_encode(
            of._handle.address,
            address(elements),
            address(scales),
            address(rows),
            rows.dtype == np.float64,
            rows.size // n if n else 0,
            n,
            factor,
            rule.address,
            *words_of(seed, stream, first),
        )
    )
    return Quantized(of, place % array.ndim, elements, scales, factor)


def hadamard(
    x: ArrayLike,
    g: int = 16,
    *,
    signs: Union[int, str] = "none",
    axis: int = -1,
    inverse: bool = False,
    format: str = "binary32",
    mode: str = "rne",
    bits: int = 0,
    overflow: Optional[str] = None,
    seed: int = 0,
    stream: Union[int, str] = 0,
    first: int = 0,
    backend: Optional[str] = None,
) -> NDArray[np.float32]:
    """The Hadamard transform of each g neighbours along an axis: y = H (s x) / sqrt g, or its inverse y = s (H x) / sqrt g.

    The sums are formed in float64 in a fixed order (kernels/functions/hadamard.h), and rounded once to the format.

    Args:
        x: numbers; float64 is rounded to float32 first.
        g: a power of two from 2 to 256; the length of the axis is a multiple of it.
        signs: "none"; "te", those of Transformer Engine for g = 16; or a stream, a number or a text: sign j is the top
            bit of the random word j of (seed, signs), 1 is minus. Every group has the same signs.
        axis: the groups lie along this axis. inverse: the inverse transform.
        format, mode, bits, overflow, seed, stream, first: the rounding of the results, as of :func:`ulplab.round`; the
            index of an element is its place in the array with `axis` last.
        backend: "cpu" (None), "cuda" or "mpfr".

    Raises:
        ValueError: g or an axis that does not fit.
    """
    array = converted(as_float(x), FLOAT32)
    if array.ndim == 0:
        raise ValueError("x is a number; a Hadamard transform takes an array")
    place = check_integer(axis, "axis", -array.ndim, array.ndim - 1)
    rows = np.ascontiguousarray(np.moveaxis(array, place, -1))
    n = rows.shape[-1]
    y = np.empty(rows.shape, np.float32)
    kinds = {"none": 0, "te": 1}
    kind = kinds.get(signs, 2) if isinstance(signs, str) else 2
    sign_words = words_of(seed, signs if kind == 2 else 0, 0)
    rule = rule_of(format, mode, bits, overflow, backend)
    check(
        call.hadamard(
            rule.address,
            address(y),
            address(rows),
            rows.size // n if n else 0,
            n,
            check_integer(g, "g", 0, 2**31),
            kind,
            inverse,
            *sign_words[:2],
            *words_of(seed, stream, first),
        )
    )
    return np.ascontiguousarray(np.moveaxis(y, -1, place))


def dequantize(q: Union[Quantized, Scaled, GgufBlocks]) -> NDArray[np.float32]:
    """The values of a quantized array: float32, of the shape of the array that was quantized."""
    if not isinstance(q, Quantized):
        return q.dequantize()
    elements: Array = np.ascontiguousarray(q.elements)
    scales: Array = np.ascontiguousarray(q.scales)
    n = elements.shape[-1]
    if elements.dtype != np.uint8 or scales.dtype != np.uint8:
        raise TypeError(f"codes are uint8, not {elements.dtype} and {scales.dtype}")
    if scales.shape != (*elements.shape[:-1], -(-n // q.block.size)):
        raise ValueError(f"elements of shape {elements.shape} do not go with scales of shape {scales.shape}")
    y = np.empty(elements.shape, np.float32)
    check(
        call.block_decode(
            q.block._handle.address,
            address(y),
            address(elements),
            address(scales),
            elements.size // n if n else 0,
            n,
            q.tensor_scale,
        )
    )
    return np.ascontiguousarray(np.moveaxis(y, -1, q.axis))
