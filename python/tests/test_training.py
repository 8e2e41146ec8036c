"""Trainings: the run itself, its observers, and the same step in PyTorch, bit by bit."""

import numpy as np
import pytest

import ulplab as ul

RNG = np.random.default_rng(17)


def images(n=200, shape=(6, 6)):
    labels = RNG.integers(0, 4, n).astype(np.uint8)
    pixels = RNG.integers(0, 60, (n, *shape))
    pixels[np.arange(n), labels, :] += 150
    return pixels.astype(np.uint8), labels, n * 3 // 4


DATA = images()


def test_train():
    seen = []
    result = ul.train(
        "fc16 relu fc4",
        "mixed:fp16",
        DATA,
        steps=80,
        batch=20,
        optimizer="sgd,rate=0.2",
        scaler="pytorch",
        callback=lambda run, step: seen.append(step),
    )
    assert len(seen) == 80 and seen[7].step == 7 and result.loss.shape == (80,)
    assert result.loss[-1] < result.loss[0] and result.test.accuracy > 0.9 and result.test.n == 50
    assert result.training.params == 36 * 16 + 16 + 16 * 4 + 4 == len(result.weights)
    assert np.array_equal(result.weights, ul.round(result.masters, "fp16"))
    assert not result.diverged
    words = [word for word, _ in result.training.layers]
    assert words == ["fc16", "relu", "fc4"] and result.training.layers[2][1] == slice(592, 660)


def test_repeats_itself():
    def run(threads, seed):
        ul.set_threads(threads)
        return ul.train("conv4@3 relu fc4", "e5m2,mode=sr", DATA, steps=5, seed=seed).masters

    threads = ul.get_threads()
    try:
        first = run(1, 1)
        assert np.array_equal(first, run(2, 1), equal_nan=True) and not np.array_equal(first, run(1, 2))
    finally:
        ul.set_threads(threads)


def test_digits_ship():
    run = ul.Training("fc10", "fp16")
    assert run.n == 1797 and run.features == 64 and run.step().loss > 0
    whole = ul.Training("fc4", "fp16", (DATA[0], DATA[1], len(DATA[1])))
    assert np.isnan(whole.score("test").accuracy) and whole.score("train").n == 200


def test_digits():
    images, labels = ul.digits()
    assert (images.shape, images.dtype, labels.shape) == ((1797, 8, 8), np.float32, (1797,))
    assert images.min() == 0 and images.max() == 1 and np.array_equal(ul.round(images, "e4m3"), images)
    assert set(labels.tolist()) == set(range(10))
    pixels = (images * 16).astype(np.uint8)
    run = ul.Training("fc10", "fp32", (pixels, labels.astype(np.uint8), 1437))
    assert (run.features, run.classes) == (64, 10)


def test_early_end_and_observers():
    seen = []
    result = ul.train(
        "fc8 relu fc4",
        "act=e4m3,wgrad=e5m2",
        DATA,
        steps=50,
        callback=lambda run, step: step.step == 2,
        observe=seen.append,
        points=["act", "wgrad"],
    )
    assert len(result.loss) == 3 and {o.point for o in seen} == {"act", "wgrad"} and seen[-1].step == 2
    for o in seen:
        assert np.array_equal(o.rounded, ul.round(o.raw, "e4m3" if o.point == "act" else "e5m2"), equal_nan=True)


