"""Optimizers: steps of trainings in binary32 against PyTorch's formulas in NumPy, and against PyTorch itself."""

import numpy as np
import pytest

import ulplab as ul

RNG = np.random.default_rng(23)
LABELS = RNG.integers(0, 4, 160).astype(np.uint8)
PIXELS = RNG.integers(0, 80, (160, 6, 6))
PIXELS[np.arange(160), LABELS, :] += 150
DATA = (PIXELS.astype(np.uint8), LABELS, 128)
NET = "conv3@3p1 bn relu fc8 tanh fc4"
STEPS = 25


def weights_mask(run):
    """True for weights, False for biases and the parameters of normalisations."""
    mask = np.zeros(run.params, bool)
    of = {"conv3@3p1": 3 * 9, "fc8": 3 * 36 * 8, "fc4": 8 * 4}
    for word, place in run.layers:
        mask[place.start : place.start + of.get(word, 0)] = True
    return mask


def gradient(run, scale):
    """The gradients of one step, without the loss scale, and its report."""
    at = {i: place for i, (_, place) in enumerate(run.layers)}
    found = np.zeros(run.params)

    def see(o):
        place = at[o.layer]
        found[place] = o.raw.astype(np.float64) / 2**scale

    run.observe(see, ["wgrad"])
    step = run.step()
    return found, step


def coefficient(g, clip):
    """torch.nn.utils.clip_grad_norm_"""
    return min(1.0, clip / (np.sqrt(np.sum(g * g)) + 1e-6)) if clip else 1.0


class Adam:
    """torch.optim.Adam and AdamW."""

    def __init__(self, n, rate, decay, decoupled, mask):
        self.m, self.v, self.t = np.zeros(n), np.zeros(n), 0
        self.rate, self.decay, self.decoupled, self.mask = rate, decay, decoupled, mask

    def step(self, p, g):
        self.t += 1
        if self.decoupled:
            p = p - self.rate * self.decay * self.mask * p
        else:
            g = g + self.decay * self.mask * p
        b1, b2 = (float(np.float32(b)) for b in (0.9, 0.999))
        self.m = b1 * self.m + (1 - b1) * g
        self.v = b2 * self.v + (1 - b2) * g * g
        denominator = np.sqrt(self.v) / np.sqrt(1 - b2**self.t) + 1e-8
        return p - self.rate / (1 - b1**self.t) * self.m / denominator


class Sgd:
    """torch.optim.SGD with momentum."""

    def __init__(self, n, rate, decay, momentum, mask):
        self.v, self.rate, self.decay, self.momentum, self.mask = np.zeros(n), rate, decay, momentum, mask

    def step(self, p, g):
        self.v = self.momentum * self.v + g + self.decay * self.mask * p
        return p - self.rate * self.v


CASES = [
    ("adamw,rate=0.01,decay=0.1", Adam, (0.01, 0.1, True), 0, "all"),
    ("adamw,rate=0.01,decay=0.1,decays=weights,clip=0.2", Adam, (0.01, 0.1, True), 0.2, "weights"),
    ("adam,rate=0.01,decay=0.1,decays=weights,clip=0.2", Adam, (0.01, 0.1, False), 0.2, "weights"),
    ("sgd,rate=0.05,momentum=0.9,decay=0.1,decays=weights", Sgd, (0.05, 0.1, 0.9), 0, "weights"),
    ("sgd,rate=0.05,momentum=0.9,decay=0.1,clip=0.3", Sgd, (0.05, 0.1, 0.9), 0.3, "all"),
]


@pytest.mark.parametrize("scaler, scale", [("none", 0), ("static:9", 9)])
@pytest.mark.parametrize("text, kind, settings, clip, decays", CASES)
def test_formulas(text, kind, settings, clip, decays, scaler, scale):
    run = ul.Training(NET, "fp32", DATA, batch=32, optimizer=text, scaler=scaler)
    mask = weights_mask(run) if decays == "weights" else np.ones(run.params, bool)
    assert decays == "all" or 0 < mask.sum() < run.params
    *rest, last = settings
    mine, clipped = kind(run.params, *rest, last, mask), 0
    for _ in range(STEPS):
        p = run.masters().astype(np.float64)
        g, _ = gradient(run, scale)
        c = coefficient(g, clip)
        clipped += c < 1
        want, got = mine.step(p, c * g), run.masters().astype(np.float64)
        assert np.allclose(got, want, rtol=1e-6, atol=2e-6), np.abs(got - want).max()
    assert clipped == 0 if not clip else clipped > STEPS / 2


def test_clipping_before_unscaling():
    """With clip-at=scaled the loss scale decides how much is clipped: the known fault."""
    run = ul.Training("fc4", "fp32", DATA, batch=32, optimizer="sgd,rate=0.1,clip=2,clip-at=scaled", scaler="static:6")
    p = run.masters().astype(np.float64)
    g, _ = gradient(run, 6)
    c = coefficient(64 * g, 2)
    assert c < 1 and np.sqrt(np.sum(g * g)) < 2
    assert np.allclose(run.masters(), p - 0.1 * c * g, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("text, kind, settings, clip, decays", CASES)
def test_torch(text, kind, settings, clip, decays):
    torch = pytest.importorskip("torch")
    run = ul.Training(NET, "fp32", DATA, batch=32, optimizer=text)
    mask = weights_mask(run) if decays == "weights" else np.ones(run.params, bool)
    start = torch.from_numpy(run.masters())
    parts = [torch.nn.Parameter(start[torch.from_numpy(m)].clone()) for m in (mask, ~mask)]
    groups = [{"params": [parts[0]], "weight_decay": settings[1]}, {"params": [parts[1]], "weight_decay": 0.0}]
    if kind is Sgd:
        optimizer = torch.optim.SGD(groups, lr=settings[0], momentum=settings[2])
    else:
        optimizer = (torch.optim.AdamW if settings[2] else torch.optim.Adam)(groups, lr=settings[0])
    for _ in range(STEPS):
        g, _ = gradient(run, 0)
        for part, m in zip(parts, (mask, ~mask)):
            part.grad = torch.from_numpy(g[m].astype(np.float32))
        if clip:
            torch.nn.utils.clip_grad_norm_(parts, clip)
        optimizer.step()
    got = run.masters()
    for part, m in zip(parts, (mask, ~mask)):
        assert np.allclose(got[m], part.detach().numpy(), rtol=1e-4, atol=1e-5)
