"""A server on this machine that plays the YouTube Data API and the host of the thumbnails, with their bad days.

with DataApi() as api:
    api.lists["PLx…"] = [row(1), row(2), hidden(3)]
    api.plan("playlistItems", "quota")            # the next answer to such a call; later ones are good again
    project.with_environment(**api.environment)
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections import defaultdict
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import parse_qs, urlsplit

RESPONSES = Path(__file__).parent / "data" / "playlists" / "responses"
KEY = "a-key-for-tests-0123456789"
LIST = "PLtfNeutral0000000000000000000000x"
OWNER = "UCtfNeutralChannel000000"

_REASONS: Mapping[str, tuple[int, dict[str, Any]]] = {
    "key": (400, {"message": "API key not valid.", "details": [{"reason": "API_KEY_INVALID"}]}),
    "key_old": (400, {"message": "Bad Request", "errors": [{"reason": "keyInvalid"}]}),
    "disabled": (403, {"message": "Not used before.", "errors": [{"reason": "accessNotConfigured"}]}),
    "rate": (403, {"message": "Slow down.", "errors": [{"reason": "rateLimitExceeded"}]}),
    "token": (400, {"message": "Invalid token.", "errors": [{"reason": "invalidPageToken"}]}),
}
_FILES = {
    "quota": "yt_403_quota_exceeded.http",
    "private": "yt_403_not_accessible.http",
    "absent": "yt_404_playlist.http",
    "broken": "yt_500_page2.http",
    "grey": "thumb_404_with_jpeg.http",
    "webp": "thumb_200_webp_as_jpg.http",
    "page": "thumb_200_html.http",
}


def video(n: int) -> str:
    return f"tfVid{n:06d}"


def row(n: int, title: str | None = None, **fields: Any) -> dict[str, Any]:
    """A playlist item for a public video."""
    snippet = {
        "title": f"Lesson {n}" if title is None else title,
        "thumbnails": {"default": {"url": "https://img.invalid/1.jpg"}},
        "channelTitle": "Neutral Channel",
        "playlistId": LIST,
        "resourceId": {"kind": "youtube#video", "videoId": video(n)},
        "videoOwnerChannelId": OWNER,
    }
    return {
        "kind": "youtube#playlistItem",
        "id": f"row-{n}",
        "snippet": snippet,
        "contentDetails": {"videoId": video(n)},
        "status": {"privacyStatus": "public"},
        **fields,
    }


def hidden(n: int, kind: str = "Private") -> dict[str, Any]:
    """A playlist item for a video that cannot be seen (any more)."""
    shown = row(n, f"{kind} video", status={"privacyStatus": "private" if kind == "Private" else "unspecified"})
    shown["snippet"]["thumbnails"] = {}
    del shown["snippet"]["videoOwnerChannelId"]
    return shown


class DataApi:
    """`lists` holds the rows of each playlist, `totals` what pages say of its size where that is not their number,
    `pictures` the thumbnails by (video, size). `asked` are the calls: path, parameters, headers."""

    def __init__(self) -> None:
        self.lists: dict[str, list[dict[str, Any]]] = {}
        self.titles: dict[str, str] = {LIST: "Woodwork for beginners"}
        self.totals: dict[str, int] = {}
        self.handles: dict[str, str] = {}
        self.pictures: dict[tuple[str, str], bytes | str] = {}
        self.asked: list[tuple[str, dict[str, str], dict[str, str]]] = []
        self.connections = 0
        self.slow = threading.Event()
        self._plans: dict[str, list[str]] = defaultdict(list)

    def plan(self, path: str, *answers: str) -> None:
        """What the next calls to this path get: "ok", a word of `_REASONS` or `_FILES`, or
        reset, cut, html, json_list, half_json, loop, slow."""
        self._plans[path] += answers

    def calls(self, path: str) -> list[dict[str, str]]:
        return [params for asked, params, _ in self.asked if asked == path]

    @property
    def environment(self) -> dict[str, str]:
        return {
            "THUMBFORGE_YOUTUBE_API_URL": f"{self.url}/youtube/v3",
            "THUMBFORGE_YOUTUBE_IMAGE_URL": self.url,
            "THUMBFORGE_YOUTUBE_API_KEY": KEY,
        }

    def __enter__(self) -> DataApi:
        api = self

        class Handler(_Handler):
            server_api = api

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=lambda: self._server.serve_forever(0.01), daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.slow.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    # What it answers

    def planned(self, path: str) -> str:
        return self._plans[path].pop(0) if self._plans[path] else "ok"

    def document(self, path: str, asked: Mapping[str, str]) -> dict[str, Any] | None:
        """A good answer; None where the Data API would say 404."""
        return {
            "playlists": self._about,
            "playlistItems": self._page,
            "videos": self._videos,
            "channels": self._channel,
        }[path](asked)

    def _about(self, asked: Mapping[str, str]) -> dict[str, Any]:
        name = asked["id"]
        snippet = {"title": self.titles.get(name, name), "channelTitle": "Neutral Channel", "defaultLanguage": "en"}
        count = self.totals.get(name, len(self.lists.get(name, ())))
        found = [{"id": name, "snippet": snippet, "contentDetails": {"itemCount": count}}] if name in self.lists else []
        return {"kind": "youtube#playlistListResponse", "items": found}

    def _page(self, asked: Mapping[str, str]) -> dict[str, Any] | None:
        rows = self.lists.get(asked["playlistId"])
        if rows is None:
            return None
        size, start = int(asked.get("maxResults", 5)), int(asked.get("pageToken", "page0").removeprefix("page"))
        more = {"nextPageToken": f"page{start + size}"} if start + size < len(rows) else {}
        total = self.totals.get(asked["playlistId"], len(rows))
        about = {"totalResults": total, "resultsPerPage": size}
        page = {"kind": "youtube#playlistItemListResponse", **more, "items": rows[start : start + size]}
        return {**page, "pageInfo": about}

    def _videos(self, asked: Mapping[str, str]) -> dict[str, Any]:
        """In another order than asked, each once, as the Data API does."""
        wanted = set(asked["id"].split(","))
        assert len(wanted) <= 50
        every = (r for rows in self.lists.values() for r in rows if "contentDetails" in r)
        rows = {r["contentDetails"]["videoId"]: r for r in every}
        found = [
            {
                "kind": "youtube#video",
                "id": name,
                "snippet": {**rows[name]["snippet"], "defaultAudioLanguage": "en"},
                "contentDetails": {"duration": rows[name].get("duration", "PT2M33S")},
            }
            for name in sorted(wanted, reverse=True)
            if name in rows and "videoOwnerChannelId" in rows[name]["snippet"]
        ]
        return {"kind": "youtube#videoListResponse", "items": found}

    def _channel(self, asked: Mapping[str, str]) -> dict[str, Any]:
        name = asked.get("forHandle") or asked.get("forUsername") or ""
        related = {"relatedPlaylists": {"uploads": self.handles.get(name)}}
        return {"items": [{"contentDetails": related}]} if name in self.handles else {"pageInfo": {"totalResults": 0}}


class _Handler(BaseHTTPRequestHandler):
    server_api: DataApi
    protocol_version = "HTTP/1.1"

    def setup(self) -> None:
        super().setup()
        self.server_api.connections += 1

    wbufsize = -1  # head and body in one packet: two of them wait 40 ms for each other

    def log_message(self, *_: Any) -> None:
        """Nothing is printed."""

    def do_GET(self) -> None:
        api, url = self.server_api, urlsplit(self.path)
        asked = {name: values[0] for name, values in parse_qs(url.query).items()}
        path = url.path.removeprefix("/youtube/v3/")
        api.asked.append((path, asked, dict(self.headers.items())))
        if path.startswith("/vi/"):
            _, _, name, file = path.split("/")
            self._picture(api.pictures.get((name, file.removesuffix(".jpg")), "grey"))
            return
        self._answer(api, path, asked, api.planned(path))

    def _answer(self, api: DataApi, path: str, asked: Mapping[str, str], kind: str) -> None:
        if kind in _FILES:
            self._raw((RESPONSES / _FILES[kind]).read_bytes())
        elif kind in _REASONS:
            status, error = _REASONS[kind]
            self._send(status, json.dumps({"error": {"code": status, **error}}).encode())
        elif kind == "reset":
            self.close_connection = True
        elif kind == "slow":
            api.slow.wait(60)
        elif kind == "html":
            self._send(200, b"<!DOCTYPE html><html><body>Sign in to the network</body></html>", "text/html")
        elif kind == "json_list":
            self._send(200, b"[1, 2, 3]")
        elif kind == "half_json":
            self._send(200, b'{"kind": "youtube#playlistItemListResponse", "items": [')
        else:
            self._good(api.document(path, asked), kind)

    def _good(self, document: dict[str, Any] | None, kind: str) -> None:
        if document is None:
            self._raw((RESPONSES / _FILES["absent"]).read_bytes())
            return
        if kind == "loop":
            document["nextPageToken"] = "page0"
        body = json.dumps(document, ensure_ascii=False).encode()
        etag = hashlib.sha256(body).hexdigest()[:20]
        if self.headers.get("If-None-Match") == etag:
            self._send(304, b"", etag=etag)
        elif kind == "cut":
            self._send(200, body, etag=etag, sent=len(body) // 2)
        else:
            self._send(200, body, etag=etag)

    def _picture(self, picture: bytes | str) -> None:
        if picture == "slow":
            self.server_api.slow.wait(60)
        elif isinstance(picture, str):
            self._raw((RESPONSES / _FILES[picture]).read_bytes())
        else:
            self._send(200, picture, "image/jpeg")

    def _send(self, status: int, body: bytes, kind: str = "application/json", etag: str = "", sent: int = -1) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        if status != 304:
            self.send_header("Content-Length", str(len(body)))
        if etag:
            self.send_header("ETag", etag)
        self.end_headers()
        self.wfile.write(body if sent < 0 else body[:sent])
        self.close_connection = self.close_connection or sent >= 0

    def _raw(self, answer: bytes) -> None:
        self.wfile.write(answer)
        self.wfile.flush()
        self.close_connection = True


def wait_for(condition: Any, timeout_s: float = 30) -> None:
    """Poll until the server has seen something."""
    end = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)
