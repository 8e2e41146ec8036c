"""Layers of tokens in binary32 against PyTorch: outputs by the loss, gradients layer by layer, a whole GPT for 100 steps."""

import numpy as np
import pytest

import ulplab as ul

torch = pytest.importorskip("torch")
F = torch.nn.functional

T, V, SAMPLES = 12, 13, 24
RNG = np.random.default_rng(29)
TOKENS = RNG.integers(0, V, (SAMPLES + 8, T)).astype(np.uint8)
NEXT = ((TOKENS.astype(int) * 5 + np.arange(T)) % V).astype(np.uint8)
DATA = (TOKENS, NEXT, SAMPLES)
OPTIONS = dict(tokens=True, batch=SAMPLES, seed=3)

BLOCK = "fork ln attn4 causal join fork ln lin32 gelu lin16 join "
GPT = "embed16:13 pos12 " + BLOCK + BLOCK + "ln unembed"
NETS = {
    "embedding": "embed16:13 lin13",
    "places": "embed16:13 pos20 lin13",
    "layer norm": "embed16:13 ln lin13",
    "layer norm, welford": "embed16:13 ln:welford lin13",
    "rms norm": "embed16:13 rms lin13",
    "attention": "embed16:13 attn4 lin13",
    "causal attention": "embed16:13 attn4 causal lin13",
    "grouped heads": "embed16:13 attn4:kv=2 causal lin13",
    "one head of keys": "embed16:13 attn4:kv=1 lin13",
    "rotary places": "embed16:13 attn2:rope causal lin13",
    "blocks of keys": "embed16:13 attn2:block=5 causal lin13",
    "blocks, base 2": "embed16:13 attn2:block=4:base2:integer causal lin13",
    "beta": "embed16:13 attn2:block=4:beta=2 causal lin13",
    "gelu": "embed16:13 lin16 gelu lin13",
    "gelu_tanh": "embed16:13 lin16 gelu_tanh lin13",
    "silu": "embed16:13 lin16 silu lin13",
    "swiglu": "embed16:13 swiglu24 lin13",
    "tied weights": "embed16:13 lin16 tanh unembed",
    "gpt": GPT,
}


