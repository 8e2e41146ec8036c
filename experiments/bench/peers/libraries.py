"""libraries.py - the worker of ml_dtypes, gfloat and PyTorch for the benchmark; experiments/bench/peers.h has its protocol.

Rounding is the conversion of a binary32 array into an array of the narrow type, which exists already (ml_dtypes, PyTorch), or
to values of the format in a new array (gfloat). The conversion back is not timed. Libraries that cannot be imported have no
rows. Outputs are kept between calls where the library allows it.
"""
import sys
import time

import numpy as np

offers = []  # (what, of, mode, by, make); make(n, threads) returns a function that does the work once
arrays = {}


def array(n):
    if n not in arrays:
        arrays[n] = np.random.default_rng(1).uniform(-2, 2, n).astype(np.float32)
    return arrays[n]


def add_ml_dtypes():
    import ml_dtypes

    def rounding(to):
        def make(n, threads):
            x, y = array(n), np.empty(n, to)
            return lambda: np.copyto(y, x, casting="unsafe")
        return make

    types = {"binary16": np.float16, "bfloat16": ml_dtypes.bfloat16, "e4m3": ml_dtypes.float8_e4m3fn,
             "e5m2": ml_dtypes.float8_e5m2}
    for name, to in types.items():
        by = "numpy " + np.__version__ if name == "binary16" else "ml_dtypes " + ml_dtypes.__version__
        offers.append(("round", name, "rne", by, rounding(to)))


def add_gfloat():
    import importlib.metadata

    import gfloat
    from gfloat import RoundMode, formats

    by = "gfloat " + importlib.metadata.version("gfloat")
    known = {"binary16": formats.format_info_binary16, "bfloat16": formats.format_info_bfloat16,
             "e4m3": formats.format_info_ocp_e4m3, "e5m2": formats.format_info_ocp_e5m2}
    random = np.random.default_rng(1)

    def nearest(info):
        def make(n, threads):
            x = array(n)
            return lambda: gfloat.round_ndarray(info, x, RoundMode.TiesToEven)
        return make

    def stochastic(info):
        def make(n, threads):
            x = array(n)
            return lambda: gfloat.round_ndarray(info, x, RoundMode.StochasticFast, False,
                                                random.integers(0, 1 << 32, n, np.int64), 32)
        return make

    for name, info in known.items():
        offers.append(("round", name, "rne", by, nearest(info)))
        offers.append(("round", name, "sra", by, stochastic(info)))


def add_torch():
    import torch

    by = "PyTorch " + torch.__version__
    types = {"binary16": torch.float16, "bfloat16": torch.bfloat16, "e4m3": torch.float8_e4m3fn,
             "e5m2": torch.float8_e5m2}

    def rounding(to):
        def make(n, threads):
            x, y = torch.from_numpy(array(n)), torch.empty(n, dtype=to)
            return lambda: y.copy_(x)
        return make

    def product(n, threads):
        a, b, c = torch.rand(n, n), torch.rand(n, n), torch.empty(n, n)
        return lambda: torch.mm(a, b, out=c)

    def step(n, threads):
        """A training step of Gupta et al. 2015: batch n of images (1000,784), which are already binary32 numbers."""
        images, labels = torch.rand(1000, 784), torch.randint(0, 10, (1000,))
        net = torch.nn.Sequential(torch.nn.Linear(784, 1000), torch.nn.ReLU(), torch.nn.Linear(1000, 1000),
                                  torch.nn.ReLU(), torch.nn.Linear(1000, 10))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
        loss_of = torch.nn.CrossEntropyLoss()
        order, place = torch.randperm(1000), 0

        def run():
            nonlocal place
            batch = order[place:place + n]
            place = (place + n) % 1000
            optimizer.zero_grad()
            loss = loss_of(net(images[batch]), labels[batch])
            loss.backward()
            optimizer.step()
        return run

    def on_threads(make):
        def made(n, threads):
            run = make(n, threads)

            def first():
                torch.set_num_threads(threads)
            return run, first
        return made

    for name, to in types.items():
        offers.append(("round", name, "rne", by, on_threads(rounding(to))))
    offers.append(("product", "fp32", "", by, on_threads(product)))
    offers.append(("step", "784-1000-1000-10", "fp32", by, on_threads(step)))


def seconds_of(run, slice):
    """The time of a call by the clock and of the thread, from as many calls as fit the slice; the first call does not count unless it is longer."""
    calls = 1
    while True:
        thread_began = time.thread_time()
        began = time.perf_counter()
        for _ in range(calls):
            run()
        once = (time.perf_counter() - began) / calls
        thread_once = (time.thread_time() - thread_began) / calls
        if once * calls >= slice / 2:
            return once, thread_once
        calls = int(slice / once) + 1


def main():
    for add in (add_ml_dtypes, add_gfloat, add_torch):
        try:
            add()
        except ImportError as error:
            print("libraries.py: no rows of a library: %s" % error, file=sys.stderr)
    for what, of, mode, by, _ in offers:
        print(what, of, mode, by, sep="\t")
    print("ready", flush=True)
    made = {}
    for line in sys.stdin:
        number, n, threads, slice = line.split()
        key = int(number), int(n), int(threads)
        if key not in made:
            made[key] = offers[key[0]][4](key[1], key[2])
        run = made[key]
        if isinstance(run, tuple):
            run, first = run
            first()
        print("%.9g %.9g" % seconds_of(run, float(slice)), flush=True)


main()
