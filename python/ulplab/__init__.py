"""ulplab: low-precision arithmetic with exact bits, at the speed of C.

Formats (FP16, bfloat16, FP8, FP4, fixed point, any eXmY), every rounding mode, stochastic rounding that a seed
reproduces, block-scaled formats, and sums of products as Tensor Cores form them. Every result is the exact result
rounded once.

    >>> import ulplab as ul
    >>> ul.round([0.01, 464.0, 1e6], "e4m3")
    array([9.765625e-03, 4.480000e+02, 4.480000e+02])
    >>> ul.dot([1, -1, 2**-10, 2**-10], [1, 1, 2**-15, 2**-15], "h100-fp16")
    np.float32(5.9604645e-08)
"""

from ._blocks import Block, Quantized, blocks, dequantize, hadamard, quantize
from ._experiments import Claim, Experiment, experiments, run
from ._compare import Comparison, compare
from ._formats import Format, FormatRow, OtherName, decode, formats, names
from ._library import DeviceError, get_threads, set_threads
from ._probe import Probe, Property, probe
from ._products import Datapath, datapaths, dot, matmul
from ._rounding import (
    Stats,
    add,
    cos,
    div,
    encode,
    exp,
    exp2,
    fma,
    gelu,
    gelu_tanh,
    log,
    log2,
    mul,
    reciprocal,
    round,
    rsqrt,
    sigmoid,
    silu,
    sin,
    softplus,
    sqrt,
    sub,
    tanh,
)
from ._scaled import GgufBlocks, Scaled, pack4, swizzle, unpack4, unswizzle
from ._training import Observation, Score, Step, Trained, Training, digits, train

__version__ = "0.9.0"

__all__ = [
    "Block",
    "Claim",
    "Datapath",
    "DeviceError",
    "Experiment",
    "Comparison",
    "Format",
    "FormatRow",
    "GgufBlocks",
    "OtherName",
    "Observation",
    "Probe",
    "Property",
    "Quantized",
    "Scaled",
    "Score",
    "Stats",
    "Step",
    "Trained",
    "Training",
    "add",
    "blocks",
    "cos",
    "datapaths",
    "compare",
    "decode",
    "dequantize",
    "digits",
    "div",
    "dot",
    "encode",
    "exp",
    "exp2",
    "experiments",
    "fma",
    "formats",
    "gelu",
    "gelu_tanh",
    "get_threads",
    "hadamard",
    "log",
    "log2",
    "matmul",
    "mul",
    "names",
    "pack4",
    "probe",
    "quantize",
    "reciprocal",
    "round",
    "rsqrt",
    "run",
    "set_threads",
    "sigmoid",
    "silu",
    "sin",
    "softplus",
    "sqrt",
    "sub",
    "swizzle",
    "tanh",
    "train",
    "unpack4",
    "unswizzle",
]
