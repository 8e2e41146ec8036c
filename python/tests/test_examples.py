"""The notebooks of python/examples: stripped, named in the README, of one form, and each runs."""

import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
if not EXAMPLES.is_dir():
    pytest.skip("the notebooks are in the source tree", allow_module_level=True)
sys.path.insert(0, str(EXAMPLES))
import notebooks  # noqa: E402

NAMES = notebooks.names()


def read(name):
    return json.loads((EXAMPLES / f"{name}.ipynb").read_text(encoding="utf-8"))


def sources(name, kind):
    return ["".join(cell["source"]) for cell in read(name)["cells"] if cell["cell_type"] == kind]


def test_all_are_here():
    assert {"fp8_torch", "gradient_underflow", "rounding", "stagnation", "tensor_core"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_stripped(name):
    notebook = read(name)
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert notebook["metadata"] == {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for cell in notebook["cells"]:
        assert cell["metadata"] == {}
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [] and cell["execution_count"] is None
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(set(ids)) == len(ids) and all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", each) for each in ids)
    assert notebooks.stripped(notebooks.source(name)) == notebooks.source(name)


def test_strip(tmp_path, monkeypatch):
    """What Jupyter adds is taken out, and nothing else."""
    notebook = read("rounding")
    notebook["metadata"]["language_info"]["version"] = "3.99"
    for cell in notebook["cells"]:
        cell["metadata"] = {"tags": []}
        if cell["cell_type"] == "code":
            cell.update(execution_count=7, outputs=[{"output_type": "stream", "name": "stdout", "text": ["1\n"]}])
    monkeypatch.setattr(notebooks, "HERE", tmp_path)
    (tmp_path / "rounding.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    assert notebooks.main(["strip", "rounding"]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["rounding.ipynb"]
    assert (tmp_path / "rounding.ipynb").read_bytes() == (EXAMPLES / "rounding.ipynb").read_bytes()


@pytest.mark.parametrize("name", NAMES)
def test_form(name):
    """A title and a question, which the gallery shows; a prediction before any code; claims; exercises; reading."""
    cells = read(name)["cells"]
    kinds = [cell["cell_type"] for cell in cells]
    first = [line.rstrip("\n") for line in cells[0]["source"]]
    assert re.fullmatch(r"# [A-Z][^\"\\]*", first[0]) and first[1] == ""
    assert re.fullmatch(r"\*\*Question\.\*\* [^\"\\]*\?", first[2])
    before_code = ["".join(cell["source"]) for cell in cells[: kinds.index("code")]]
    assert any(text.startswith("## Predict first") for text in before_code)
    last = "".join(cells[-1]["source"])
    assert "## Exercises" in last and "## To read" in last
    prose = "\n".join(sources(name, "markdown"))
    assert not re.search(
        r"<[a-z/]|^[-+] ", prose, re.MULTILINE
    )  # nbconvert breaks tags; a sum at a line's start is a list
    code = sources(name, "code")
    assert "import ulplab as ul" in "\n".join(code)
    assert sum(len(re.findall(r"^assert ", text, re.MULTILINE)) for text in code) >= 5
    assert all(len(text.splitlines()) <= 26 for text in code)
    assert all(len(line) <= 120 for cell in cells for line in "".join(cell["source"]).splitlines())
    drawn = "\n".join(code)
    assert drawn.count("plt.show()") >= 2 and drawn.count("xlabel") >= 2 and drawn.count("ylabel") >= 1


def test_named_in_the_readme():
    readme = (EXAMPLES.parent / "README.md").read_text(encoding="utf-8")
    assert [name for name in NAMES if f"(examples/{name}.ipynb)" not in readme] == []


@pytest.mark.parametrize("name", NAMES)
def test_runs(name, tmp_path):
    """In a kernel of Jupyter where nbclient is installed, else the same cells as a program of Python."""
    absent = notebooks.missing(name)
    if absent:
        pytest.skip(f"{', '.join(absent)} missing")
    if find_spec("nbclient") is not None and find_spec("ipykernel") is not None:
        outputs = [out for cell in notebooks.execute(name).cells for out in cell.get("outputs", [])]
        assert sum("image/png" in out.get("data", {}) for out in outputs) >= 2
        return
    program = tmp_path / f"{name}.py"
    program.write_text("\n\n".join(sources(name, "code")), encoding="utf-8")
    env = {**notebooks.environment(str(tmp_path)), "MPLBACKEND": "Agg"}
    done = subprocess.run([sys.executable, str(program)], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "", done.stderr


def test_a_wrong_result_is_seen(tmp_path, monkeypatch):
    """A notebook whose claim is false does not run through, and neither does one that warns."""
    pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = read("rounding")
    notebook["cells"] = notebook["cells"][:3]
    monkeypatch.setattr(notebooks, "HERE", tmp_path)
    for code, error in (
        ("import ulplab as ul\nassert ul.round(464.0, 'e4m3') == 480", "AssertionError"),
        ("import warnings\nwarnings.warn('careful')", "careful"),
    ):
        notebook["cells"][2]["source"] = [code]
        (tmp_path / "wrong.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
        with pytest.raises(Exception, match=error):
            notebooks.execute("wrong")


def test_command_line(tmp_path):
    """Unknown words are refused with the words that are known."""
    script = [sys.executable, str(EXAMPLES / "notebooks.py")]
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    for words, says in (([], "python notebooks.py run"), (["run", "x"], "no notebook 'x'; there are ")):
        done = subprocess.run([*script, *words], env=env, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 2 and says in done.stderr
    assert list(tmp_path.iterdir()) == []
    done = subprocess.run([*script, "ready"], env=env, cwd=tmp_path, capture_output=True, text=True)
    absent = {name: notebooks.missing(name, "nbclient", "nbconvert", "ipykernel") for name in NAMES}
    can = [name for name in NAMES if not absent[name]]
    assert done.stdout.split()[1:] == can and done.returncode == (0 if can else 3)


def test_missing(monkeypatch):
    """What a notebook imports is what it needs."""
    monkeypatch.setattr(notebooks, "find_spec", lambda module: None)
    assert notebooks.missing("fp8_torch", "nbclient") == ["matplotlib", "nbclient", "numpy", "torch"]
    assert notebooks.missing("rounding") == ["matplotlib", "numpy"]


def test_page(tmp_path):
    """A page holds text, code, results and figures, and loads nothing."""
    for need in ("nbconvert", "nbclient", "ipykernel", "matplotlib"):
        pytest.importorskip(need)
    notebooks.write(tmp_path, ["rounding"])
    assert [path.name for path in tmp_path.iterdir()] == ["rounding.html"]
    html = (tmp_path / "rounding.html").read_text(encoding="utf-8")
    assert html.count('alt="Floating point: equally many numbers between any two powers of two"') == 1
    assert "<script" not in html and "data:image/png;base64," in html and "What becomes of 460" in html
    assert str(Path.home()) not in html and str(EXAMPLES) not in html