def rotary(x):
    """LLaMA's rotary places of (B, heads, T, e)."""
    e = x.shape[-1]
    angle = torch.arange(x.shape[-2])[:, None] * 10000.0 ** (-2 * torch.arange(e // 2) / e)
    c, s = torch.cos(angle), torch.sin(angle)
    a, b = x[..., : e // 2], x[..., e // 2 :]
    return torch.cat([c * a - s * b, c * b + s * a], -1)


def attention(x, w, word):
    head, *options = word.split(":")
    heads = int(head[4:])
    keys = next((int(o[3:]) for o in options if o.startswith("kv=")), heads)
    B, places, d = x.shape
    e = d // heads
    width = (heads + 2 * keys) * e
    into, out = w[: d * width].view(d, width), w[d * width :].view(d, d)
    q, k, v = (x @ into).split([heads * e, keys * e, keys * e], -1)
    q, k, v = (t.view(B, places, -1, e).transpose(1, 2) for t in (q, k, v))
    if "rope" in options:
        q, k = rotary(q), rotary(k)
    k, v = (t.repeat_interleave(heads // keys, 1) for t in (k, v))
    mix = F.scaled_dot_product_attention(q, k, v, is_causal="causal" in options)
    return mix.transpose(1, 2).reshape(B, places, d) @ out


def layer(word, x, w, table):
    """The output of a layer from its weights w; table: the weights of embed."""
    name = word.rstrip("0123456789") if ":" not in word else word.split(":")[0].rstrip("0123456789")
    d = x.shape[-1]
    if name == "lin":
        n = int(word[3:])
        return x @ w[: d * n].view(d, n) + w[d * n :]
    if name == "ln":
        return F.layer_norm(x, (d,), w[:d], w[d:], 1e-5)
    if name == "rms":
        return F.rms_norm(x, (d,), w, 1e-5)
    if name == "swiglu":
        n = int(word[6:])
        a, b = (x @ w[: d * 2 * n].view(d, 2 * n) + w[d * 2 * n :]).split(n, -1)
        return F.silu(a) * b
    if name == "pos":
        return x + w.view(-1, d)[: x.shape[1]]
    if name == "attn":
        return attention(x, w, word)
    if name == "unembed":
        return x @ table.view(-1, d).T
    return {"gelu": F.gelu, "gelu_tanh": lambda t: F.gelu(t, approximate="tanh"), "silu": F.silu, "tanh": torch.tanh}[
        name
    ](x)


def loss_of(run, w, tokens, labels):
    """The mean loss over all positions, computed by PyTorch from the words of the net."""
    kept, x, table = [], None, None
    for word, place in run.layers:
        if word.startswith("embed"):
            table = w[place]
            x = F.embedding(tokens, table.view(V, -1))
        elif word == "fork":
            kept.append(x)
        elif word == "join":
            x = x + kept.pop()
        else:
            x = layer(word, x, w[place], table)
    return F.cross_entropy(x.reshape(-1, x.shape[-1]), labels.reshape(-1))


def tensors(dtype):
    return torch.tensor(TOKENS[:SAMPLES].astype(np.int64)), torch.tensor(NEXT[:SAMPLES].astype(np.int64))


def weights(run, dtype=torch.float64):
    return torch.tensor(run.weights().astype(np.float64), dtype=dtype, requires_grad=True)


@pytest.mark.parametrize("name", NETS)
def test_gradients(name):
    """Loss and gradients agree with binary64 within a few units of binary32 sums."""
    run = ul.Training(NETS[name], "fp32", DATA, **OPTIONS)
    w = weights(run)
    found = np.zeros(run.params)
    places = {i: place for i, (_, place) in enumerate(run.layers)}
    table = run.layers[0][1]

    def see(o):
        place = places[o.layer]
        if place.stop > place.start and o.raw.size == place.stop - place.start:
            found[place] = o.raw  # the last one of embed is the sum with that of unembed
        elif o.raw.size == table.stop - table.start:
            found[table] = o.raw

    run.observe(see, ["wgrad"])
    loss = loss_of(run, w, *tensors(torch.float64))
    loss.backward()
    step = run.step()
    assert step.loss == pytest.approx(loss.item(), rel=1e-5)
    exact = w.grad.numpy()
    assert np.max(np.abs(found - exact)) <= 4e-6 * np.max(np.abs(exact)), name


def test_a_whole_gpt():
    """100 steps of AdamW with clipping and without the decay of biases and norms, from the same weights."""
    optimizer = "adamw,rate=0.003,decay=0.1,decays=weights,clip=1,beta2=0.99"
    run = ul.Training(GPT, "fp32", DATA, optimizer=optimizer, **OPTIONS)
    w = weights(run, torch.float32)
    mask = torch.zeros(run.params, dtype=torch.bool)
    for word, place in run.layers:
        size, d = place.stop - place.start, 16
        decayed = {"lin32": d * 32, "lin16": 32 * 16}.get(word, 0 if word.startswith("ln") else size)
        mask[place.start : place.start + decayed] = True
    m, v, losses, ours = torch.zeros_like(w), torch.zeros_like(w), [], []
    data = tensors(torch.float32)
    for t in range(1, 101):
        w.grad = None
        loss = loss_of(run, w, *data)
        loss.backward()
        losses.append(loss.item())
        ours.append(run.step().loss)
        with torch.no_grad():
            torch.nn.utils.clip_grad_norm_([w], 1.0)
            m.mul_(0.9).add_(w.grad, alpha=0.1)
            v.mul_(0.99).addcmul_(w.grad, w.grad, value=0.01)
            w[mask] -= 0.003 * 0.1 * w[mask]
            w -= 0.003 * (m / (1 - 0.9**t)) / ((v / (1 - 0.99**t)).sqrt() + 1e-8)
    assert losses[-1] < losses[0] / 2  # it learns
    assert np.max(np.abs(np.array(losses) - np.array(ours))) < 1e-5