def test_observers_may_raise():
    run = ul.Training("fc4", "fp16", DATA)

    def see(observation):
        raise KeyError("mine")

    run.observe(see, ["act"])
    with pytest.raises(KeyError, match="mine"):
        run.step()
    run.observe(None)
    assert run.step().loss > 0


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda: ul.Training("fx4", "fp16", DATA), ValueError, "fx4"),
        (lambda: ul.Training("", "fp16", DATA), ValueError, "."),
        (lambda: ul.Training("fc4", "fp17x", DATA), ValueError, "fp17x"),
        (lambda: ul.Training("fc4", "fp16", DATA, optimizer="sgdd"), ValueError, "sgd"),
        (lambda: ul.Training("fc4", "fp16", DATA, scaler="torch"), ValueError, "pytorch"),
        (lambda: ul.Training("fc4", "fp16", DATA, loss="square"), ValueError, "square"),
        (lambda: ul.Training("fc4", "fp16", DATA, batch=0), ValueError, "batch"),
        (lambda: ul.Training("fc4", "fp16", DATA, batch=1000), ValueError, "batch|1000"),
        (lambda: ul.Training("fc4", "fp16", "digitz"), ValueError, "digit"),
        (lambda: ul.Training("fc4", "fp16", DATA[:2]), TypeError, "n_train"),
        (lambda: ul.Training("fc4", "fp16", (DATA[0].astype(float), DATA[1], 10)), TypeError, "uint8"),
        (lambda: ul.Training("fc4", "fp16", (DATA[0], DATA[1][:5], 10)), ValueError, "shape"),
        (lambda: ul.Training("fc4", "fp16", (DATA[0], DATA[1], 500)), ValueError, "n_train"),
        (lambda: ul.Training("fc4", "fp16", (DATA[0], DATA[1] + 252, 100)), ValueError, "classes|label"),
        (lambda: ul.Training("fc4", "fp16", DATA).observe(print, "grad"), ValueError, "wgrad"),
        (lambda: ul.Training("fc4", "fp16", DATA).score("all"), ValueError, "test"),
    ],
)
def test_bad_arguments(call, error, words):
    with pytest.raises(error, match=words):
        call()


# ---- the same step in PyTorch ----


def observed_step(run):
    """The tensors of one step: by (point, layer), rounded."""
    tensors = {}
    run.observe(lambda o: tensors.setdefault((o.point, o.layer), o.rounded))
    run.step()
    return tensors


@pytest.mark.parametrize(
    "rounding, path",
    [
        ("weight=bf16,act=bf16,wgrad=bf16,agrad=bf16", "h100-bf16"),
        ("weight=fp16,act=fp16,wgrad=fp16,agrad=fp16", "serial:fp16:rne"),
        ("weight=fp16,act=fp16,wgrad=fp16,agrad=fp16", "chunk8:fp24:rne"),
        ("weight=bf16,act=bf16,wgrad=bf16,agrad=bf16", "fp32"),
    ],
)
def test_mlp_of_torch_is_the_mlp_of_the_library(rounding, path):
    torch = pytest.importorskip("torch")
    ut = pytest.importorskip("ulplab.torch")
    B = 16
    run = ul.Training("fc12 relu fc4", f"{rounding},acc={path}", DATA, batch=B, seed=3)
    for _ in range(3):  # biases start at zero
        run.step()
    weights = run.weights()
    tensors = observed_step(run)
    net = torch.nn.Sequential(torch.nn.Linear(36, 12), torch.nn.ReLU(), torch.nn.Linear(12, 4))
    linear = [net[0], net[2]]
    places = [run.layers[0][1], run.layers[2][1]]
    with torch.no_grad():
        for layer, place in zip(linear, places):
            n = layer.weight.numel()
            layer.weight.copy_(torch.from_numpy(weights[place][:n].reshape(layer.weight.T.shape)).T)
            layer.bias.copy_(torch.from_numpy(weights[place][n:]))
    ut.quantize_module(net, f"{rounding},acc={path}")
    x = torch.from_numpy(tensors["act", 0].reshape(B, 36)).requires_grad_()
    z = net(x)
    assert np.array_equal(z.detach().numpy().ravel(), tensors["act", 3])
    z.backward(torch.from_numpy(tensors["agrad", 3].reshape(B, 4)))
    for number, (layer, place) in zip((0, 2), zip(linear, places)):
        assert weights[place][-1] != 0
        gradients = [layer.parametrizations[name].original.grad.numpy() for name in ("weight", "bias")]
        mine = [gradients[0].T.ravel(), gradients[1]]
        assert np.array_equal(np.concatenate(mine), tensors["wgrad", number])


CNN = "conv4@3p1 relu pool2 conv6@2p1s2g2 relu fc4"


