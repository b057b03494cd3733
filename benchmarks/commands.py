"""Commands as a user would run them, each in a process of its own, with what they took."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.clock import timed

REPOSITORY = Path(__file__).parents[1]
DOIT = (sys.executable, "-m", "doit")
THUMBFORGE = (sys.executable, "-m", "thumbforge.commands.main")

# The kernel counts what a process had before its exec to its peak, so the one that starts the command has to be small.
_LAUNCHER = """
import json, os, subprocess, sys, time
began = time.perf_counter()
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(child.pid, 0)
print(json.dumps([os.waitstatus_to_exitcode(status), time.perf_counter() - began, usage.ru_maxrss]))
"""


@dataclass(frozen=True, slots=True)
class Usage:
    """Wall seconds of a command and the most bytes of memory that it held."""

    seconds: float
    peak: int


def environment() -> dict[str, str]:
    """Ours without the settings of whoever runs this; DVC is told not to call home."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("THUMBFORGE_")}
    return {**kept, "DVC_NO_ANALYTICS": "1"}


def run(root: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(argv, cwd=root, env=environment(), capture_output=True, text=True, check=False)


def told(root: Path, *argv: str) -> str:
    """What a command said. SystemExit where it fails."""
    done = run(root, *argv)
    if done.returncode:
        raise SystemExit(f"{' '.join(argv)} ended with {done.returncode}:\n{done.stdout[-800:]}{done.stderr[-800:]}")
    return done.stdout + done.stderr


def idle(root: Path, *argv: str, says: Callable[[str], bool]) -> Callable[[], float]:
    """The seconds of a command that has nothing to do, and `says` so."""

    def once() -> None:
        said = told(root, *argv)
        if not says(said):
            raise SystemExit(f"not a no-op: {' '.join(argv)}:\n{said[-800:]}")

    return timed(once)


def usage(root: Path, *argv: str) -> Usage:
    """What a command takes. SystemExit where it fails."""
    said = run(root, sys.executable, "-c", _LAUNCHER, *argv)
    code, seconds, peak = json.loads(said.stdout) if said.returncode == 0 else (said.returncode, 0.0, 0)
    if code:
        raise SystemExit(f"{' '.join(argv)} ended with {code}:\n{said.stderr[-800:]}")
    return Usage(seconds, peak if sys.platform == "darwin" else peak * 1024)


def child(module: str, *words: str) -> str:
    """What a module of this package says when it is run with these words, in a fresh interpreter."""
    return told(REPOSITORY, sys.executable, "-m", f"benchmarks.{module}", *words)


def tool(name: str) -> str | None:
    """Where a program is: beside the interpreter that runs this, else on PATH; None where it is not installed."""
    beside = Path(sys.executable).parent / name
    return str(beside) if beside.is_file() else shutil.which(name)
