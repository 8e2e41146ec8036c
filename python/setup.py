"""The wheel: the package and the library libulp.so, for all versions of Python 3 on one platform.

The library is the file ULPLAB_LIBRARY, else build/lib/libulp.so of the source tree, which is built if it is missing.
"""

import os
import shutil
import subprocess
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:
    from wheel.bdist_wheel import bdist_wheel

HERE = Path(__file__).resolve().parent


def library() -> Path:
    chosen = os.environ.get("ULPLAB_LIBRARY")
    if chosen:
        return Path(chosen)
    built = HERE.parent / "build" / "lib" / "libulp.so"
    if not built.exists():
        subprocess.run(["make", "-C", str(HERE.parent), "NVCC=", "libraries"], check=True)
    return built


class BuildWithLibrary(build_py):
    def run(self) -> None:
        super().run()
        to = Path(self.build_lib) / "ulplab" / "lib" / "libulp.so"
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(library(), to)
        if shutil.which("strip"):
            subprocess.run(["strip", "--strip-unneeded", str(to)], check=True)


class WheelForAnyPython(bdist_wheel):
    def get_tag(self) -> tuple:
        return "py3", "none", super().get_tag()[2]


class DistributionWithLibrary(Distribution):
    def has_ext_modules(self) -> bool:
        return True


setup(cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": WheelForAnyPython}, distclass=DistributionWithLibrary)
