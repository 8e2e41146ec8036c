"""Training of networks whose every rounding is declared: the trainings of the experiments, step by step."""

from __future__ import annotations

import ctypes
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, NamedTuple, Optional, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._arrays import address, check_integer
from ._library import Handle, Observer, c_text, call, check, text, texts

POINTS: list[str] = texts(call.point)

Samples = Union[tuple[ArrayLike, ArrayLike, int], tuple[ArrayLike, ArrayLike, int, int]]


class Step(NamedTuple):
    """A training step.

    Attributes:
        step: its number, from 0. loss: the mean over the batch; NaN or Inf: the run diverged. scale_log2: log2 of the
            loss scale. overflow: whether gradients had Inf or NaN. skipped: whether the step made no update.
    """

    step: int
    loss: float
    scale_log2: int
    overflow: bool
    skipped: bool


class Score(NamedTuple):
    """A score: the mean loss, the share of right samples, the share of wrong labels, the number of samples.

    Where labels belong to positions, the loss and the accuracy are means over all positions. `bits` is the loss in
    bits, of a text bits per character.
    """

    loss: float
    accuracy: float
    label_error: float
    n: int

    @property
    def bits(self) -> float:
        return self.loss / math.log(2)


class Observation(NamedTuple):
    """A tensor at a rounding point.

    Attributes:
        point: "weight", "act", "wgrad", "agrad", ... layer: its number; activations have the number of the layer whose
            input they are. step: from 0. scale_log2: gradients carry the factor 2^scale_log2.
        raw, rounded: the numbers before and after the rounding, float32, one dimension; copies.
    """

    point: str
    layer: int
    step: int
    scale_log2: int
    raw: NDArray[np.float32]
    rounded: NDArray[np.float32]


