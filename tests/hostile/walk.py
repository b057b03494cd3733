"""The walk: commands over tricks, in a process of its own, and what they let happen, as JSON on stdout.

python -m tests.hostile.walk FOLDER few|most|all [TRICK …]
"""

from __future__ import annotations

import http.server
import json
import os
import resource
import signal
import socket
import sqlite3
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, ClassVar

from tests.hostile import tricks
from tests.project import Project, make_hero, make_project, video
from tests.test_docs_reference import commands
from thumbforge.text import printable

SECRET = "sk-hostile-0123456789abcdefghijklmnop"
KEYS = ("OPENAI_API_KEY", "THUMBFORGE_OPENAI_API_KEY", "THUMBFORGE_GEMINI_API_KEY", "THUMBFORGE_COMFYUI_API_KEY")
MOST_CPU_S = 5.0
DRAWS_MUCH = ("hero", "look")
"""Forty pictures, of a good project too: `most` leaves it out."""
WATCHDOG_S = 120
ADDRESS_SPACE = 6 * 2**30
FEW = (("check",), ("batch", "series=show"))
HEAVY = {"loops", "many problems", "a swollen comment", "a hero as large as is allowed", "a long chain"}
"""Of which `few` is the first alone."""
NATIVE = (
    ("list", "--all", "-s"), ("info", f"thumb:show:{video(1)}"), ("run",), ("clean", "-n", "thumb"),
    ("ignore", "thumb"), ("forget", "thumb"), ("help",),
)  # fmt: skip
WORDS = {
    "DIR": "new", "FILE": tricks.HERO, "KEY": "fake", "RUN": "0", "RUN|ITERATION": "0", "ITEM": "1", "N": "1",
    "VIDEO": video(1), "SERIES": "show", "PLAYLIST": "show", "LINK": "theirs.json", "LINK|FILE": "theirs.json",
    "URL|ID|FILE": "theirs.json", "NAME|FILE": "plain", "N|ITERATION": "1", "NAME": "show",
}  # fmt: skip
"""What a command is given for each operand of the verb table."""
OWN = {("template", "NAME"): "plain", ("template new", "NAME"): "fresh", ("series new", "NAME"): "fresh"}
OPTIONS = {"keep": "1", "to": "picks", "hero": tricks.HERO}


class Stuck(BaseException):
    """The watchdog: a command waits for what never comes."""


class Stranger(http.server.BaseHTTPRequestHandler):
    """Answers everything, and keeps what it was sent."""

    heard: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        self.heard.append(f"{self.path} {self.headers} {self.rfile.read(length)[:100_000]!r}")
        self.send_response(200)
        self.send_header("Content-Length", "11")
        self.end_headers()
        self.wfile.write(b'{"data":[]}')

    do_POST = do_GET  # noqa: N815 - the name is the library's

    def log_message(self, *told: object) -> None:
        pass


def every_command() -> Iterator[tuple[str, ...]]:
    """Each verb of the table with operands that fit, and doit's own."""
    for name, command in commands().items():
        for verb in command.verbs:
            given = tuple(_word(name, verb.name, word.name) for word in verb.words)
            needed = tuple(f"--{o.name}={OPTIONS[o.name]}" for o in verb.options if o.is_required)
            yield tuple(filter(None, (name, verb.name, *given, *needed)))
    yield ("repair", "--apply", "--damaged")
    yield ("prune", "--keep", "0", "--apply")
    yield ("batch", "series=show", "--json")
    yield ("batch", "series=show", "retake=yes")
    yield ("playlist", "renumber", "show", "--start", "2")
    for listed in ("deep.json", "packed.json", "theirs.csv"):
        yield ("fetch", listed)
    yield from NATIVE


def _word(command: str, verb: str, word: str) -> str:
    if command == "batch":
        return "series=show"
    return OWN.get((f"{command} {verb}", word)) or OWN.get((command, word)) or WORDS[word]


