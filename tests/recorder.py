"""A proxy on this machine that writes down what is said between a client and a server, as tests/data/recorded has it.

with Recorder("http://127.0.0.1:8188", folder / "a job.json") as recorder:
    ComfyUIProvider({"base_url": recorder.url, …})

`THUMBFORGE_RECORD_INTO=stories pytest -m real tests/test_comfyui_server.py` records each of its tests. Addresses and
keys are replaced; ids, colours and times differ from one recording to the next.
"""

from __future__ import annotations

import base64
import http.client
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

HOST = "127.0.0.1:8188"
"""What stands in a recording for the server's address."""
SECRET = ("authorization", "x-api-key", "x-goog-api-key")
TIMEOUT_S = 600.0


class Recorder:
    """Forwards to the server at `target` while the `with` lasts, then writes the story to `path`."""

    def __init__(self, target: str, path: Path) -> None:
        self.path, self.host = path, urlsplit(target).netloc
        self.exchanges: list[dict[str, Any]] = []
        recorder = self

        class Handler(_Handler):
            owner = recorder

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Recorder:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        told = json.dumps({"scene": self.path.stem, "exchanges": self.exchanges}, indent=1, ensure_ascii=False)
        for address in (self.host, urlsplit(self.url).netloc):
            told = told.replace(address, HOST)
        self.path.write_text(told, encoding="utf-8")


class _Handler(BaseHTTPRequestHandler):
    owner: Recorder

    def log_message(self, *_: Any) -> None:
        """Nothing is printed."""

    def _forwarded(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        carried = {name: value for name, value in self.headers.items() if name.lower() not in ("host", "connection")}
        server = http.client.HTTPConnection(self.owner.host, timeout=TIMEOUT_S)
        try:
            server.request(self.command, self.path, body or None, carried)
            answer = server.getresponse()
            data = answer.read()
        except (OSError, http.client.HTTPException):
            self.close_connection = True  # as the client would have seen it
            return
        finally:
            server.close()
        self.owner.exchanges.append(
            {
                "request": {"method": self.command, "path": self.path, **_headers(carried), **_told(body)},
                "response": {"status": answer.status, **_told(data)},
            }
        )
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("transfer-encoding", "content-length", "connection", "date", "server"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self) -> None:
        self._forwarded()

    def do_POST(self) -> None:
        self._forwarded()


def _headers(carried: dict[str, str]) -> dict[str, Any]:
    return {"headers": {name: "<key>" if name.lower() in SECRET else value for name, value in carried.items()}}


def _told(body: bytes) -> dict[str, Any]:
    """As JSON, as text, or as base64, whatever it can be; nothing for nothing."""
    if not body:
        return {}
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(body).decode()}
    try:
        return {"json": json.loads(text)}
    except ValueError:
        return {"text": text}
