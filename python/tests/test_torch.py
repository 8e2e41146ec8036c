"""ulplab.torch: operations with their gradients, models under policies, optimizers."""

import numpy as np
import pytest

import ulplab as ul

torch = pytest.importorskip("torch")
if not hasattr(torch.library, "custom_op"):
    pytest.skip("PyTorch 2.4 or later", allow_module_level=True)
ut = pytest.importorskip("ulplab.torch")

SPECS = ("e4m3", "bf16/ru", "fp16/sr", "q4.4/sr/8", "e5m2:sat")


def tensor(*shape, seed=1, **options):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, **options)


@pytest.mark.parametrize("spec", SPECS)
def test_fake_quantize_is_round(spec):
    x = tensor(5, 7)
    name, mode, bits = [*spec.split("/"), "rne", "0"][:3] if "/" not in spec else [*spec.split("/"), "0"][:3]
    want = ul.round(x.numpy(), name, mode, bits=int(bits), seed=3, stream=4)
    got = ut.fake_quantize(x, spec, seed=3, stream=4)
    assert np.array_equal(got.numpy(), want)
    assert np.array_equal(ut.fake_quantize(x.T, "e4m3").numpy(), ul.round(x.T.numpy(), "e4m3"))


def test_straight_through():
    x = tensor(50).requires_grad_()
    g = tensor(50, seed=2)
    ut.fake_quantize(x, "e4m3").backward(g)
    assert torch.equal(x.grad, g)
    x.grad = None
    ut.fake_quantize(x, "e4m3", "e5m2/sr", seed=7, stream=8, back_stream=9).backward(g)
    assert np.array_equal(x.grad.numpy(), ul.round(g.numpy(), "e5m2", "sr", seed=7, stream=9))
    x.grad = None
    y = ut.fake_quantize(x, None, "e5m2")
    y.backward(g)
    assert torch.equal(y, x) and np.array_equal(x.grad.numpy(), ul.round(g.numpy(), "e5m2"))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
def test_other_dtypes(dtype):
    x = tensor(100).to(dtype)
    y = ut.fake_quantize(x, "e4m3")
    assert y.dtype == dtype and np.array_equal(y.double().numpy(), ul.round(x.double().numpy(), "e4m3"))


def test_opcheck():
    x = tensor(4, 5).requires_grad_()
    w = tensor(5, 3, seed=2).requires_grad_()
    c = tensor(3, seed=3).requires_grad_()
    torch.library.opcheck(torch.ops.ulplab.round, (x, "e4m3", "e5m2", 0, 0, 0, 0))
    torch.library.opcheck(torch.ops.ulplab.matmul, (x, w, c, "fp32", "fp32", "", 0, 0))
    torch.library.opcheck(torch.ops.ulplab.matmul, (x, w, None, "h100-fp16", "h100-fp16", "rne", 0, 0))
    image, kernel, bias = (tensor(*shape).requires_grad_() for shape in ((2, 4, 6, 5), (6, 2, 3, 2), (6,)))
    geometry = ([2, 1], [1, 1], [1, 2], 2)
    torch.library.opcheck(torch.ops.ulplab.conv2d, (image, kernel, bias, *geometry, "fp32", "fp32", "", 0, 0))


def test_matmul_and_its_gradients():
    a, b, c = tensor(6, 9).requires_grad_(), tensor(9, 4, seed=2).requires_grad_(), tensor(4, seed=3).requires_grad_()
    g = tensor(6, 4, seed=4)
    y = ut.matmul(a, b, "serial:bf16:rne", ut.fake_quantize(c, "bf16"), backward="serial:fp16:rne")
    y.backward(g)
    an, bn, gn = a.detach().numpy(), b.detach().numpy(), g.numpy()
    start = np.broadcast_to(ul.round(c.detach().numpy(), "bf16"), (6, 4))
    assert np.array_equal(y.detach().numpy(), ul.matmul(an, bn, "serial:bf16:rne", start))
    assert np.array_equal(a.grad.numpy(), ul.matmul(gn, bn.T, "serial:fp16:rne"))
    assert np.array_equal(b.grad.numpy(), ul.matmul(an.T, gn, "serial:fp16:rne"))
    assert np.array_equal(c.grad.numpy(), ul.matmul(np.ones((1, 6)), gn, "serial:fp16:rne")[0])


