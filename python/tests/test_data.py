"""Data of the caller: real values, tokens, labels of positions; the set text; a second policy."""

import numpy as np
import pytest

import ulplab as ul

RNG = np.random.default_rng(31)
LABELS = RNG.integers(0, 4, 120).astype(np.uint8)
PIXELS = RNG.integers(0, 256, (120, 6, 6)).astype(np.uint8)
NET = "conv3@3p1 relu fc4"


def test_floats_are_pixels():
    """A pixel is the quotient of two floats, so that floats give the bits of the bytes."""
    floats = PIXELS.astype(np.float32) / np.float32(255)
    for policy in ("fp32", "mixed:bf16,mode=sr"):
        a = ul.train(NET, policy, (PIXELS, LABELS, 90), steps=6, batch=16)
        b = ul.train(NET, policy, (floats, LABELS.astype(np.int64), 90), steps=6, batch=16)
        assert np.array_equal(a.loss, b.loss) and np.array_equal(a.masters, b.masters) and a.test == b.test


def test_floats_of_any_size():
    x = RNG.normal(0, 100, (80, 5)).astype(np.float32)
    y = (x[:, 0] > x[:, 1]).astype(int)
    run = ul.train("fc16 tanh fc2", "fp32", (x / 100, y, 60), steps=300, batch=20, optimizer="adam,rate=0.02")
    assert run.train.accuracy > 0.95 and run.training.features == 5
    seen = []
    first = ul.Training("fc2", "act=e4m3", (x, y, 60), batch=20)
    first.observe(seen.append, ["act"])
    first.step()
    raw = seen[0].raw.reshape(20, 5)
    assert all((row == x[:60]).all(axis=1).any() for row in raw)  # rows of x
    assert np.array_equal(seen[0].rounded, ul.round(seen[0].raw, "e4m3"))


def rows(n=160, length=4):
    """Tokens a and b that mostly alternate; the label of a position is the next token."""
    flips = RNG.random((n, length + 1)) < 0.1
    tokens = (np.cumsum(1 - flips, axis=1) % 2).astype(np.int64)
    return tokens[:, :-1], tokens[:, 1:]


def test_tokens():
    x, y = rows()
    seen = []
    run = ul.Training("up2 conv1@3s3p2", "act=e2m1", (x, y, 128), tokens=True, batch=32, optimizer="adam,rate=0.05")
    run.observe(seen.append, ["act"])
    run.step()
    assert [o.layer for o in seen] == [1, 2]  # the numbers of tokens are not rounded, so nobody sees them
    run.observe(None)
    for _ in range(200):
        run.step()
    score = run.score("train")
    assert (run.classes, run.features) == (2, 4)
    assert score.n == 128 and 0.5 <= score.accuracy <= 1 and score.bits == pytest.approx(score.loss / np.log(2))


def test_positions_of_images():
    """Each row of an image has a label: the column of its largest pixel."""
    y = PIXELS.argmax(axis=2).astype(np.uint8)
    run = ul.train("conv4@1 tanh conv1@1", "fp32", (PIXELS, y, 100), steps=400, batch=20, optimizer="adam,rate=0.05")
    assert run.train.accuracy > 0.9 and run.train.label_error == pytest.approx(1 - run.train.accuracy)
    assert run.training.classes == 6


def test_text(tmp_path):
    path = tmp_path / "ab.txt"
    path.write_text("ab" * 200)
    run = ul.Training("up2 conv1@3s3p2", "fp32", "text:4", folder=str(path), batch=8)
    assert (run.classes, run.features, run.n_train, run.n) == (2, 4, 89, 98)
    assert np.isfinite(run.step().loss) and run.score().n == 9
    with pytest.raises(ValueError, match="a row of outputs for each label, 1 x 64 x 61"):
        ul.Training("fc61", "fp32", "text")
    with pytest.raises(ValueError, match="1 to 4096"):
        ul.Training("fc61", "fp32", "text:0")


def test_tail():
    data, options = (PIXELS, LABELS, 90), dict(steps=12, batch=16)
    plain = ul.train(NET, "mixed:e4m3", data, **options)
    tail = ul.train(NET, "mixed:e4m3", data, tail=(8, "fp32,master=fp32"), **options)
    same = ul.train(NET, "mixed:e4m3", data, tail=(8, "mixed:e4m3"), **options)
    assert np.array_equal(plain.loss[:8], tail.loss[:8]) and not np.array_equal(plain.loss[8:], tail.loss[8:])
    assert np.array_equal(plain.loss, same.loss) and np.array_equal(plain.masters, same.masters)
    assert np.array_equal(tail.weights, tail.masters)
    with pytest.raises(ValueError, match="master weights"):
        ul.Training(NET, "mixed:e4m3", data, tail=(8, "fp32"))
    with pytest.raises(ValueError, match="fp17x"):
        ul.Training(NET, "fp32", data, tail=(8, "fp17x"))


def test_micro_batches():
    a = ul.train(NET, "fp32", (PIXELS, LABELS, 90), steps=5, batch=24)
    b = ul.train(NET, "fp32", (PIXELS, LABELS, 90), steps=5, batch=24, optimizer="sgd,accumulate=6:fp32")
    c = ul.train(NET, "fp32", (PIXELS, LABELS, 90), steps=5, batch=24, optimizer="sgd,accumulate=6:e4m3")
    assert np.allclose(a.masters, b.masters, atol=1e-5) and not np.allclose(a.masters, c.masters, atol=1e-5)


FLOATS = PIXELS.astype(np.float32)
TOKENS = RNG.integers(0, 2, (20, 4))


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda: ul.Training("fc4", "fp16", (FLOATS.astype(np.float64), LABELS, 90)), TypeError, "uint8|float32"),
        (lambda: ul.Training("fc4", "fp16", (FLOATS + np.float32(np.nan), LABELS, 90)), ValueError, "Inf or NaN"),
        (lambda: ul.Training("fc4", "fp16", (FLOATS, LABELS.astype(float), 90)), TypeError, "labels are whole numbers"),
        (lambda: ul.Training("fc4", "fp16", (FLOATS, LABELS.astype(int) - 1, 90)), ValueError, "labels are from -1"),
        (lambda: ul.Training("fc4", "fp16", (FLOATS, LABELS, 90, 3)), ValueError, "classes"),
        (lambda: ul.Training("fc4", "fp16", (FLOATS, LABELS, 90, 300)), ValueError, "classes"),
        (lambda: ul.Training("fc4", "fp16", (FLOATS, LABELS, 90, 4, 5)), TypeError, "n_train"),
        (lambda: ul.Training("fc4", "fp16", (FLOATS, PIXELS, 90)), ValueError, "shape"),
        (lambda: ul.Training("fc4", "fp16", (FLOATS, LABELS, 90), tokens=True), ValueError, "tokens have shape"),
        (lambda: ul.Training("fc4", "fp16", (TOKENS + 300, TOKENS, 9), tokens=True), ValueError, "tokens are from 300"),
        (lambda: ul.Training("fc4", "fp16", (TOKENS, TOKENS, 9), tokens=True, batch=4), ValueError, "1 x 4 x 2"),
        (lambda: ul.Training("fc4", "fp16", (TOKENS, TOKENS, 9)), TypeError, "uint8"),
        (lambda: ul.Training("fc4", "fp16", "digits", tokens=True), TypeError, "named"),
        (lambda: ul.Training("fc4", "fp16", (PIXELS, LABELS, 90), tail=(-1, "fp32")), ValueError, "tail"),
    ],
)
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call()
