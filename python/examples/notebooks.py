"""Runs the notebooks of this folder, and writes each as a page of HTML that needs no other file and no network.

    python notebooks.py run [NAME...]           runs notebooks; an error of a cell, or a warning, is an error
    python notebooks.py html FOLDER [NAME...]   runs notebooks and writes FOLDER/NAME.html
    python notebooks.py strip [NAME...]         takes outputs, counts and metadata out of the files, as git has them
    python notebooks.py ready                   prints this interpreter and the notebooks whose pages it can write;
                                                exits with 3 if there are none

Without names all notebooks of this folder. Needs nbclient and ipykernel, and for HTML nbconvert. The kernel is this
interpreter; its ulplab is the one that is installed or in PYTHONPATH, else the one of this source tree. Only `strip`
changes the notebooks.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
import time
from html import escape
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent

#: scripts for formulas, diagrams and widgets, of which the notebooks have none; they would be loaded from other hosts
SCRIPT = re.compile(r"<script\b.*?</script>", re.DOTALL)
#: the title of a figure in the code of a cell, the text for readers who do not see the figure
TITLE = re.compile(r"""title\(\s*f?"([^"{}]{12,})\"""")
IMAGE = re.compile(r"""<img\b[^>]*?\bsrc="data:image/png""")
#: what makes a browser load a file
LOADS = re.compile(r"""<(?:script|link|iframe)\b|<img\b[^>]*\bsrc=["'](?!data:)|@import|url\(["']?(?!data:|["'#])""")


def names() -> list[str]:
    """The names of the notebooks of this folder."""
    return sorted(path.stem for path in HERE.glob("*.ipynb"))


def missing(name: str, *more: str) -> list[str]:
    """The modules that a notebook imports, and those that are named, as far as they are not installed; not ulplab."""
    code = "".join(line for cell in json.loads(source(name))["cells"] for line in cell["source"] if line.endswith("\n"))
    imports = re.findall(r"^import (\w+)", code, re.MULTILINE)
    return [module for module in sorted({*imports, *more} - {"ulplab"}) if find_spec(module) is None]


def source(name: str) -> str:
    """The text of a notebook's file."""
    return (HERE / f"{name}.ipynb").read_text(encoding="utf-8")


def stripped(text: str) -> str:
    """The text of a notebook's file without what Jupyter adds when the notebook is run and saved."""
    notebook = json.loads(text)
    for cell in notebook["cells"]:
        cell["metadata"] = {}
        if cell["cell_type"] == "code":
            cell.update(execution_count=None, outputs=[])
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook["metadata"] = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def strip(name: str) -> None:
    """Strips the file of a notebook."""
    fresh = HERE / f"{name}.ipynb.tmp"
    fresh.write_text(stripped(source(name)), encoding="utf-8")
    fresh.replace(HERE / f"{name}.ipynb")


def environment(folder: str) -> dict[str, str]:
    """The environment of a kernel that works in a folder and leaves the user's own settings of IPython alone."""
    env = {key: value for key, value in os.environ.items() if key != "MPLBACKEND"}
    paths = [os.path.abspath(path) for path in env.get("PYTHONPATH", "").split(os.pathsep) if path]
    if find_spec("ulplab") is None:
        paths.append(str(HERE.parent))
    env["PYTHONPATH"] = os.pathsep.join(paths)
    for name in ("ULPLAB_LIBRARY", "ULPLAB_BIN", "ULPLAB_DATA"):
        if env.get(name):
            env[name] = os.path.abspath(env[name])
    env["IPYTHONDIR"] = os.path.join(folder, "ipython")
    return env


def execute(name: str, timeout: int = 600) -> Any:
    """Runs a notebook in a temporary folder.

    Returns:
        The notebook with its outputs.

    Raises:
        nbclient.exceptions.CellExecutionError: a cell raised an error. RuntimeError: a cell wrote to stderr, as
        warnings do.
    """
    import nbclient
    from jupyter_client.kernelspec import KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager

    nbformat: Any = import_module("nbformat")  # it and nbconvert have no types
    notebook = nbformat.reads(source(name), as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        # no folders of kernels: the kernel is this interpreter, whatever "python3" is for the user
        specs = KernelSpecManager(kernel_dirs=[])
        kernel = AsyncKernelManager(kernel_name="python3", kernel_spec_manager=specs, transport="ipc")
        kernel.connection_file = os.path.join(folder, "kernel.json")
        client = nbclient.NotebookClient(
            notebook, km=kernel, timeout=timeout, resources={"metadata": {"path": folder}}, allow_errors=False
        )
        client.execute(env=environment(folder), cleanup_kc=True)
    for number, cell in enumerate(notebook.cells):
        for output in cell.get("outputs", []):
            if output.output_type == "stream" and output.name == "stderr":
                raise RuntimeError(f"{name}, cell {number + 1}, wrote to stderr:\n{output.text}")
    return notebook


def page(name: str, notebook: Any) -> str:
    """A notebook with its outputs as one file of HTML.

    Raises:
        RuntimeError: the page would load something.
    """
    exporter = import_module("nbconvert").HTMLExporter(template_name="lab", embed_images=True)
    html, _ = exporter.from_notebook_node(notebook, {"metadata": {"name": f"ulplab: {name}"}})
    titles = []
    for cell in notebook.cells:
        drawn = sum("image/png" in output.get("data", {}) for output in cell.get("outputs", []))
        title = TITLE.search(cell.source)
        titles += [title.group(1) if title else f"a figure of {name}"] * drawn
    each = iter(titles)
    html = IMAGE.sub(lambda _: f'<img alt="{escape(next(each))}" src="data:image/png', SCRIPT.sub("", html))
    found = LOADS.search(html)
    if found:
        raise RuntimeError(f"{name}: the page would load something: {html[found.start() : found.start() + 100]!r}")
    return str(html)


def write(folder: Path, chosen: list[str]) -> None:
    """Runs notebooks and writes their pages; a page appears under its name when it is whole."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in chosen:
        begin = time.monotonic()
        fresh = folder / f"{name}.html.tmp"
        fresh.write_text(page(name, execute(name)), encoding="utf-8")
        fresh.replace(folder / f"{name}.html")
        print(f"{folder / name}.html  {time.monotonic() - begin:.0f} s", flush=True)


def ready() -> int:
    """Prints the interpreter and the notebooks whose pages it can write."""
    can = [name for name in names() if not missing(name, "numpy", "nbclient", "nbconvert", "ipykernel")]
    if can:
        print(sys.executable, *can)
    return 0 if can else 3


def main(words: list[str]) -> int:
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"  # else the debugger of ipykernel, which nobody uses here, warns
    known = names()
    if words == ["ready"]:
        return ready()
    html = words[:1] == ["html"] and len(words) > 1
    if not html and words[:1] not in (["run"], ["strip"]):
        print((__doc__ or "").split("\n\n")[1], file=sys.stderr)
        return 2
    chosen = words[2:] if html else words[1:]
    for name in chosen:
        if name not in known:
            print(f"no notebook {name!r}; there are {', '.join(known)}", file=sys.stderr)
            return 2
    if words[0] == "strip":
        for name in chosen or known:
            strip(name)
    elif html:
        write(Path(words[1]), chosen or known)
    else:
        for name in chosen or known:
            begin = time.monotonic()
            execute(name)
            print(f"{name}  {time.monotonic() - begin:.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