class Training:
    """A training run in progress.

    Args:
        net: a line of text, as "conv8@3 relu pool2 fc10" (``python -m ulplab help nets``).
        policy: where the run rounds, as "mixed:fp16" or "q8.8/sr" (``help policies``).
        data: the name of a data set ("digits", "mnist", "text:32"), or (x, labels, n_train) or (x, labels, n_train,
            classes): samples x (n, c, h, w), (n, h, w) or (n, features), labels (n), or (n, positions) where each
            position has a label, and the number of samples at the beginning for training. uint8 samples are images
            whose byte 255 is 1.0, with uint8 labels; float32 samples are the numbers themselves. Without `classes`
            there are as many as the largest label, or token, says.
        tokens: x (n, T) are whole numbers, tokens below `classes`, at most 256: an image of shape (1, T, 1) that no
            policy rounds.
        folder: of a named data set; None: the environment's ULPLAB_DATA, then the package, which has "digits" and
            "text". Of "text" it may be the path of any file of text.
        tail: (step, policy), a second policy from a step on; None: one policy for all steps.
        optimizer, scaler, loss: as "adam,rate=0.001", "pytorch", "softmax" (``help optimizers``, ``scalers``,
            ``losses``); loss None is the loss that fits the data.
        batch: samples of a step. seed: of initial weights, order and random words. init_std: the deviation of initial
            weights; 0 is He's and Glorot's. backend: "cpu" (None) or "cuda".

    Attributes:
        params, layers, n_train, n, features, classes: numbers of the run. step_count: steps so far.

    Raises:
        ValueError: a text is wrong; the message names the word. The run is bit by bit the run of the command line.
    """

    def __init__(
        self,
        net: str,
        policy: str = "fp32",
        data: Union[str, Samples] = "digits",
        *,
        folder: Optional[str] = None,
        tokens: bool = False,
        tail: Optional[tuple[int, str]] = None,
        optimizer: str = "sgd",
        scaler: str = "none",
        loss: Optional[str] = None,
        batch: int = 32,
        seed: int = 1,
        init_std: float = 0.0,
        backend: Optional[str] = None,
    ) -> None:
        named = data if isinstance(data, str) else None
        if folder is None and named is not None and not os.environ.get("ULPLAB_DATA"):
            folder = _shipped(named)
        second = None
        if tail is not None:
            step, later = tail
            second = f"{check_integer(step, 'the step of tail', 0, 2**63)}:{later}"
        words = (ctypes.c_char_p * 9)(
            *(
                c_text(word, name)
                for word, name in (
                    (net, "net"),
                    (policy, "policy"),
                    (scaler, "scaler"),
                    (optimizer, "optimizer"),
                    (loss, "loss"),
                    (named, "data"),
                    (folder, "folder"),
                    (backend, "backend"),
                    (second, "tail"),
                )
            )
        )
        if isinstance(data, str) and tokens:
            raise TypeError("tokens are samples of the caller; a named data set knows whether it has tokens")
        numbers, pixels, labels = (None, None, None) if isinstance(data, str) else _samples(data, tokens)
        self._handle = Handle(
            "run_new",
            words,
            check_integer(batch, "batch", 1, 2**31),
            check_integer(seed, "seed", 0, 2**64 - 1),
            float(init_std),
            numbers,
            None if pixels is None else address(pixels),
            None if labels is None else address(labels),
            release="run_release",
        )
        of = [int(str(call.run_number(self._handle.address, i))) for i in range(6)]
        self.params, count, self.n_train, self.n, self.features, self.classes = of
        self.layers: list[tuple[str, slice]] = []
        for i in range(count):
            first, n = ctypes.c_uint64(), ctypes.c_uint64()
            word = text(call.run_layer(self._handle.address, i, ctypes.byref(first), ctypes.byref(n)))
            self.layers.append((word, slice(first.value, first.value + n.value)))
        self.step_count = 0
        self._observer: Any = None
        self._raised: list[BaseException] = []

    def observe(self, see: Optional[Callable[[Observation], object]], points: Optional[list[str]] = None) -> None:
        """Shows tensors of the following steps to a function; None ends it.

        Args:
            see: gets an :class:`Observation` at every rounding of the points. What it raises, `step` raises.
            points: names of rounding points; None is all of them.
        """
        bits = 0
        if isinstance(points, str):
            points = [points]
        for name in POINTS if points is None else points:
            if name not in POINTS:
                raise ValueError(f"no rounding point {name!r}; there are {', '.join(POINTS)}")
            bits |= 1 << POINTS.index(name)

        def shown(point: int, layer: int, step: int, scale: int, n: int, raw: Any, rounded: Any) -> None:
            if self._raised or see is None:
                return
            try:
                before, after = (np.ctypeslib.as_array(at, (n,)).copy() for at in (raw, rounded))
                see(Observation(POINTS[point], layer, step, scale, before, after))
            except BaseException as error:
                self._raised.append(error)

        self._observer = None if see is None else Observer(shown)
        call.run_observe(self._handle.address, self._observer, bits)

    def step(self) -> Step:
        """Runs one training step."""
        report = (ctypes.c_double * 4)()
        check(call.run_step(self._handle.address, report))
        if self._raised:
            raise self._raised.pop()
        self.step_count += 1
        return Step(self.step_count - 1, report[0], int(report[1]), bool(report[2]), bool(report[3]))

    def score(self, part: str = "test") -> Score:
        """Scores the "test" or the "train" part of the data with the present weights, under the policy."""
        if part not in ("test", "train"):
            raise ValueError(f"part is {part!r}; allowed are 'test' and 'train'")
        found = (ctypes.c_double * 4)()
        check(call.run_score(self._handle.address, part == "test", found))
        if found[3] == 0:
            return Score(np.nan, np.nan, np.nan, 0)
        return Score(found[0], found[1], found[2], int(found[3]))

    def weights(self) -> NDArray[np.float32]:
        """The weights that the layers use (params); `layers[i]` has the word of layer i and its slice."""
        w = np.empty(self.params, np.float32)
        check(call.run_weights(self._handle.address, address(w), None))
        return w

    def masters(self) -> NDArray[np.float32]:
        """The weights that updates are added to (params): master weights where there are any, else the weights."""
        w = np.empty(self.params, np.float32)
        check(call.run_weights(self._handle.address, None, address(w)))
        return w


def _shipped(name: str) -> Optional[str]:
    """The folder of a data set that ships with the package or the source tree; None where there is none."""
    here = Path(__file__).resolve().parent
    for folder in (here / "share" / "ulplab", here.parent.parent / "experiments" / "data"):
        if any((folder / f"{name.split(':')[0]}.{kind}").exists() for kind in ("csv", "txt")):
            return str(folder)
    return None


def digits() -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """The handwritten digits that ship with the package.

    Returns:
        images (1797, 8, 8), multiples of 1/16 from 0 (paper) to 1 (ink), and labels (1797), 0 to 9, in the order of the
        file. The data set "digits" of a :class:`Training` has the same images in an order that depends on the seed.

    Raises:
        FileNotFoundError: the package has no data, as in a copy of the folder `python` alone.

    Source: Alpaydin and Kaynak 1998, doi:10.24432/C50P49, CC BY 4.0.
    """
    folder = _shipped("digits")
    if folder is None:
        raise FileNotFoundError("the data set digits is neither in the package nor in a source tree around it")
    table = np.loadtxt(Path(folder) / "digits.csv", np.int64, delimiter=",")
    return (table[:, :64].reshape(-1, 8, 8) / 16).astype(np.float32), table[:, 64]


_BYTES, _VALUES, _TOKENS = 0, 1, 2


