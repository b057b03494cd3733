"""A project that means harm goes through the commands: `tests/hostile/` has its tricks, and the walk over them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.hostile import tricks
from tests.hostile.walk import every_command
from tests.test_docs_reference import commands

ROOT = Path(__file__).parents[1]
MOST_MEMORY_MB = 500
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/dev/zero, names of any bytes, limits of memory")


def walked(folder: Path, how: str, *names: str) -> dict[str, Any]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("THUMBFORGE_", "DOIT_", "COV_"))}
    found = subprocess.run(
        [sys.executable, "-m", "tests.hostile.walk", str(folder), how, *names],
        cwd=ROOT, env=clean, capture_output=True, text=True, check=False, timeout=3000,
    )  # fmt: skip
    assert found.returncode == 0, found.stderr[-2000:]
    report: dict[str, Any] = json.loads(found.stdout)
    return report


def test_no_trick_gets_anywhere(tmp_path: Path) -> None:
    """No secret is sent, nothing outside is changed, no escape byte comes out, nothing is stuck, slow or a traceback,
    and the memory stays small: each trick with the commands that read all, in one process."""
    report = walked(tmp_path, "few")
    assert report["broken"] == []
    assert max(report["memory_mb"].values()) < MOST_MEMORY_MB
    assert report["memory_mb"].keys() == set(tricks.names())


def test_a_stranger_hears_and_gets_no_key(tmp_path: Path) -> None:
    """Nearly every command over a project whose profiles point elsewhere: asked, and without a secret."""
    report = walked(tmp_path, "most", "stranger")
    assert report["broken"] == []
    assert report["heard"] > 0


@pytest.mark.soak
@pytest.mark.parametrize("name", tricks.names())
def test_no_trick_gets_anywhere_with_any_command(tmp_path: Path, name: str) -> None:
    """The same with all of them. They share one process here, and with it what each keeps of a large picture."""
    report = walked(tmp_path, "all", name)
    assert report["broken"] == []
    assert report["memory_mb"][name] < 2 * MOST_MEMORY_MB


def test_the_walk_has_every_command() -> None:
    """Each verb of the table, and doit's own."""
    words = list(every_command())
    for name, command in commands().items():
        for verb in command.verbs:
            assert any(given[: 1 + bool(verb.name)] == tuple(filter(None, (name, verb.name))) for given in words)
