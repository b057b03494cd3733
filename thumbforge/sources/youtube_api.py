"""Playlists over the YouTube Data API (v3): 1 + 2 x N/50 units of the day's 10,000 for a list of N videos.

Every list is read to its end or not at all: 50 of 849 are never taken for the whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from thumbforge.cancel import Cancel
from thumbforge.errors import NotFound, SourceAuth, SourceError, SourceNetwork, UsageError
from thumbforge.models import PlaylistHead
from thumbforge.sources import asking
from thumbforge.sources.api_errors import KEY, RETRY_HINT, Again, StalePage, error_of, inside
from thumbforge.sources.api_pages import duration_of, from_pages, said
from thumbforge.sources.fetched import MAX_ENTRIES, FetchedPlaylist, playlist_id
from thumbforge.sources.links import TABS, ChannelLink, PlaylistLink, VideoLink
from thumbforge.web.answers import at, parsed
from thumbforge.web.http import is_local, kept_line
from thumbforge.web.keys import is_key

if TYPE_CHECKING:
    from thumbforge.web.wire import Line

BASE_URL = "https://www.googleapis.com/youtube/v3"
PAGE = 50
MAX_PAGE_BYTES = 20 * 2**20

_ITEMS = (
    "kind,nextPageToken,pageInfo,items(kind,id,snippet(title,channelTitle,playlistId,position,resourceId,videoOwnerChannelId,"
    "thumbnails/default/url),contentDetails/videoId,status/privacyStatus)"
)
_VIDEOS = "kind,items(kind,id,snippet(title,localized/title,channelTitle,defaultAudioLanguage),contentDetails/duration)"

Answers = Mapping[str, Any]
"""Answers by request: `{"etag": …, "body": …}`. What is still the same at YouTube is not sent again."""


@dataclass
class YouTubeApi:
    """One key. `units` counts what was spent of the day's quota; `kept` are answers of an earlier fetch, `answers`
    those of this one, to be kept for the next. `language` is that of the titles, "" for the one they were written in.
    """

    key: str
    base_url: str = BASE_URL
    retry_base_s: float = 2.0
    kept: Answers = field(default_factory=dict)
    answers: dict[str, Any] = field(default_factory=dict)
    units: int = 0
    cancel: Cancel = field(default_factory=Cancel)
    language: str = ""
    _line: Line | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self.key = self.key.strip()
        if self.key and not is_key(self.key):
            raise SourceAuth(f"{KEY} holds characters that no key has", hint="copy the key again, without quotes")
        require_safe(self.base_url)

    def fetch(self, link: PlaylistLink | VideoLink | ChannelLink) -> FetchedPlaylist:
        """The list that the link names; a video is a list of one.

        Raises NotFound for what YouTube does not know, SourceAuth, SourceQuota, SourcePrivate, SourceNetwork after
        three tries, and SourceError for a list without a video and for answers that make no sense.
        """
        try:
            with kept_line() as self._line:
                return self._fetch(link)
        except Again as error:
            raise SourceNetwork(f"{error.message} (tried {asking.TRIES} times)", hint=error.hint) from error

    def _fetch(self, link: PlaylistLink | VideoLink | ChannelLink) -> FetchedPlaylist:
        if isinstance(link, VideoLink):
            return self._video(link.id)
        playlist = link.id if isinstance(link, PlaylistLink) else self._list_of(link)
        try:
            return self._playlist(playlist)
        except StalePage:
            return self._playlist(playlist)

    def _playlist(self, playlist: str) -> FetchedPlaylist:
        what = f"playlist {playlist}"
        asked = {"part": "snippet,contentDetails", "id": playlist, "maxResults": "1", **self._spoken()}
        found = next(iter(_items(self._get("playlists", asked, what))), None)
        pages = list(self._pages(playlist, what))
        rows = [row for page in pages for row in _items(page)]
        videos = [video for row in rows if isinstance(video := at(row, "contentDetails", "videoId"), str)]
        count = at(found, "contentDetails", "itemCount")
        seconds, titles = self._described(list(dict.fromkeys(videos)))
        return from_pages(
            pages,
            what,
            head=_head(playlist, found, rows, self._title(found)),
            seconds=seconds,
            titles=titles,
            expected=count if isinstance(count, int) else 0,
        )

    def _pages(self, playlist: str, what: str) -> Iterator[Mapping[str, Any]]:
        asked = {"part": "id,snippet,contentDetails,status", "playlistId": playlist, "maxResults": str(PAGE)}
        seen: set[str] = set()
        token = ""
        while len(seen) * PAGE < MAX_ENTRIES:
            turn = {"pageToken": token} if token else {}
            page = self._get("playlistItems", {**asked, "fields": _ITEMS, **turn}, what)
            yield page
            token = page.get("nextPageToken") or ""
            if not token:
                return
            if not isinstance(token, str) or token in seen:
                raise SourceError(f"{what}: its pages have no end", hint=RETRY_HINT)
            seen.add(token)
        raise SourceError(f"{what} has more than {MAX_ENTRIES:,} entries", hint="fetch a shorter list")

    def _spoken(self) -> dict[str, str]:
        return {"hl": self.language} if self.language else {}

    def _described(self, videos: list[str]) -> tuple[dict[str, float], dict[str, str]]:
        """Durations, and titles where a language is asked for, each by video."""
        seconds: dict[str, float] = {}
        titles: dict[str, str] = {}
        part = "snippet,contentDetails" if self.language else "contentDetails"
        for first in range(0, len(videos), PAGE):
            asked = {"part": part, "id": ",".join(videos[first : first + PAGE]), "fields": _VIDEOS, **self._spoken()}
            for row in _items(self._get("videos", asked, "such videos")):
                video = str(at(row, "id"))
                duration = duration_of(at(row, "contentDetails", "duration"))
                if duration is not None:
                    seconds[video] = duration
                if title := said(row, "snippet", "localized", "title"):
                    titles[video] = title
        return seconds, titles if self.language else {}

    def _video(self, video: str) -> FetchedPlaylist:
        asked = {"part": "snippet,contentDetails", "id": video, "fields": _VIDEOS, **self._spoken()}
        page = self._get("videos", asked, f"video {video}")
        rows = _items(page)
        if not rows:
            raise NotFound(f"YouTube knows no video {video}", hint="it may be private or deleted; check the address")
        head = PlaylistHead(
            id=video,
            title=self._title(rows[0]),
            channel=said(rows[0], "snippet", "channelTitle"),
            url=f"https://www.youtube.com/watch?v={video}",
            language=said(rows[0], "snippet", "defaultAudioLanguage") or None,
        )
        titles = {video: self._title(rows[0])} if self.language else {}
        return from_pages([page], f"video {video}", head=head, titles=titles, single=True)

    def _title(self, row: Any) -> str:
        localized = said(row, "snippet", "localized", "title") if self.language else ""
        return localized or said(row, "snippet", "title")

    def _list_of(self, link: ChannelLink) -> str:
        channel = link.id
        asked = {"part": "contentDetails", "forHandle" if channel.startswith("@") else "forUsername": channel}
        rows = _items(self._get("channels", asked, f"channel {channel}"))
        uploads = at(next(iter(rows), None), "contentDetails", "relatedPlaylists", "uploads")
        if not isinstance(uploads, str) or uploads != playlist_id(uploads):
            raise NotFound(f"YouTube knows no channel {channel}", hint="copy the channel's address from a browser")
        return f"{TABS[link.tab]}{uploads[2:]}"

    def _get(self, path: str, params: Mapping[str, str], what: str) -> Mapping[str, Any]:
        return asking.with_retries(lambda: self._ask(path, params, what), self.retry_base_s, self.cancel)

    def _ask(self, path: str, params: Mapping[str, str], what: str) -> Mapping[str, Any]:
        """One call. A kept answer of the same request is offered by its ETag and used where it still holds."""
        name = f"{path}?{'&'.join(f'{key}={value}' for key, value in sorted(params.items()))}"
        kept = self.kept.get(name)
        etag = at(kept, "etag") if isinstance(at(kept, "body"), dict) else None
        headers = {"X-Goog-Api-Key": self.key, **({"If-None-Match": etag} if isinstance(etag, str) else {})}
        self.units += 1
        url = f"{self.base_url.rstrip('/')}/{path}"
        reply = asking.get(
            url, cancel=self.cancel, params=params, headers=headers, most=MAX_PAGE_BYTES, line=self._line
        )
        if reply.status == 304 and etag:
            self.answers[name] = kept
            body: Mapping[str, Any] = at(kept, "body")
            return body
        if reply.status != 200:
            raise error_of(reply.status, reply.body, what)
        if error := inside(parsed(reply.body), reply.body, what):
            raise error
        found = _read(reply.body)
        if new := reply.headers.get("etag"):
            self.answers[name] = {"etag": new, "body": found}
        return found


def require_safe(url: str) -> None:
    """A key goes over https, or to this machine. Raises UsageError."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        parts, host = urlsplit(""), ""
    if not host or (parts.scheme != "https" and not (parts.scheme == "http" and is_local(url))):
        raise UsageError("THUMBFORGE_YOUTUBE_API_URL is no https address", hint=f"leave it out for {BASE_URL}")


def _read(body: bytes) -> dict[str, Any]:
    found = parsed(body)
    if found is None:
        kind = "a web page" if body.lstrip()[:1] == b"<" else "something that is no whole JSON"
        raise SourceError(f"YouTube's API answers with {kind}", hint="is there a proxy or a sign-in page between?")
    if not isinstance(found, dict) or not isinstance(found.get("items", []), list):
        raise SourceError("YouTube's API answers with JSON of another shape", hint=RETRY_HINT)
    return found


def _items(page: Mapping[str, Any]) -> list[Any]:
    """An answer without a hit may leave `items` out."""
    return page.get("items") or []


def _head(playlist: str, found: Any, rows: list[Any], title: str) -> PlaylistHead:
    """YouTube does not describe every list that it lists (some uploads): then the channel's name has to do."""
    first = next(iter(rows), None)
    channel = said(found, "snippet", "channelTitle") or said(first, "snippet", "channelTitle")
    return PlaylistHead(
        id=playlist,
        title=title or (f"Uploads from {channel}" if channel else playlist),
        channel=channel,
        url=f"https://www.youtube.com/playlist?list={playlist}",
        language=said(found, "snippet", "defaultLanguage") or None,
    )