def test_batches_broadcast():
    a, b = tensor(2, 3, 4, 5).requires_grad_(), tensor(5, 6, seed=2).requires_grad_()
    want_a, want_b = torch.autograd.grad(torch.matmul(a, b).sum(), (a, b))
    got_a, got_b = torch.autograd.grad(ut.matmul(a, b).sum(), (a, b))
    assert torch.allclose(got_a, want_a, atol=1e-5) and torch.allclose(got_b, want_b, atol=1e-4)


def test_linear_and_conv2d_are_those_of_torch():
    x, w, c = tensor(7, 3, 5), tensor(4, 5, seed=2), tensor(4, seed=3)
    assert torch.allclose(ut.linear(x, w, c), torch.nn.functional.linear(x, w, c), atol=1e-5)
    image, kernel, bias = tensor(2, 4, 9, 8), tensor(6, 2, 3, 3, seed=2), tensor(6, seed=3)
    leaves = [of.requires_grad_() for of in (image, kernel, bias)]
    far = {"padding": 5, "stride": (3, 2)}
    for options in ({}, {"stride": 2, "padding": 1}, {"dilation": 2, "padding": (2, 1)}, far):
        got = ut.conv2d(image, kernel, bias, groups=2, **options)
        want = torch.nn.functional.conv2d(image, kernel, bias, groups=2, **options)
        assert got.shape == want.shape and torch.allclose(got, want, atol=1e-5)
        weights = tensor(*want.shape, seed=4)
        pairs = [torch.autograd.grad((of * weights).sum(), leaves) for of in (got, want)]
        for ours, theirs in zip(*pairs):
            assert torch.allclose(ours, theirs, atol=1e-4)


def small_net():
    torch.manual_seed(5)
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 3, 3, padding=1),
        torch.nn.ReLU(),
        torch.nn.Flatten(),
        torch.nn.Linear(3 * 6 * 6, 10),
    )


def test_policy_rounds_where_it_says():
    net = small_net()
    handle = ut.quantize_module(net, "mixed:e4m3,agrad=e5m2/sr,wgrad=e5m2:inf", seed=3)
    x = tensor(8, 1, 6, 6)
    seen = []
    for layer in (net[0], net[3]):
        layer.register_forward_hook(lambda module, given, output: seen.append((module.weight, given[0], output)))
    net(x).square().sum().backward()
    for weight, given, output in seen:
        for values in (weight, given, output):
            values = values.detach().numpy()
            assert np.array_equal(values, ul.round(values, "e4m3"))
    for layer in (net[0], net[3]):
        gradient = layer.parametrizations.weight.original.grad.numpy()
        assert gradient.any() and np.array_equal(gradient, ul.round(gradient, "e5m2"))
    assert handle.step == 1
    net.eval()
    net(x)
    assert handle.step == 1
    plain = small_net()
    handle.remove()
    assert torch.equal(net(x), plain(x)) and not hasattr(net[0], "parametrizations")


