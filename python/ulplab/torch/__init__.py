"""ulplab for PyTorch: rounding and sums of products in networks, with gradients, on CPU tensors without copies.

A SPEC is a text as in the policies of the command line: FORMAT[/MODE[/BITS]]. Examples are "e4m3", "e5m2:sat",
"bf16/sr" and "fp16/sr/8". The operations are registered with `torch.library`, so that `torch.compile` takes them.

Random words are a function of (seed, stream, index). :func:`stream_id` makes the stream of a rounding point, a layer
and a step as the trainings of ulplab do.
"""

try:
    from torch.library import custom_op as _  # noqa: F401  (since PyTorch 2.4)
except ImportError as error:
    raise ImportError("ulplab.torch needs PyTorch 2.4 or later (pip install torch)") from error

from ._convolution import conv2d
from ._modules import Policy, Quantized, quantize_module
from ._optimizers import quantize_optimizer
from ._products import linear, matmul
from ._rounding import fake_quantize
from ._words import (
    ACT,
    AGRAD,
    BACKWARD,
    BPRODUCT,
    FORWARD,
    MASTER,
    STATE,
    WEIGHT,
    WGRAD,
    WPRODUCT,
    stream_id,
)

__all__ = [
    "ACT",
    "AGRAD",
    "BACKWARD",
    "BPRODUCT",
    "FORWARD",
    "MASTER",
    "STATE",
    "WEIGHT",
    "WGRAD",
    "WPRODUCT",
    "Policy",
    "Quantized",
    "conv2d",
    "fake_quantize",
    "linear",
    "matmul",
    "quantize_module",
    "quantize_optimizer",
    "stream_id",
]