@pytest.mark.parametrize(
    "rounding, path",
    [
        ("weight=bf16,act=bf16,wgrad=bf16,agrad=bf16", "h100-bf16"),
        ("weight=fp16,act=fp16,wgrad=fp16,agrad=fp16", "v100-fp16"),
        ("weight=fp16,act=fp16,wgrad=fp16,agrad=fp16", "serial:fp16:rne"),
        ("weight=fp16,act=fp16,wgrad=fp16,agrad=fp16", "chunk8:fp24:rne"),
        ("weight=bf16,act=bf16,wgrad=bf16,agrad=bf16", "fp32"),
        ("weight=bf16/sr,act=bf16/sr,wgrad=bf16/sr,agrad=bf16/sr", "serial:bf16:sr"),
    ],
)
def test_cnn_of_torch_is_the_cnn_of_the_library(rounding, path):
    """Outputs, weight gradients and the gradients between layers, with a stride, zeros around the image and groups."""
    torch = pytest.importorskip("torch")
    ut = pytest.importorskip("ulplab.torch")
    B = 16
    run = ul.Training(CNN, f"{rounding},acc={path}", DATA, batch=B, seed=3)
    for _ in range(3):  # biases start at zero
        run.step()
    weights = run.weights()
    tensors = observed_step(run)
    nn = torch.nn
    net = nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(4, 6, 2, padding=1, stride=2, groups=2),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(24, 4),
    )
    layers = {0: net[0], 3: net[3], 5: net[6]}
    with torch.no_grad():
        for number, layer in layers.items():
            values = torch.from_numpy(weights[run.layers[number][1]])
            n = layer.weight.numel()
            if isinstance(layer, nn.Linear):
                layer.weight.copy_(values[:n].reshape(layer.weight.T.shape).T)
            else:
                layer.weight.copy_(values[:n].reshape(layer.weight.shape))
            layer.bias.copy_(values[n:])
    ut.quantize_module(net, f"{rounding},acc={path}", seed=3).step = 3
    inner = []

    def keep(module, given, output):
        output.retain_grad()
        inner.append(output)

    for number in (0, 2, 3):
        net[number].register_forward_hook(keep)
    x = torch.from_numpy(tensors["act", 0].reshape(B, 1, 6, 6)).requires_grad_()
    z = net(x)
    assert np.array_equal(z.detach().numpy().ravel(), tensors["act", 6])
    z.backward(torch.from_numpy(tensors["agrad", 6].reshape(B, 4)))
    for output, number in zip(inner, (1, 3, 4)):
        assert np.array_equal(output.detach().numpy().ravel(), tensors["act", number])
        spec, stream = rounding.split("agrad=")[1], ut.stream_id(ut.AGRAD, number, step=3)
        gradient = ut.fake_quantize(output.grad, spec, seed=3, stream=stream)  # its rounding comes after this place
        assert gradient.any() and np.array_equal(gradient.numpy().ravel(), tensors["agrad", number])
    for number, layer in layers.items():
        assert weights[run.layers[number][1]][-1] != 0
        of_weight, of_bias = (layer.parametrizations[name].original.grad.numpy() for name in ("weight", "bias"))
        if isinstance(layer, nn.Linear):
            of_weight = of_weight.T
        mine = np.concatenate([of_weight.ravel(), of_bias])
        assert mine.any() and np.array_equal(mine, tensors["wgrad", number])


def test_cnn_of_torch_in_its_own_products():
    """PyTorch's own binary32 products differ from the library's in the order of the sums alone."""
    torch = pytest.importorskip("torch")
    nn = torch.nn
    B = 16
    run = ul.Training("conv4@3p1s2 relu fc4", "fp32", DATA, batch=B, seed=3)
    run.step()
    weights = run.weights()
    tensors = observed_step(run)
    net = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(36, 4))
    kernels, rows = (torch.from_numpy(weights[run.layers[number][1]]) for number in (0, 2))
    with torch.no_grad():
        net[0].weight.copy_(kernels[:36].reshape(4, 1, 3, 3))
        net[0].bias.copy_(kernels[36:])
        net[3].weight.copy_(rows[:144].reshape(36, 4).T)
        net[3].bias.copy_(rows[144:])
    z = net(torch.from_numpy(tensors["act", 0].reshape(B, 1, 6, 6)))
    z.backward(torch.from_numpy(tensors["agrad", 3].reshape(B, 4)))
    assert np.allclose(z.detach().numpy().ravel(), tensors["act", 3], rtol=1e-5, atol=1e-6)
    gradients = [net[0].weight.grad.numpy().ravel(), net[0].bias.grad.numpy()]
    assert np.allclose(np.concatenate(gradients), tensors["wgrad", 0], rtol=1e-4, atol=1e-6)
    gradients = [net[3].weight.grad.numpy().T.ravel(), net[3].bias.grad.numpy()]
    assert np.allclose(np.concatenate(gradients), tensors["wgrad", 2], rtol=1e-4, atol=1e-6)
