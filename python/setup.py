"""The wheel: the package, the library libulp.so and the programs, for all versions of Python 3 on one platform.

The package's folder is laid out as an installation: bin, lib, share. Its files are in the folder ULPLAB_FILES, else
`make wheel-files` makes them in the source tree. They are for the platform ULPLAB_PLATFORM, else for that of Python.
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

TREE = Path(__file__).resolve().parent.parent


def files() -> Path:
    chosen = os.environ.get("ULPLAB_FILES")
    if chosen:
        return Path(chosen)
    subprocess.run(["make", "-C", str(TREE), "wheel-files"], check=True)
    return TREE / "build" / "wheel" / "files"


class BuildWithFiles(build_py):
    def run(self) -> None:
        super().run()
        shutil.copytree(files(), Path(self.build_lib) / "ulplab", dirs_exist_ok=True)


class WheelForAnyPython(bdist_wheel):
    def get_tag(self) -> tuple:
        return "py3", "none", os.environ.get("ULPLAB_PLATFORM") or super().get_tag()[2]


class DistributionWithLibrary(Distribution):
    def has_ext_modules(self) -> bool:
        return True


setup(cmdclass={"build_py": BuildWithFiles, "bdist_wheel": WheelForAnyPython}, distclass=DistributionWithLibrary)
