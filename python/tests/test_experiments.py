"""Experiments from Python: the table, the claims and the figure; skipped where the programs are not installed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ulplab as ul
from ulplab import _experiments as programs

if not ul.experiments():
    pytest.skip("the programs are not installed", allow_module_level=True)


def test_run(tmp_path):
    result = ul.run("stagnation", quick=True, path=tmp_path)
    assert result.name == "stagnation" and result.header["experiment"] == "stagnation"
    assert result.claims and not result.failed and (tmp_path / "stagnation.csv").exists()
    lengths = {len(column) for column in result.table.values()}
    assert len(lengths) == 1 and lengths.pop() > 10
    assert set(result.table["format"]) >= {"binary16", "bfloat16"}
    assert result.table["value"].dtype == np.float64 and result.summary


def test_options(tmp_path):
    result = ul.run("harmonic", quick=True, path=tmp_path, formats=["e4m3", "bf16"], runs=20, threads=1)
    assert set(result.table["format"]) == {"e4m3", "bfloat16"} and result.header["runs"] == "20"


def test_frame(tmp_path):
    pandas = pytest.importorskip("pandas")
    assert isinstance(ul.run("swamping", quick=True, path=tmp_path).frame(), pandas.DataFrame)


@pytest.mark.skipif(shutil.which("gnuplot") is None, reason="gnuplot is missing")
def test_figure(tmp_path):
    picture = ul.run("stagnation", quick=True, path=tmp_path).figure()
    assert picture == tmp_path / "stagnation.png" and picture.read_bytes().startswith(b"\x89PNG")


def test_names():
    names = ul.experiments()
    assert {"stagnation", "loss_scaling", "ctc"} <= set(names) and "ulp" not in names


def test_figure_needs(tmp_path, monkeypatch):
    result = ul.run("stagnation", quick=True, path=tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ul.DeviceError, match="gnuplot"):
        result.figure()


def test_digits(tmp_path, monkeypatch):
    """The programs find the digits, also outside of the source tree."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ULPLAB_DATA", raising=False)
    result = ul.run("gradient_underflow", quick=True, path=tmp_path, threads=1)
    assert result.claims and not result.failed


def copied(to):
    """A folder with a copy of the tool."""
    to.mkdir(parents=True)
    shutil.copy(programs.program("ulp"), to / "ulp")
    return to


def test_order(tmp_path, monkeypatch):
    """ULPLAB_BIN, then the folder beside the library in use, then PATH; scripts are no programs."""
    chosen, beside, on_path = (copied(tmp_path / name) for name in ("chosen", "prefix/bin", "path"))
    scripts = tmp_path / "scripts"
    scripts.mkdir()
    (scripts / "ulp").write_text("#!/bin/sh\n")
    (scripts / "ulp").chmod(0o755)
    library = tmp_path / "prefix" / "lib" / "libulp.so"
    library.parent.mkdir()
    library.symlink_to("libulp.so.0.9")
    monkeypatch.setenv("PATH", f"{scripts}{os.pathsep}{on_path}")
    monkeypatch.setattr(programs, "library", str(library))
    monkeypatch.setenv("ULPLAB_BIN", str(chosen))
    assert programs.program("ulp") == chosen / "ulp"
    monkeypatch.delenv("ULPLAB_BIN")
    assert programs.program("ulp").resolve() == beside / "ulp"
    (beside / "ulp").unlink()
    assert programs.program("ulp") == on_path / "ulp"
    (on_path / "ulp").chmod(0o644)
    with pytest.raises(ul.DeviceError, match="ULPLAB_BIN"):
        ul.run("stagnation")
    assert ul.experiments() == []
    monkeypatch.setattr(programs, "library", "libulp.so.0.9")  # found by the system, which names no folder
    monkeypatch.setenv("ULPLAB_BIN", str(beside))
    with pytest.raises(ul.DeviceError, match="not installed"):
        ul.run("stagnation")


def tool(*arguments, environment=None, text=""):
    return subprocess.run(
        [sys.executable, "-m", "ulplab", *arguments],
        input=text,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(ul.__file__).parent.parent), **(environment or {})},
    )


def test_tool(tmp_path):
    done = tool("round", "--format", "fp16", "--to", "both", text="0.01\n")
    assert (done.returncode, done.stdout) == (0, "211f 0.01000213623046875\n")
    done = tool("round", "--format", "fp61")
    assert done.returncode == 2 and done.stderr.startswith("ulp round: ") and "fp61" in done.stderr
    done = tool("round", environment={"ULPLAB_BIN": str(tmp_path)})
    assert (done.returncode, done.stdout) == (3, "") and done.stderr.startswith("ulp: the programs of ulplab")


@pytest.mark.parametrize(
    "arguments, options, error, words",
    [
        (("stagnatoin",), {}, ValueError, "stagnatoin"),
        (("../bin/stagnation",), {}, ValueError, "no experiment"),
        (("stagnation",), {"bogus": 1}, ValueError, "bogus"),
        (("stagnation",), {"formats": "e4m3x"}, ValueError, "e4m3x"),
        (("stagnation",), {"out": "x"}, TypeError, "out"),
    ],
)
def test_bad_arguments(tmp_path, arguments, options, error, words):
    with pytest.raises(error, match=words):
        ul.run(*arguments, path=tmp_path, **options)