class Walk:
    """One folder with the user's own files in `outside`, and a project beside it for each trick."""

    def __init__(self, root: Path) -> None:
        self.root, self.outside = root, root / "outside"
        self.broken: list[str] = []
        self.memory: dict[str, int] = {}
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Stranger)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self._make_outside()
        self.before = self._seen_outside()

    def _make_outside(self) -> None:
        (self.outside / "kept/assets").mkdir(parents=True)
        for name in ("diary.txt", "kept/sheet.html", "kept/sheet-2.html", "kept/assets/logo.svg"):
            (self.outside / name).write_text(f"mine: {name}\n")
        (self.outside / "list.yaml").write_text("playlist: {id: PLmine0000000000, title: Mine}\nitems: []\n")
        make_hero(self.outside / "picture.png")
        with closing(sqlite3.connect(self.outside / "contacts.sqlite")) as connection, connection:
            connection.execute("CREATE TABLE contact (name TEXT)")

    def _seen_outside(self) -> dict[str, tuple[int, bytes]]:
        files = (path for path in self.outside.rglob("*") if path.is_file())
        return {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in files}

    def trick(self, name: str, walked: Sequence[tuple[str, ...]]) -> None:
        project = make_project(self.root / f"project-{abs(hash(name))}", 2, **dict.fromkeys(KEYS, SECRET))
        project.write("specs/providers/fake.yaml", "provider: fake\n")
        project = project.with_environment(HOME=str(self.outside), THUMBFORGE_FAKE_LOG=str(self.root / "calls.log"))
        tricks.play(name, project, self.outside, self.server.server_port)
        for words in walked:
            self._run(name, project, words)
            if (now := self._seen_outside()) != self.before:
                changed = {path for path in now.keys() | self.before.keys() if now.get(path) != self.before.get(path)}
                self._tell(name, words, f"changed outside: {', '.join(sorted(changed))}")
                self.before = now
        self.memory[name] = _memory_mb()

    def _run(self, name: str, project: Project, words: tuple[str, ...]) -> None:
        cpu = time.process_time()
        signal.alarm(WATCHDOG_S)
        try:
            told = project.run(*words)
        except Stuck:
            self._tell(name, words, "stuck")
            return
        finally:
            signal.alarm(0)
        if (spent := time.process_time() - cpu) > MOST_CPU_S * (6 if words[:2] == DRAWS_MUCH else 1):
            self._tell(name, words, f"took {spent:.1f} s")
        text = told.out + told.err
        if escaped := {char for char in text if char != "\n" and printable(char) != char}:
            self._tell(name, words, f"let out {escaped!r}")
        if SECRET in text:
            self._tell(name, words, "told the secret")
        for sign in ("Traceback", "this is a bug"):
            if sign in text:
                self._tell(name, words, f"{sign}: {text[-700:]}")
        if len(text) > 1_000_000:
            self._tell(name, words, f"told {len(text):,} characters")

    def _tell(self, name: str, words: tuple[str, ...], what: str) -> None:
        self.broken.append(f"{name}: {' '.join(words)}: {what}")

    def report(self) -> dict[str, Any]:
        if any(SECRET in heard for heard in Stranger.heard):
            self.broken.append("the stranger got the secret")
        return {"broken": self.broken, "heard": len(Stranger.heard), "memory_mb": self.memory}


def _memory_mb() -> int:
    """The most that this process, or one that it started, has had so far."""
    unit = 2**20 if sys.platform == "darwin" else 1024  # bytes there, kilobytes elsewhere
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // unit
    status = Path("/proc/self/status")
    if not status.is_file():
        return max(children, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // unit)
    # Linux counts in ru_maxrss also what the process was that started this one: getrusage(2), a new program keeps it.
    [peak] = [line for line in status.read_text().splitlines() if line.startswith("VmHWM:")]
    return max(children, int(peak.split()[1]) // 1024)


def _stuck(*_: object) -> None:
    raise Stuck


def _no_way_out(self: socket.socket, address: Any) -> None:
    if self.family != socket.AF_UNIX and not str(address[0]).startswith(("127.", "::1", "localhost")):
        raise OSError(f"this test has no network: {address[0]}")
    _connect(self, address)


_connect = socket.socket.connect


def main(folder: str, how: str, *names: str) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    socket.socket.connect = _no_way_out  # type: ignore[method-assign, assignment]
    signal.signal(signal.SIGALRM, _stuck)
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    walk = Walk(Path(folder))
    for name in names or tricks.names():
        few, every = FEW[:1] if name in HEAVY else FEW, tuple(every_command())
        most = tuple(words for words in every if words[:2] != DRAWS_MUCH)
        walk.trick(name, {"few": few, "most": most, "all": every}[how])
    sys.stdout.write(json.dumps(walk.report()) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
