"""A small project on disk and its real command line: what the tests of the whole tool stand on."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from PIL import Image, ImageDraw

from tests.command_line import Told, forks_here, run_here, runs_here, started_here

DODO = """\
from thumbforge.tasks.dodo import DOIT_CONFIG, task_sheet, task_thumb

__all__ = ["DOIT_CONFIG", "task_sheet", "task_thumb"]
"""
SETTINGS = "[output]\nwidth = 1280\nheight = 720\n"
PROMPT = "A calm picture about {{ topic }}."
MARKED = PROMPT + "{% if part_number in (3, 7) %} {{ vars.fail }}{% endif %}"
ALL_MARKED = PROMPT + " {{ vars.fail }}"
TIMEOUT_S = 180
"""For what has to happen, on a busy machine too: only a test that fails takes so long."""
_NOT_INHERITED = ("THUMBFORGE_", "DOIT_", "COV_", "PYTHONDONTWRITEBYTECODE", "COLUMNS")
"""Without the last each process would compile all that it imports."""
_TOOLS = {"doit": "doit", "thumbforge": "thumbforge.commands.main"}


@dataclass(frozen=True)
class Project:
    """A project directory with one series, `show`. `log` gets a line for each call of the provider `fake`."""

    root: Path
    extra: Mapping[str, str] = field(default_factory=dict)

    @property
    def log(self) -> Path:
        return self.root.with_name(f"{self.root.name}.calls")

    @property
    def home(self) -> Path:
        return self.root / ".thumbforge"

    def out(self, series: str = "show") -> list[str]:
        """Names of the exported pictures, sorted, without the sheet; a hidden one is a copy in the making."""
        folder = self.root / "out" / series
        names = (path.name for path in folder.iterdir()) if folder.is_dir() else ()
        return sorted(name for name in names if not name.startswith((".", "sheet.", "manifest.")))

    # What stands in the project

    def write(self, name: str, content: str | Mapping[str, Any]) -> Path:
        """A file below the project; a mapping is written as YAML."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else yaml.safe_dump(dict(content), sort_keys=False)
        path.write_text(text, encoding="utf-8")
        return path

    def playlist(self, items: Iterable[Mapping[str, Any]], name: str = "show") -> None:
        head = {"id": f"PL{name}0000000000", "title": "A small show", "channel": "Workbench", "language": "en"}
        self.write(f"specs/playlists/{name}.yaml", {"playlist": head, "items": [dict(item) for item in items]})

    def items(self, name: str = "show") -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = yaml.safe_load((self.root / f"specs/playlists/{name}.yaml").read_text())["items"]
        return found

    def series(self, name: str = "show", **fields: Any) -> None:
        own = {"playlist": "show", "hero": "specs/heroes/hero.png", "template": "plain", "provider": "fake"}
        self.write(f"specs/series/{name}.yaml", {**own, **fields})

    def template(self, name: str = "plain", prompt: str = PROMPT, **fields: Any) -> None:
        self.write(f"specs/templates/{name}.yaml", {"extends": "series-parts", "prompt": prompt, **fields})

    def profile(self, name: str, **fields: Any) -> None:
        self.write(f"specs/providers/{name}.yaml", {"provider": "fake", **fields})

    # Its command line

    def environment(self) -> dict[str, str]:
        clean = {k: v for k, v in os.environ.items() if not k.startswith(_NOT_INHERITED)}
        own = {"THUMBFORGE_RETRY__BASE_S": "0", "THUMBFORGE_FAKE_LOG": str(self.log), "NO_COLOR": "1", "TERM": "dumb"}
        return {**clean, **own, **self.extra}

    def start(
        self, *words: str, tool: str = "thumbforge", cwd: Path | None = None, anew: bool = False
    ) -> subprocess.Popen[str]:
        """In a process of its own, to be signalled, killed or raced with; `anew`, where the start or the end of its
        interpreter is the matter, or this process has the ledger open."""
        environ = self.environment()
        if not anew and forks_here(environ):
            return started_here(tool, words, cwd or self.root, environ)
        return subprocess.Popen(
            [sys.executable, "-W", "error", "-m", _TOOLS[tool], *words],
            cwd=cwd or self.root, env=self.environment(), text=True, encoding="utf-8",
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def run(self, *words: str, tool: str = "thumbforge", cwd: Path | None = None) -> Told:
        """In this process where that shows the same; see `process`."""
        environ = self.environment()
        if not runs_here(environ):
            return self.process(*words, tool=tool, cwd=cwd)
        return run_here(tool, words, cwd or self.root, environ)

    def process(self, *words: str, tool: str = "thumbforge", cwd: Path | None = None) -> Told:
        """In a process of its own: for what only the start or the exit of an interpreter shows."""
        return finish(self.start(*words, tool=tool, cwd=cwd, anew=True))

    def doit(self, *words: str, cwd: Path | None = None) -> Told:
        return self.run(*words, tool="doit", cwd=cwd)

    def batch(self, *words: str) -> Told:
        return self.run("batch", "series=show", *words)

    def shown(self, *words: str) -> Any:
        """The JSON document of a command that succeeds."""
        told = self.run(*words, "--json")
        assert told.code == 0, told.err
        return told.document

    def plan(self, *words: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.shown("batch", "series=show", "--dry-run", *words)["plan"]
        return found

    # What it left behind

    def events(self) -> list[dict[str, Any]]:
        if not self.log.is_file():
            return []
        return [json.loads(line) for line in self.log.read_text(encoding="utf-8").splitlines()]

    @property
    def calls(self) -> int:
        """Calls of the provider `fake` that began, over all commands."""
        return sum(event["event"] == "start" for event in self.events())

    def files(self) -> dict[str, tuple[int, bytes]]:
        """Every file and folder with its time of change and its bytes; what Python compiled is left out."""
        found = {}
        for path in self.root.rglob("*"):
            if "__pycache__" not in path.parts:
                data = path.read_bytes() if path.is_file() else b""
                found[path.relative_to(self.root).as_posix()] = (path.stat().st_mtime_ns if data else 0, data)
        return found

    def query(self, sql: str, *params: Any) -> list[sqlite3.Row]:
        with closing(sqlite3.connect(self.home / "ledger.sqlite3")) as connection:
            connection.row_factory = sqlite3.Row
            return connection.execute(sql, params).fetchall()

    def execute(self, sql: str, *params: Any) -> None:
        with closing(sqlite3.connect(self.home / "ledger.sqlite3")) as connection, connection:
            connection.execute(sql, params)

    def count(self, table: str) -> int:
        return int(self.query(f"SELECT count(*) FROM {table}")[0][0])

    def statuses(self) -> dict[str, str]:
        """Task name after `thumb:<series>:` to its letter in `doit list --all -s`."""
        told = self.doit("list", "--all", "-s")
        assert told.code == 0, told.err
        words = [line.split() for line in told.out.splitlines()]
        return {name.split(":", 2)[2]: status for status, name, *_ in words if name.count(":") > 1}

    def copy(self, root: Path) -> Project:
        """The same project elsewhere, with a call log of its own."""
        shutil.copytree(self.root, root, ignore=shutil.ignore_patterns("__pycache__"))
        return Project(root, self.extra)

    def with_environment(self, **extra: str) -> Project:
        return Project(self.root, {**self.extra, **extra})


def finish(process: subprocess.Popen[str], timeout_s: float = TIMEOUT_S) -> Told:
    try:
        out, err = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
    return Told(process.returncode, out, err)


def wait_until(condition: Callable[[], bool], timeout_s: float = TIMEOUT_S) -> None:
    """Poll until something has happened; a test that waits in vain fails here."""
    end = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


def kill(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate()


def put_to_sleep(project: Project, process: subprocess.Popen[str]) -> None:
    """SIGSTOP between two writes: one that sleeps in a transaction holds everybody up until it wakes."""

    def asleep() -> bool:
        stop(process)
        try:
            with closing(sqlite3.connect(project.home / "ledger.sqlite3", timeout=0)) as connection:
                connection.execute("BEGIN IMMEDIATE")
            return True
        except sqlite3.OperationalError:
            wake(process)
            return False

    wait_until(asleep)


def stop(process: subprocess.Popen[Any]) -> None:
    """SIGSTOP, and wait until it is felt: from here on nothing happens in the process."""
    process.send_signal(signal.SIGSTOP)
    wait_until(lambda: Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T")


def wake(process: subprocess.Popen[Any]) -> None:
    process.send_signal(signal.SIGCONT)


def item(n: int, **fields: Any) -> dict[str, Any]:
    """Item `n` of a show; its video id holds `n`."""
    return {"video": video(n), "title": f"Lesson {n}", "part": n, **fields}


def video(n: int) -> str:
    return f"video-{n:05d}"


def make_hero(path: Path, colour: str = "#30507a") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(_hero(colour, Image.registered_extensions()[path.suffix]))


@cache
def _hero(colour: str, form: str) -> bytes:
    """Encoded once: most projects of a test process have the same one."""
    picture, data = Image.new("RGB", (1280, 720), colour), io.BytesIO()
    ImageDraw.Draw(picture).ellipse((700, 120, 1180, 600), fill="#e0a040")
    picture.save(data, form)
    return data.getvalue()


def make_project(root: Path, count: int = 12, **extra: str) -> Project:
    """A project with `count` items, provider `fake`, and pictures of 1280x720, which are quick to draw."""
    project = Project(root, extra)
    project.write("dodo.py", DODO)
    project.write("thumbforge.toml", SETTINGS)
    project.template()
    project.playlist(item(n) for n in range(1, count + 1))
    project.series()
    make_hero(root / "specs/heroes/hero.png")
    return project
