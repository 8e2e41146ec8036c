"""Names of formats in other tools: their numbers, compared with the dtypes where a library has them."""

import numpy as np
import pytest

import ulplab as ul

ROWS = ul.names()


@pytest.mark.parametrize("row", [row for row in ROWS if row.format], ids=lambda row: row.name)
def test_names(row):
    assert ul.Format(row.name).name == ul.Format(row.name.upper()).name == ul.Format(row.format).name


@pytest.mark.parametrize("row", [row for row in ROWS if not row.format], ids=lambda row: row.name)
def test_words_without_a_format(row):
    with pytest.raises(ValueError, match="no format") as failure:
        ul.Format(row.name)
    assert row.where in str(failure.value)



@pytest.mark.parametrize("name", [row.name for row in ROWS if row.format])
def test_codes_of_ml_dtypes(name):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    if not hasattr(ml_dtypes, name):
        pytest.skip("ml_dtypes has no such type")
    f, dtype = ul.Format(name), np.dtype(getattr(ml_dtypes, name))
    codes = np.arange(2**f.bits, dtype=np.uint16 if f.bits > 8 else np.uint8)
    if name.startswith("int"):
        want = codes.astype(dtype).astype(np.float64)
    else:
        want = codes.view(dtype).astype(np.float64)
    got = np.asarray(ul.decode(codes, f), np.float64)
    assert np.array_equal(got, want, equal_nan=True) and np.array_equal(np.signbit(got), np.signbit(want) & ~np.isnan(want))


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu"])
def test_codes_of_torch(name):
    torch = pytest.importorskip("torch")
    if not hasattr(torch, name):
        pytest.skip("torch has no such type")
    codes = np.arange(256, dtype=np.uint8)
    want = torch.from_numpy(codes).view(getattr(torch, name)).to(torch.float64).numpy()
    assert np.array_equal(np.asarray(ul.decode(codes, name), np.float64), want, equal_nan=True)


def test_suggestions():
    for wrong, near in (("float61", "float16"), ("float8_e4m3nf", "float8_e4m3fn"), ("F8_E4M4", "f8_e4m3")):
        with pytest.raises(ValueError, match=near):
            ul.Format(wrong)
