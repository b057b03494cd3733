"""A bucket on the loopback that says what S3 says, as far as a shared store asks; and how it can fail."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from email.utils import formatdate
from xml.sax.saxutils import escape, unescape

from tests.recorded_server import Play, Seen, message, raw

KEYS = {
    "AWS_ACCESS_KEY_ID": "AKIATESTTESTTEST",
    "AWS_SECRET_ACCESS_KEY": "SECRETSECRET0123456789",
    "AWS_REGION": "us-east-1",
}
BUCKET = "pics"


def said(status: int, code: str) -> Play:
    """An error as S3 words it; some of its errors repeat what was sent with the key."""
    body = (
        f'<?xml version="1.0"?><Error><Code>{code}</Code><Message>no</Message>'
        f"<AWSAccessKeyId>{KEYS['AWS_ACCESS_KEY_ID']}</AWSAccessKeyId></Error>"
    )
    return reply(status, body.encode(), Content_Type="application/xml")


def reply(status: int, body: bytes = b"", **headers: str) -> Play:
    return raw(message(status, body, Connection="close", **headers))


class S3:
    """`objects` is what lies in the bucket. `wrong` may answer a request in its place: None lets it pass."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.wrong: Callable[[Seen], Play | None] = lambda seen: None
        self.asked: list[str] = []
        self._lock = threading.Lock()

    def __call__(self, seen: Seen) -> Play:
        with self._lock:
            self.asked.append(f"{seen.method} {seen.path}")
            if play := self.wrong(seen):
                return play
            name = seen.path.removeprefix(f"/{BUCKET}").lstrip("/")
            if seen.method == "POST":
                return self._deleted(re.findall(r"<Key>(.*?)</Key>", seen.body.decode()))
            if not name:
                return self._listed(seen.query.get("prefix", ""))
            if seen.method == "PUT":
                return self._put(name, seen)
            if name not in self.objects:
                return said(404, "NoSuchKey")
            dated = {"Last_Modified": formatdate(time.time(), usegmt=True), "ETag": '"1"'}
            return reply(200, self.objects[name], Content_Type="binary/octet-stream", **dated)

    def _put(self, name: str, seen: Seen) -> Play:
        if seen.headers.get("if-none-match") == "*" and name in self.objects:
            return said(412, "PreconditionFailed")
        self.objects[name] = seen.body
        return reply(200, ETag='"1"')

    def _deleted(self, names: list[str]) -> Play:
        for name in names:
            self.objects.pop(unescape(name), None)
        rows = "".join(f"<Deleted><Key>{name}</Key></Deleted>" for name in names)
        space = "http://s3.amazonaws.com/doc/2006-03-01/"
        body = f'<?xml version="1.0"?><DeleteResult xmlns="{space}">{rows}</DeleteResult>'
        return reply(200, body.encode(), Content_Type="application/xml")

    def _listed(self, prefix: str) -> Play:
        rows = "".join(
            f"<Contents><Key>{escape(name)}</Key><LastModified>2026-12-01T00:00:00.000Z</LastModified>"
            f'<ETag>"1"</ETag><Size>{len(data)}</Size><StorageClass>STANDARD</StorageClass></Contents>'
            for name, data in sorted(self.objects.items())
            if name.startswith(prefix)
        )
        body = (
            '<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
            f"<Name>{BUCKET}</Name><Prefix>{escape(prefix)}</Prefix><IsTruncated>false</IsTruncated>{rows}"
            "</ListBucketResult>"
        )
        return reply(200, body.encode(), Content_Type="application/xml")