def test_policy_is_the_same_step_by_hand():
    """An MLP under e4m3 and a Tensor Core, forward, against ul.round and ul.matmul."""
    torch.manual_seed(6)
    net = torch.nn.Sequential(torch.nn.Linear(12, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
    ut.quantize_module(net, "mixed:e4m3,acc=h100-e4m3")
    x = tensor(5, 12)
    got = net(x).detach().numpy()
    state = ul.round(x.numpy(), "e4m3")
    for layer in (net[0], net[2]):
        weight = ul.round(layer.parametrizations.weight.original.detach().numpy(), "e4m3")
        bias = ul.round(layer.parametrizations.bias.original.detach().numpy(), "e4m3")
        start = np.broadcast_to(bias, (5, weight.shape[0]))
        state = ul.round(ul.matmul(state, weight, "h100-e4m3", start, transpose_b=True), "e4m3")
        if layer is net[0]:
            state = np.maximum(state, 0)
    assert np.array_equal(got, state)


def test_training_repeats_itself():
    def train(seed, threads):
        ul.set_threads(threads)
        net = small_net()
        ut.quantize_module(net, "mixed:e4m3/sr,acc=serial:bf16:sr", seed=seed)
        optimizer = torch.optim.Adam(net.parameters(), 0.01)
        ut.quantize_optimizer(optimizer, "bf16/sr", weights="bf16/sr", seed=seed)
        x, t = tensor(16, 1, 6, 6), torch.arange(16) % 10
        losses = []
        for _ in range(12):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(net(x), t)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        moment = optimizer.state[next(net.parameters())]["exp_avg"].numpy()
        assert np.array_equal(moment, ul.round(moment, "bf16"))
        weight = next(net.parameters()).detach().numpy()
        assert np.array_equal(weight, ul.round(weight, "bf16"))
        return losses

    threads = ul.get_threads()
    try:
        first = train(1, 1)
        assert first == train(1, 2) and first != train(2, 1) and first[-1] < first[0]
    finally:
        ul.set_threads(threads)


def test_compile():
    def f(x, w):
        return ut.matmul(ut.fake_quantize(x, "e4m3", "e5m2"), w, "h100-e4m3", cast="rne").relu().sum()

    x, w = tensor(4, 8).requires_grad_(), tensor(8, 3, seed=2)
    want = torch.autograd.grad(f(x, w), x)[0]
    compiled = torch.compile(f, backend="aot_eager", fullgraph=True)
    assert torch.equal(torch.autograd.grad(compiled(x, w), x)[0], want)


def test_streams_are_those_of_the_library():
    assert ut.stream_id(ut.AGRAD, 5, 7) == 3 << 56 | 5 << 40 | 7
    assert ut.stream_id(ut.WEIGHT, 0, 1, lane=2, evaluation=True) == 1 << 63 | 2 << 28 | 1


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: ut.fake_quantize(tensor(3), "e4m3x"), "e4m3"),
        (lambda: ut.fake_quantize(tensor(3), "e4m3/up"), "up"),
        (lambda: ut.fake_quantize(tensor(3), "e4m3/sr/40"), "40"),
        (lambda: ut.fake_quantize(tensor(3), "e4m3/sr/a"), "random bits"),
        (lambda: ut.fake_quantize(tensor(3), "binary64"), "float32"),
        (lambda: ut.fake_quantize(tensor(3), ""), "FORMAT"),
        (lambda: ut.matmul(tensor(3), tensor(3)), "dimensions"),
        (lambda: ut.matmul(tensor(3, 2), tensor(3, 2)), "products"),
        (lambda: ut.matmul(tensor(3, 2), tensor(2, 3), "h100"), "h100"),
        (lambda: ut.conv2d(tensor(1, 2, 5, 5), tensor(3, 2, 6, 6)), "does not fit"),
        (lambda: ut.conv2d(tensor(1, 2, 5, 5), tensor(3, 1, 2, 2)), "channels"),
        (lambda: ut.conv2d(tensor(2, 5, 5), tensor(3, 2, 2, 2)), "dimensions"),
        (lambda: ut.conv2d(tensor(1, 2, 5, 5), tensor(3, 2, 2, 2), padding="same"), "padding is 'same'"),
        (lambda: ut.conv2d(tensor(1, 2, 5, 5), tensor(3, 2, 2, 2), stride=0), "stride is 0"),
        (lambda: ut.quantize_module(torch.nn.Linear(2, 2), "mixed:e4m3x"), "e4m3x"),
        (lambda: ut.quantize_module(torch.nn.Linear(2, 2), "weights=e4m3"), "weights"),
        (lambda: ut.quantize_module(torch.nn.Linear(2, 2), "bwd=fp32"), "fwd"),
    ],
)
def test_bad_arguments(call, words):
    with pytest.raises(ValueError, match=words):
        call()
