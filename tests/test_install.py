"""Lines that install: none of them may bring another project's package, and each comes from one place."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from thumbforge import install

ROOT = Path(__file__).parent.parent
FOLDERS = ("thumbforge", "docs", "specs", "benchmarks", "tests", ".ci", ".github")
TEXT = {"", ".md", ".py", ".yml", ".yaml", ".toml", ".txt", ".lock"}
INSTALLS = re.compile(
    r"\b(?:pip3? (?:install|download|wheel)|uvx|uv (?:add|tool|pip)|pipx (?:install|run))\b([^\n`|]*)"
)
BARE = re.compile(r"(?<![\w./@-])(?:doit-)?thumbforge(?:\[[\w,]*\])?(?![\w./-])(?!\s*@\s)")
"""The name on the index, or our own before it is there; a path, a wheel and `name @ address` are none."""


def lines() -> list[tuple[str, str]]:
    files = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*")) if path.suffix in TEXT]
    files += [ROOT / name for name in ("README.md", "CHANGELOG.md", "requirements.lock")]
    found = []
    for path in files:
        if path.is_file() and path != Path(__file__):
            text = path.read_text("utf-8", errors="replace")
            found += [(path.relative_to(ROOT).as_posix(), match[1]) for match in INSTALLS.finditer(text)]
    return found


def test_no_line_installs_by_a_bare_name() -> None:
    """Neither the other project's name, nor ours as long as anybody could register it."""
    wrong = [(file, line) for file, line in lines() if BARE.search(line.partition("#")[0].replace("'", " "))]
    assert wrong == []
    assert len(lines()) > 10


@pytest.mark.parametrize(
    "line",
    [" thumbforge", " --quiet thumbforge", " 'thumbforge[dask]'", " doit-thumbforge", " -U doit-thumbforge[ytdlp]"],
)
def test_a_bare_name_is_seen(line: str) -> None:
    """The test above can fail."""
    assert BARE.search(line.replace("'", " "))


@pytest.mark.parametrize(
    "line", [" -e '.[ytdlp]'", " ./doit_thumbforge-0.1.0-py3-none-any.whl", " 'doit-thumbforge @ git+https://x/y'"]
)
def test_a_place_is_no_bare_name(line: str) -> None:
    """A folder, a wheel and a repository say whose package it is."""
    assert not BARE.search(line.replace("'", " "))


class Installed:
    """A distribution as pip leaves it behind."""

    version = "0.1.0"

    def __init__(self, origin: dict[str, Any] | None) -> None:
        self.origin = origin

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return None if self.origin is None else json.dumps(self.origin)


@pytest.mark.parametrize(
    ("origin", "line", "is_here_only"),
    [
        (
            {"url": "https://host/us.git", "vcs_info": {"vcs": "git", "commit_id": "abc123"}},
            "doit-thumbforge[dask] @ git+https://host/us.git@abc123",
            False,
        ),
        (
            {"url": "https://host/doit_thumbforge-0.1.0.whl", "archive_info": {}},
            "doit-thumbforge[dask] @ https://host/doit_thumbforge-0.1.0.whl",
            False,
        ),
        (
            {"url": "file:///opt/doit_thumbforge-0.1.0.whl", "archive_info": {}},
            "doit-thumbforge[dask] @ file:///opt/doit_thumbforge-0.1.0.whl",
            True,
        ),
        ({"url": "file:///opt/a%20clone", "dir_info": {"editable": True}}, "-e /opt/a clone[dask]", True),
        (None, "doit-thumbforge[dask]==0.1.0", False),
    ],
)
def test_the_line_names_where_this_installation_came_from(
    origin: dict[str, Any] | None, line: str, is_here_only: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As PEP 610 has it written down: a repository, a wheel's address, a file, a folder, or nothing for the index."""
    monkeypatch.setattr(install.metadata, "distribution", lambda name: Installed(origin))
    assert install.requirement("dask") == line
    assert install.is_here_only(line) is is_here_only


def test_this_installation_is_known() -> None:
    """The line that a hint gives is one that pip can read, and it asks for the extra."""
    assert "[ytdlp]" in install.command("ytdlp")
    assert install.command("ytdlp").startswith("pip install ")


def test_the_other_package_is_told(tmp_path: Path) -> None:
    """Where both are installed, ours says so, once, and goes on."""
    other = tmp_path / "thumbforge-2.0.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: thumbforge\nVersion: 2.0\n")
    script = "from thumbforge.commands.main import main; import sys; sys.exit(main(['config', 'path']))"
    told = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, env={"PYTHONPATH": f"{tmp_path}:{ROOT}", "PATH": ""},
        capture_output=True, text=True,
    )  # fmt: skip
    assert told.returncode == 0, told.stderr
    assert told.stderr.count("another project's package thumbforge 2.0 is installed here too") == 1


def test_the_lock_has_every_dependency_with_its_hash() -> None:
    """What pyproject.toml asks for stands in requirements.lock; nothing there lacks a hash or names an address."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = [
        *project["dependencies"],
        *(line for x in ("test", "lint") for line in project["optional-dependencies"][x]),
    ]
    lock = (ROOT / "requirements.lock").read_text()
    pinned = dict(re.findall(r"^([a-z0-9-]+)==(\S+) \\\n    --hash=sha256:[0-9a-f]{64}", lock, re.MULTILINE))
    names = {re.split(r"[^A-Za-z0-9._-]", line)[0].lower().replace("_", "-") for line in asked}
    assert names <= pinned.keys()
    assert len(pinned) == len(re.findall(r"^[a-z0-9-]+==", lock, re.MULTILINE))
    assert "://" not in lock
