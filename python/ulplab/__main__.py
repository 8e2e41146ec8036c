"""The tool of the command line: ``python -m ulplab round --format e4m3 numbers.txt``, or ``ulp round ...``."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

from ._experiments import LACKS, program
from ._library import DeviceError


def main() -> NoReturn:
    """Becomes the program ulp, with the arguments of this process."""
    try:
        tool = str(program("ulp"))
    except DeviceError as error:
        print(f"ulp: {error}", file=sys.stderr)
        sys.exit(LACKS)
    os.execv(tool, ["ulp", *sys.argv[1:]])


if __name__ == "__main__":
    main()
