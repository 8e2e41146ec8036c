"""Rounding against GNU MPFR: `ulp verify` compares results of Python with an oracle of other code."""

import subprocess

import numpy as np
import pytest

import ulplab as ul
from ulplab._experiments import program

MODES = ["rne", "rna", "rz", "ru", "rd", "ro", "sra", "srb", "src", "rnu", "rnz", "rnd"]
POLICIES = ["sat", "nan", "inf", None]


@pytest.fixture(scope="module")
def tool():
    """The path of `ulp`; the tests are skipped where it is missing or has no MPFR."""
    try:
        found = program("ulp")
    except ul.DeviceError:
        pytest.skip("the programs are not installed")
    if subprocess.run([found, "verify", "--format", "e2m1", "--sample", "1"], capture_output=True).returncode == 3:
        pytest.skip("ulp has no MPFR")
    return found


def _numbers(f, dtype, seed):
    """Random bits, and random numbers of the format's range: normal, subnormal and beyond."""
    rng = np.random.default_rng(seed)
    bits = np.frombuffer(rng.bytes(2000 * np.dtype(dtype).itemsize), dtype)
    exponents = rng.uniform(f.emin - f.prec - 2, f.emax + 2, 2000)
    near = np.ldexp(rng.uniform(-2, 2, 2000), np.clip(exponents, -1000, 1000).astype(int))
    with np.errstate(over="ignore"):
        return np.concatenate([bits, near.astype(dtype)])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("row", ul.formats(), ids=lambda row: row.name)
def test_round(tool, tmp_path, row, dtype):
    f = ul.Format(row.name)
    x = _numbers(f, dtype, seed=len(row.name))
    np.save(tmp_path / "x.npy", x)
    for i, mode in enumerate(MODES):
        policy = POLICIES[i % len(POLICIES)]
        np.save(tmp_path / "y.npy", ul.round(x, f, mode, overflow=policy, seed=i, stream=3))
        words = ["--format", row.name, "--mode", mode, "--overflow", policy or "default", "--seed", str(i)]
        files = ["--stream", "3", "--inputs", tmp_path / "x.npy", "--results", tmp_path / "y.npy"]
        done = subprocess.run([tool, "verify", *words, *files], capture_output=True, text=True)
        assert done.returncode == 0 and f": {len(x)} results, 0 mismatches" in done.stdout, done.stdout + done.stderr


def test_a_wrong_result_is_found(tool, tmp_path):
    x = np.float32([1.0, 1.0625, 1.1])
    y = ul.round(x, "e4m3", "rna")
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", y)
    words = [tool, "verify", "--format", "e4m3", "--inputs", tmp_path / "x.npy", "--results", tmp_path / "y.npy"]
    assert subprocess.run([*words, "--mode", "rna"], capture_output=True).returncode == 0
    done = subprocess.run([*words, "--mode", "rne"], capture_output=True, text=True)
    assert done.returncode == 1 and "element (1,): x = 0x1.1p+0" in done.stderr and "1 mismatch" in done.stdout