def _whole(numbers: NDArray[Any], name: str) -> NDArray[np.uint8]:
    """Whole numbers from 0 to 255 as bytes."""
    if not np.issubdtype(numbers.dtype, np.integer):
        raise TypeError(f"{name} are whole numbers, not {numbers.dtype}")
    if numbers.size and (numbers.min() < 0 or numbers.max() > 255):
        raise ValueError(f"{name} are from {numbers.min()} to {numbers.max()}; allowed are 0 to 255")
    return np.ascontiguousarray(numbers, np.uint8)


def _samples(data: Samples, tokens: bool) -> tuple[Any, NDArray[Any], NDArray[np.uint8]]:
    """The numbers, samples and labels of a data set; ValueError or TypeError if they do not fit."""
    try:
        given, of, train, *more = data
        (most,) = more or (None,)
    except (TypeError, ValueError):
        raise TypeError("data is the name of a data set, or (x, labels, n_train[, classes])") from None
    x, labels = np.asarray(given), np.asarray(of)
    kind = _TOKENS if tokens else _VALUES if x.dtype == np.float32 else _BYTES
    if kind == _BYTES and (x.dtype != np.uint8 or labels.dtype != np.uint8):
        raise TypeError(f"images and labels are uint8, or images are float32, not {x.dtype} and {labels.dtype}")
    shapes = {2: (1, 1), 3: (1,), 4: ()}
    if x.ndim not in shapes or labels.ndim not in (1, 2) or len(labels) != len(x) or not x.size or not labels.size:
        raise ValueError(f"samples have shape {x.shape} and labels {labels.shape}; see Training")
    if kind == _TOKENS and x.ndim != 2:
        raise ValueError(f"tokens have shape {x.shape}; they are (n, T)")
    if kind == _VALUES and not np.isfinite(x).all():
        raise ValueError("samples have Inf or NaN")
    n, labels = len(x), _whole(labels, "labels")
    samples = _whole(x, "tokens") if kind == _TOKENS else np.ascontiguousarray(x)
    dims = (*x.shape[1:], 1, 1) if x.ndim == 2 else (*shapes[x.ndim], *x.shape[1:])
    if kind == _TOKENS:
        dims = (1, x.shape[1], 1)
    classes = int(max(labels.max(), samples.max() if kind == _TOKENS else 0)) + 1
    if most is not None:
        classes = check_integer(most, "classes", classes, 256)
    places = labels.shape[1] if labels.ndim == 2 else 0
    numbers = (n, check_integer(train, "n_train", 1, n), *dims, classes, 255, kind, places)
    return (ctypes.c_uint64 * 9)(*numbers), samples, np.ascontiguousarray(labels)


@dataclass(frozen=True, repr=False)
class Trained:
    """A training run; see :func:`train`.

    Attributes:
        loss, scale_log2, skipped: of each step, as arrays. train, test: the scores at the end.
        weights, masters: the weights at the end. diverged: whether a loss became NaN or infinite in a step that was
            not skipped. training: the run, which can go on.
    """

    loss: NDArray[np.float64]
    scale_log2: NDArray[np.int64]
    skipped: NDArray[np.bool_]
    train: Score
    test: Score
    weights: NDArray[np.float32]
    masters: NDArray[np.float32]
    diverged: bool
    training: Training

    def __repr__(self) -> str:
        end = "diverged" if self.diverged else f"test accuracy {self.test.accuracy:.4g}"
        return f"<Trained {len(self.loss)} steps, {len(self.weights)} weights, {end}>"


def train(
    net: str,
    policy: str = "fp32",
    data: Union[str, Samples] = "digits",
    *,
    steps: int = 100,
    callback: Optional[Callable[[Training, Step], object]] = None,
    observe: Optional[Callable[[Observation], object]] = None,
    points: Optional[list[str]] = None,
    **options: Any,
) -> Trained:
    """Trains a net under a policy.

    Args:
        net, policy, data, options: see :class:`Training`. steps: training steps.
        callback: callback(training, step) after every step; the run ends early if it returns True.
        observe, points: see :meth:`Training.observe`.

    Returns:
        Losses and scales of the steps, scores and weights.
    """
    run = Training(net, policy, data, **options)
    if observe is not None:
        run.observe(observe, points)
    reports: list[Step] = []
    for _ in range(check_integer(steps, "steps", 0, 2**40)):
        reports.append(run.step())
        if callback is not None and callback(run, reports[-1]) is True:
            break
    return Trained(
        np.array([report.loss for report in reports], np.float64),
        np.array([report.scale_log2 for report in reports], np.int64),
        np.array([report.skipped for report in reports], np.bool_),
        run.score("train"),
        run.score("test"),
        run.weights(),
        run.masters(),
        any(not np.isfinite(report.loss) and not report.skipped for report in reports),
        run,
    )
