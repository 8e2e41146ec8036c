"""Experiments from Python: the table, the claims and the figure; skipped where the programs are not installed."""

import shutil

import numpy as np
import pytest

import ulplab as ul

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
    result = ul.run("stagnation", quick=True, path=tmp_path)
    try:
        picture = result.figure()
    except ul.DeviceError:
        pytest.skip("outside of the source tree")
    assert picture.read_bytes().startswith(b"\x89PNG")


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
