"""The experiments of ulplab: programs that write a table, claims and a figure."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Optional, Union

import numpy as np

from ._arrays import Array
from ._library import DeviceError
from ._library import path as library

#: exit statuses of the programs
USAGE, LACKS = 2, 3


class Claim(NamedTuple):
    """A claim of an experiment.

    Attributes:
        kind: "PASS" or "FAIL", or another kind of remark. text: the claim. here, published: the numbers of this run
            and of the source.
    """

    kind: str
    text: str
    here: str
    published: str
    source: str


@dataclass(frozen=True)
class Experiment:
    """The results of a run; see :func:`run`.

    Attributes:
        name: of the experiment. header: the options that decide the numbers. table: the columns of the CSV.
        summary: the numbers that claims and figures share: (quantity, of, value). claims: the claims.
        path: the folder with the files of the run.
    """

    name: str
    header: dict[str, str]
    table: dict[str, Array]
    summary: list[tuple[str, str, float]]
    claims: list[Claim]
    path: Path

    @property
    def failed(self) -> list[Claim]:
        """The claims that failed."""
        return [claim for claim in self.claims if claim.kind == "FAIL"]

    def frame(self) -> Any:
        """The table as a DataFrame of pandas; ImportError without pandas."""
        import pandas  # type: ignore[import-untyped,unused-ignore]

        return pandas.DataFrame(self.table)

    def figure(self) -> Path:
        """Draws the figure with gnuplot and returns the path of the PNG; the SVG is beside it.

        Raises:
            DeviceError: gnuplot is missing, or the folder `plots` of an installation or of the source tree.
            RuntimeError: gnuplot failed, as it does where a run has too few points for the figure.
        """
        if shutil.which("gnuplot") is None:
            raise DeviceError("a figure needs gnuplot, and no folder of PATH has it")
        scripts = _plots()
        if scripts is None:
            raise DeviceError(f"a figure needs the folder `plots`, which is not beside the programs in {_programs()}")
        with tempfile.TemporaryDirectory() as folder:
            at = Path(folder)
            (at / "plots").symlink_to(scripts)
            (at / "results").symlink_to(self.path)
            (at / "figures").mkdir()
            done = subprocess.run(["gnuplot", f"plots/{self.name}.gp"], cwd=at, capture_output=True, text=True)
            drawn = at / "figures" / f"{self.name}.png"
            if done.returncode != 0 or not drawn.exists():
                raise RuntimeError(f"gnuplot failed: {done.stderr.strip()}")
            for file in (at / "figures").iterdir():
                shutil.copy(file, self.path / file.name)
        return self.path / f"{self.name}.png"


def _folders() -> Iterator[Path]:
    """The folders that may have the programs, in the order of the search."""
    chosen = os.environ.get("ULPLAB_BIN")
    if chosen:
        yield Path(chosen)
        return
    if "/" in library:  # PREFIX/lib/libulp.so: the wheel's folder, build/ of a source tree, an installation
        yield Path(library).resolve().parent.parent / "bin"
    yield from (Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep) if folder)


def _is_program(path: Path) -> bool:
    """Whether a file is a program, and not a script, as the command `ulp` of the wheel is."""
    if not path.is_file() or not os.access(path, os.X_OK):
        return False
    with path.open("rb") as file:
        return file.read(2) != b"#!"


def _programs() -> Path:
    """The folder of the programs."""
    for folder in _folders():
        if _is_program(folder / "ulp"):
            return folder
    raise DeviceError("the programs of ulplab are not installed; set ULPLAB_BIN to their folder")


def _plots() -> Optional[Path]:
    """The folder of the scripts for gnuplot, of an installation or of the source tree that has the programs."""
    above = list(_programs().resolve().parents)
    places = [above[0] / "share" / "ulplab" / "plots", *(folder / "plots" for folder in above[1:3])]
    return next((place for place in places if (place / "style.gp").exists()), None)


def program(name: str) -> Path:
    """The program of this name."""
    folder = _programs()
    if _is_program(folder / name):
        return folder / name
    raise ValueError(f"no experiment {name!r}; ulplab.experiments() lists them")


def experiments() -> list[str]:
    """The names of the experiments whose programs are installed."""
    try:
        folder, plots = _programs(), _plots()
    except DeviceError:
        return []
    names = sorted(path.name for path in folder.iterdir() if path.name != "ulp" and _is_program(path))
    return [name for name in names if plots is None or (plots / f"{name}.gp").exists()]


def _arguments(options: dict[str, Any]) -> list[str]:
    """Options of Python as options of the command line: seeds_of=[1, 2] is --seeds-of 1,2; True is the option alone."""
    words = []
    for key, value in options.items():
        if value is None or value is False:
            continue
        words.append("--" + key.replace("_", "-"))
        if value is not True:
            words.append(",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value))
    return words


def _column(cells: list[str]) -> Array:
    """A column: whole numbers, numbers, or texts; an empty cell of a column of numbers is NaN."""
    try:
        return np.array([int(cell) for cell in cells], np.int64)
    except (ValueError, OverflowError):
        pass
    try:
        return np.array([float(cell) if cell else np.nan for cell in cells])
    except ValueError:
        return np.array(cells)


def _read(path: Path) -> tuple[dict[str, str], dict[str, Array]]:
    header: dict[str, str] = {}
    with path.open(newline="") as file:
        lines = [line for line in file]
    rows = []
    for line in lines:
        if line.startswith("# "):
            key, _, value = line[2:].rstrip("\n").partition(": ")
            header[key] = value
        else:
            rows.append(line)
    names, *cells = list(csv.reader(rows))
    return header, {name: _column([row[i] for row in cells]) for i, name in enumerate(names)}


def run(
    experiment: str, *, quick: bool = False, full: bool = False, path: Union[str, Path, None] = None, **options: Any
) -> Experiment:
    """Runs an experiment.

    Its program is searched for in the folder that ULPLAB_BIN names, and nowhere else if it is set; then beside the
    library in use, so that both are of one version: in the wheel, in ``build/bin`` of a source tree or in an
    installation; then in the folders of PATH.

    Args:
        experiment: its name, as "loss_scaling": see :func:`experiments`.
        quick, full: the small size (seconds) or the published size.
        path: the folder for the files; None is a new folder for temporary files, which stays.
        options: options of the program: `seed=2`, `formats=["e4m3", "fp16"]`, `threads=1`; ``NAME --help`` lists them.

    Returns:
        Table, summary and claims. A claim that fails is no error: see :attr:`Experiment.failed`.

    Raises:
        ValueError: an experiment or an option is unknown, with the sentence of the program.
        DeviceError: the programs are not installed, or the machine lacks something.
        RuntimeError: the run failed. KeyboardInterrupt: the program is stopped, too; the same call with the same
            `path` goes on where it was.
    """
    if not isinstance(experiment, str) or not experiment.replace("_", "").isalnum():
        raise ValueError(f"no experiment {experiment!r}; ulplab.experiments() lists them")
    file = program(experiment)
    for name in ("out", "list", "help", "version"):
        if name in options:
            raise TypeError(f"run() takes no option {name!r}")
    folder = Path(tempfile.mkdtemp(prefix="ulplab-") if path is None else path)
    folder.mkdir(parents=True, exist_ok=True)
    table = folder / f"{experiment}.csv"
    words = _arguments({"quick": quick, "full": full, "quiet": True, **options, "out": table})
    done = subprocess.run([str(file), *words], capture_output=True, text=True)
    if done.returncode == USAGE:
        raise ValueError(done.stderr.strip())
    if done.returncode == LACKS:
        raise DeviceError(done.stderr.strip())
    claims_file = folder / f"{experiment}.claims.tsv"
    if done.returncode not in (0, 1) or not table.exists() or not claims_file.exists():
        raise RuntimeError(f"{experiment} failed: {done.stderr.strip()}")
    header, columns = _read(table)
    claims = []
    for line in claims_file.read_text().splitlines()[1:]:
        cells = [*line.split("\t"), "", "", "", ""][:5]
        if not line.startswith("#"):
            claims.append(Claim(*cells))
    if done.returncode == 1 and not any(claim.kind == "FAIL" for claim in claims):
        raise RuntimeError(f"{experiment} failed: {done.stderr.strip()}")
    _, summary = _read(folder / f"{experiment}.summary.csv")
    rows = [(str(q), str(of), float(value)) for q, of, value in zip(*(summary[key] for key in summary))]
    return Experiment(experiment, header, columns, rows, claims, folder)
