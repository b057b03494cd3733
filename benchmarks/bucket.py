"""A bucket in a process of its own, `python -m benchmarks.bucket FOLDER MS`: prints its port and serves what lies in
the folder, each answer so many milliseconds away."""

from __future__ import annotations

import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar
from urllib.parse import parse_qs, urlsplit

BUCKET = "bench"


class Bucket(BaseHTTPRequestHandler):
    """What S3 says to GET and to a list, with the connection kept."""

    protocol_version = "HTTP/1.1"
    objects: ClassVar[dict[str, bytes]] = {}
    away_s: ClassVar[float] = 0.0

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""

    def do_GET(self) -> None:
        time.sleep(self.away_s)
        address = urlsplit(self.path)
        name = address.path.removeprefix(f"/{BUCKET}").lstrip("/")
        if name:
            self._say(200 if name in self.objects else 404, self.objects.get(name, b""))
            return
        prefix = parse_qs(address.query).get("prefix", [""])[0]
        rows = "".join(
            f"<Contents><Key>{key}</Key><LastModified>2026-12-01T00:00:00.000Z</LastModified><ETag>1</ETag>"
            f"<Size>{len(data)}</Size></Contents>"
            for key, data in self.objects.items()
            if key.startswith(prefix)
        )
        self._say(200, f"<ListBucketResult><IsTruncated>false</IsTruncated>{rows}</ListBucketResult>".encode())

    def _say(self, status: int, body: bytes) -> None:
        head = f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\nETag: 1\r\n"
        dated = "Last-Modified: Tue, 01 Dec 2026 00:00:00 GMT\r\n\r\n"
        self.wfile.write((head + dated).encode() + body)


def main() -> None:
    root = Path(sys.argv[1])
    files = (path for path in root.rglob("*") if path.is_file())
    Bucket.objects = {path.relative_to(root).as_posix(): path.read_bytes() for path in files}
    Bucket.away_s = int(sys.argv[2]) / 1000
    server = ThreadingHTTPServer(("127.0.0.1", 0), Bucket)
    print(server.server_port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
