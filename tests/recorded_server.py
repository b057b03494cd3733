"""A local HTTP server that plays recorded answers, and every way in which a server can misbehave."""

from __future__ import annotations

import hashlib
import io
import json
import socket
import struct
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from PIL import Image

RESPONSES = Path(__file__).parent / "data" / "responses"


@dataclass(frozen=True)
class Seen:
    """A request as it came; header names are lower case."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Connection:
    """What an answer may use: the socket, and an event that says that the test is over."""

    sock: socket.socket
    over: threading.Event

    def send(self, data: bytes) -> None:
        self.sock.sendall(data)

    def hold(self) -> None:
        """Stay open and silent until the client goes or the test ends."""
        self.sock.settimeout(0.05)
        while not self.over.is_set():
            try:
                if not self.sock.recv(65536):
                    return
            except TimeoutError:
                continue
            except OSError:
                return


Play = Callable[[Connection], None]
Respond = Callable[[Seen], Play]


def raw(data: bytes) -> Play:
    """These bytes, then the end of the connection."""
    return lambda connection: connection.send(data)


def recorded(name: str) -> Play:
    return raw((RESPONSES / name).read_bytes())


def message(status: int, body: bytes, **headers: str) -> bytes:
    own = {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}
    lines = [f"HTTP/1.1 {status} X", *(f"{name.replace('_', '-')}: {value}" for name, value in own.items())]
    return "\r\n".join([*lines, "", ""]).encode() + body


def answer(document: Any, status: int = 200, **headers: str) -> Play:
    return raw(message(status, json.dumps(document).encode(), **headers))


def slow(data: bytes, parts: int = 4, pause_s: float = 0.05) -> Play:
    """The bytes in parts with pauses between them."""

    def play(connection: Connection) -> None:
        size = max(len(data) // parts, 1)
        for start in range(0, len(data), size):
            connection.send(data[start : start + size])
            connection.over.wait(pause_s)

    return play


def cut(data: bytes, share: float = 0.5) -> Play:
    """The beginning of the bytes, then an orderly end."""
    return raw(data[: int(len(data) * share)])


def reset(connection: Connection) -> None:
    """The request is read, then the connection is torn down."""
    connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def closed(connection: Connection) -> None:
    """The request is read, then the connection ends without a word."""


def stalled(before: bytes = b"") -> Play:
    """Some bytes or none, then silence."""

    def play(connection: Connection) -> None:
        connection.send(before)
        connection.hold()

    return play


def redirect(location: str) -> Play:
    return raw(message(302, b"", Location=location))


def huge(total: int, head: bytes = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n") -> Play:
    """An answer without a length that goes on for `total` bytes."""

    def play(connection: Connection) -> None:
        connection.send(head)
        block = b"x" * 1_000_000
        for _ in range(total // len(block)):
            if connection.over.is_set():
                return
            connection.send(block)

    return play


def in_turn(*plays: Play) -> Respond:
    """Each request gets the next; the last goes on for ever."""
    left = list(plays)
    lock = threading.Lock()

    def respond(_: Seen) -> Play:
        with lock:
            return left.pop(0) if len(left) > 1 else left[0]

    return respond


def routed(routes: Mapping[str, Play | Respond], default: Play | None = None) -> Respond:
    """By the beginning of the path, the longest first; a route is an answer, or asks the request for one."""

    def respond(seen: Seen) -> Play:
        for start in sorted(routes, key=len, reverse=True):
            if seen.path.startswith(start):
                found = routes[start]
                return found(seen) if getattr(found, "asks", False) else found  # type: ignore[return-value,arg-type]
        return default or answer({"error": "no such path"}, 404)

    return respond


def asking(respond: Respond) -> Respond:
    """Marks a route that looks at the request."""
    respond.asks = True  # type: ignore[attr-defined]
    return respond


def painted(*words: Any, size: tuple[int, int] = (1344, 768), kind: str = "PNG") -> bytes:
    """A picture that these words decide."""
    seed = hashlib.shake_256(repr(words).encode()).digest(60)
    ground = bytes(64 + byte * 160 // 255 for byte in seed)
    encoded = io.BytesIO()
    Image.frombytes("RGB", (5, 4), ground).resize(size, Image.Resampling.NEAREST).save(encoded, kind)
    return encoded.getvalue()


@dataclass
class RecordedServer:
    """Serves on 127.0.0.1 while the `with` lasts. `requests` is what came, `open` how many connections are held.

    The environment lists it among the origins that keys belong to, unless `listed` is False.
    """

    respond: Respond
    requests: list[Seen] = field(default_factory=list)
    open: int = 0
    listed: bool = True

    def __post_init__(self) -> None:
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self._listener.settimeout(10)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._environment = pytest.MonkeyPatch()

    @property
    def origins(self) -> dict[str, str]:
        """What the environment has to say so that keys come here."""
        return {f"THUMBFORGE_{name}_ORIGINS": self.url for name in ("OPENAI", "GEMINI", "COMFYUI", "SDWEBUI")}

    def __enter__(self) -> RecordedServer:
        for name, value in self.origins.items() if self.listed else ():
            self._environment.setenv(name, value)
        self._start(self._accept)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._environment.undo()
        self._over.set()
        socket.create_connection(self._listener.getsockname(), 10).close()  # wakes the listener
        for thread in self._threads:
            thread.join(10)
        self._listener.close()

    def paths(self) -> list[str]:
        return [seen.path for seen in self.requests]

    def _start(self, target: Callable[..., None], *arguments: Any) -> None:
        thread = threading.Thread(target=target, args=arguments, name="recorded-server", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self._over.is_set():
            try:
                sock, _ = self._listener.accept()
            except TimeoutError:
                continue
            if self._over.is_set():
                sock.close()
                return
            self._start(self._serve, sock)

    def _serve(self, sock: socket.socket) -> None:
        self._count(1)
        try:
            with sock:
                sock.settimeout(10)
                seen = _request(sock)
                if seen is None:
                    return
                with self._lock:
                    self.requests.append(seen)
                self.respond(seen)(Connection(sock, self._over))
        except OSError:
            return  # the client has gone, which is its right
        finally:
            self._count(-1)

    def _count(self, change: int) -> None:
        with self._lock:
            self.open += change


def _request(sock: socket.socket) -> Seen | None:
    data = b""
    while b"\r\n\r\n" not in data:
        block = sock.recv(65536)
        if not block:
            return None
        data += block
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    method, target, _ = first.split(" ")
    while len(body) < int(headers.get("content-length", 0)):
        body += sock.recv(65536)
    parts = urlsplit(target)
    return Seen(method, parts.path, dict(parse_qsl(parts.query)), headers, body)


def names(start: str, suffixes: Iterable[str] = (".http",)) -> list[str]:
    """The recorded files of one service."""
    return sorted(path.name for path in RESPONSES.iterdir() if path.name.startswith(start) and path.suffix in suffixes)
