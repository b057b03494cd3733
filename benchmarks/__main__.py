"""`python -m benchmarks` runs all, `python -m benchmarks provider_bound` one."""

from __future__ import annotations

import importlib
import os
import platform
import sys

NAMES = ("provider_bound", "noop")


def main(names: list[str]) -> None:
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    for name in names or NAMES:
        print(f"{name}: {importlib.import_module(f'benchmarks.{name}').measure()}", flush=True)


main(sys.argv[1:])
