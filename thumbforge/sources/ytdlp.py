"""Playlists through yt-dlp, which needs no key. It comes with the extra `ytdlp`.

Used as a library, flat: one request for each 100 videos, none for a single video of a list. The user's yt-dlp
configuration is not read. Importing it takes about a second, so that happens in the function that needs it.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from functools import partial
from threading import Thread
from typing import Any

from thumbforge import install
from thumbforge.cancel import Cancel
from thumbforge.errors import (
    NotFound,
    SourceAuth,
    SourceError,
    SourceNetwork,
    SourcePrivate,
    ThumbforgeError,
    UsageError,
)
from thumbforge.sources import asking
from thumbforge.sources.api_errors import KEY, Again
from thumbforge.sources.fetched import FetchedPlaylist
from thumbforge.sources.files import from_ytdlp
from thumbforge.sources.links import ChannelLink, PlaylistLink, VideoLink, is_channel, list_of
from thumbforge.text import one_line
from thumbforge.web.answers import at

_UPDATE_HINT = "pip install -U yt-dlp: YouTube breaks old versions every few weeks"
_API_HINT = f"wait a while, or set {KEY} and use --source api"

LIMIT_S = 900.0
"""For one list. 100 of its videos come with each request, so the longest need minutes."""
_OPTIONS: Mapping[str, Any] = {
    "extract_flat": "in_playlist",
    "quiet": True,
    "skip_download": True,
    "noplaylist": False,
    "socket_timeout": 20,
    "extractor_retries": 1,
    "cachedir": False,
    "ignoreerrors": False,
    "extractor_args": {"youtubetab": {"skip": ["authcheck"]}},
}

_Kind = Callable[[str], ThumbforgeError]
_PHRASES: tuple[tuple[tuple[str, ...], _Kind], ...] = (
    (("not a bot", "confirm you"), lambda says: SourceAuth(says, hint=_API_HINT)),
    (("is private", "private video"), lambda says: SourcePrivate(says, hint="make it public or unlisted")),
    (("does not exist", "error 404", "video unavailable", "removed by"), lambda says: NotFound(says, hint=_CHECK_HINT)),
    (("sign in", "log in", "cookies"), lambda says: SourcePrivate(says, hint="make it public or unlisted")),
    (("unviewable",), lambda says: SourceError(f"{says}: mixes cannot be read", hint=_CHECK_HINT)),
    (("unsupported url", "not a valid url"), lambda says: UsageError(says, hint=_CHECK_HINT)),
    (("error 429", "too many requests"), lambda says: Again(says, hint=_API_HINT)),
    (
        ("unable to download", "timed out", "getaddrinfo", "ssl", "connection reset", "refused", "unreachable"),
        lambda says: Again(says, hint="check the network; what was fetched before can be built without it"),
    ),
)
"""What yt-dlp says, in lower case, and what it means; the first that fits counts."""
_CHECK_HINT = "check the address in a browser that is not signed in"


def is_installed() -> bool:
    return importlib.util.find_spec("yt_dlp") is not None


def fetch(link: PlaylistLink | VideoLink | ChannelLink, retry_base_s: float, language: str = "") -> FetchedPlaylist:
    """The list that the link names, with titles in `language` where they are translated; a video is a list of one.
    Errors as those of the Data API, with yt-dlp's version.

    Raises UsageError where yt-dlp is not installed.
    """
    try:
        import yt_dlp
    except ImportError:
        raise UsageError("yt-dlp is not installed", hint=install.command("ytdlp")) from None
    tool = _Tool(yt_dlp, language)
    try:
        found = asking.with_retries(lambda: tool.looked_up(link), retry_base_s, Cancel())
        document = asking.with_retries(lambda: tool.read(_address(found)), retry_base_s, Cancel())
    except Again as error:
        raise SourceNetwork(f"{error.message} (tried {asking.TRIES} times)", hint=error.hint) from error
    if document is None:
        says = tool.said[-1] if tool.said else "it says nothing"
        raise SourceError(f"yt-dlp {tool.version} found no list: {says}", hint=_UPDATE_HINT)
    return from_ytdlp(document, found.id)


@dataclass
class _Tool:
    """yt-dlp as an imported package, and the lines that it would have printed."""

    package: Any
    language: str = ""
    said: list[str] = field(default_factory=list)

    @property
    def version(self) -> str:
        return str(getattr(getattr(self.package, "version", None), "__version__", "of unknown version"))

    def looked_up(self, link: PlaylistLink | VideoLink | ChannelLink) -> PlaylistLink | VideoLink | ChannelLink:
        """A channel's list as the Data API has it: the page of a tab leaves the others out, and has another id. The
        channel itself where its page does not say which one it is."""
        if not isinstance(link, ChannelLink):
            return link
        channel = at(self.read(_address(link), playlist_items="1"), "channel_id")
        return PlaylistLink(list_of(channel, link.tab)) if is_channel(channel) else link

    def read(self, url: str, may_follow: bool = True, **options: Any) -> Any:
        asked = {**_OPTIONS, **options, "logger": self}
        if self.language:
            asked["extractor_args"] = {**asked["extractor_args"], "youtube": {"lang": [self.language]}}
        with self.package.YoutubeDL(asked) as ydl:
            try:
                found = ydl.sanitize_info(_in_time(partial(ydl.extract_info, url, download=False)))
            except self.package.utils.DownloadError as error:
                raise self._translated(str(error)) from error
        is_elsewhere = isinstance(found, dict) and found.get("_type") in ("url", "url_transparent")
        if is_elsewhere and may_follow and isinstance(found.get("url"), str):
            return self.read(found["url"], may_follow=False, **options)
        return found

    def _translated(self, text: str) -> ThumbforgeError:
        line = one_line(text.removeprefix("ERROR: "))
        says = f"yt-dlp {self.version}: {line[:300]}"
        for phrases, kind in _PHRASES:
            if any(phrase in line.lower() for phrase in phrases):
                return kind(says)
        return SourceError(says, hint=_UPDATE_HINT)

    def debug(self, line: str) -> None:
        """Part of yt-dlp's logger interface, as are the three below; what is no error is of no interest."""

    def info(self, line: str) -> None: ...

    def warning(self, line: str) -> None: ...

    def error(self, line: str) -> None:
        self.said.append(line)


def _in_time(call: Callable[[], Any]) -> Any:
    """What the call returns or raises. yt-dlp limits the wait between two bytes and not the whole, so it works in a
    thread that is left alone when the time is over: it ends with this process."""
    told: Future[Any] = Future()

    def work() -> None:
        try:
            told.set_result(call())
        except BaseException as error:  # noqa: BLE001  it is raised where it is waited for
            told.set_exception(error)

    Thread(target=work, name="thumbforge-ytdlp", daemon=True).start()
    ends = time.monotonic() + LIMIT_S
    while not told.done():
        if time.monotonic() > ends:
            raise SourceNetwork(f"yt-dlp has no answer after {LIMIT_S:g} s", hint=_API_HINT)
        wait([told], timeout=0.1)
    return told.result()


def _address(link: PlaylistLink | VideoLink | ChannelLink) -> str:
    if isinstance(link, PlaylistLink):
        return f"https://www.youtube.com/playlist?list={link.id}"
    if isinstance(link, VideoLink):
        return f"https://www.youtube.com/watch?v={link.id}"
    # Without /videos a channel is a list of its tabs.
    name = link.id if link.id.startswith("@") else f"user/{link.id}"
    return f"https://www.youtube.com/{name}/{link.tab or 'videos'}"
