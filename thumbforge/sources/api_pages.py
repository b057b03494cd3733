"""Answers of the YouTube Data API (v3) as playlists: `playlistItems`, `search` and `videos` lists.

A title in these answers may hold HTML entities (search does it always), which are undone once. A video listed twice is
two items, a row told twice is one. Hidden videos are told by what their row lacks, because a public video may be titled
"Private video" too.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from thumbforge.errors import SourceError
from thumbforge.models import Item, Playlist, PlaylistHead
from thumbforge.sources.fetched import FetchedPlaylist, Skipped, nothing_left, playlist_id, whole
from thumbforge.sources.links import video_in
from thumbforge.text import one_line
from thumbforge.web.answers import at

_DURATION = re.compile(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?")
_SECONDS = (86_400, 3_600, 60, 1)
_HINT = "save the answers of playlistItems as they are, all pages in one JSON list"


def is_page(document: Any) -> bool:
    """Whether it is an answer of the Data API."""
    if not isinstance(document, dict):
        return False
    return str(document.get("kind", "")).startswith("youtube#") or isinstance(at(document, "error", "code"), int)


def from_pages(
    pages: Sequence[Mapping[str, Any]],
    name: str,
    *,
    head: PlaylistHead | None = None,
    seconds: Mapping[str, float] | None = None,
    titles: Mapping[str, str] | None = None,
    expected: int = 0,
    single: bool = False,
) -> FetchedPlaylist:
    """The pages of one list in their order. `name` stands in for what no page says, `seconds` are durations by video,
    `titles` those that hold instead of the pages', `expected` is the number of entries that is known from elsewhere.

    Raises SourceError where nothing is left, or where the pages are of something else.
    """
    rows = _joined([row for page in pages for row in _rows(page, name)])
    items: list[Item] = []
    skipped: list[Skipped] = []
    warnings: list[str] = []
    for place, row in enumerate(rows, 1):
        item = _item(row, place, len(items) + 1, seconds or {}, titles or {}, warnings)
        if isinstance(item, Item):
            items.append(item)
        else:
            skipped.append(item)
    expected = max(expected, *(_total(page) for page in pages))
    if not items:
        raise nothing_left(name, expected, skipped)
    missing = max(0, expected - len(rows))
    if missing:
        warnings.append(f"{name} counts {expected} videos and lists {len(rows)}: the others are hidden, or not sent")
    playlist = Playlist(playlist=head or _head(rows, name), items=tuple(items))
    return FetchedPlaylist(playlist, tuple(skipped), tuple(warnings), missing=missing, single=single)


def duration_of(text: Any) -> float | None:
    """ISO 8601 as YouTube writes it (`PT1H2M3S`) in seconds; None for anything else and for 0, which means live."""
    match = _DURATION.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        return None
    return sum(float(value) * unit for value, unit in zip(match.groups(default="0"), _SECONDS, strict=True)) or None


def said(fields: Any, *path: str) -> str:
    """The text at a path of mappings, entities undone; "" where there is none."""
    value = at(fields, *path)
    return whole(html.unescape(value)) if isinstance(value, str) else ""


def _rows(page: Mapping[str, Any], name: str) -> list[Any]:
    if page.get("error"):
        words = one_line(said(page, "error", "message"), 200)
        told = f"{name} holds an error of the YouTube Data API, not a list{f': {words}' if words else ''}"
        raise SourceError(told, hint="ask the API again, and save what it answers then")
    rows = page.get("items")
    if not isinstance(rows, list):
        raise SourceError(f"{name} has no list `items`: it is no whole answer of the YouTube Data API", hint=_HINT)
    return rows


def _joined(rows: list[Any]) -> list[Any]:
    """Pages overlap where the list changed while it was read: a row is told by its own id, once, as it was told last,
    and stands where it says. Rows without an id or a position are left as they came."""
    last = {word: row for row in rows if (word := _row_id(row))}
    once = [last.pop(word, None) if (word := _row_id(row)) else row for row in rows]
    found = [row for row, given in zip(once, rows, strict=True) if row is not None or given is None]
    places = [at(row, "snippet", "position") for row in found]
    if not all(isinstance(place, int) for place in places):
        return found
    return [row for _, row in sorted(zip(places, found, strict=True), key=lambda pair: pair[0])]


def _row_id(row: Any) -> str:
    word = at(row, "id") if at(row, "kind") == "youtube#playlistItem" else None
    return word if isinstance(word, str) else ""


def _total(page: Mapping[str, Any]) -> int:
    """What the page says of the whole list; a search counts everything there is, so its number says nothing."""
    count = at(page, "pageInfo", "totalResults")
    is_search = page.get("kind") == "youtube#searchListResponse"
    return count if isinstance(count, int) and not is_search else 0


def _item(
    row: Any, place: int, part: int, seconds: Mapping[str, float], titles: Mapping[str, str], warnings: list[str]
) -> Item | Skipped:
    named = (
        at(row, "contentDetails", "videoId"),
        at(row, "snippet", "resourceId", "videoId"),
        at(row, "id", "videoId"),
    )
    own = at(row, "id") if at(row, "kind") == "youtube#video" else None
    video = next((found for word in (*named, own) if isinstance(word, str) and (found := video_in(word))), None)
    if video is None:
        return Skipped(place, None, "is no video")
    if reason := _hidden(row):
        return Skipped(place, video, reason)
    title = titles.get(video) or said(row, "snippet", "title")
    if not title.strip():
        warnings.append(f"entry {place} ({video}) has no title; it is named by its id")
        title = video
    duration = seconds.get(video, duration_of(at(row, "contentDetails", "duration")))
    try:
        return Item(video=video, title=title, part=part, duration=duration)
    except ValidationError as error:
        return Skipped(place, video, f"{error.errors()[0]['loc'][0]}: {error.errors()[0]['msg']}")


def _hidden(row: Mapping[str, Any]) -> str:
    """Why there is nothing to see, "" for a video that can be seen."""
    if at(row, "kind") != "youtube#playlistItem":
        return ""
    if at(row, "status", "privacyStatus") == "private":
        return "private video"
    if at(row, "snippet", "thumbnails") or at(row, "snippet", "videoOwnerChannelId"):
        return ""
    return "private video" if said(row, "snippet", "title") == "Private video" else "deleted video"


def _head(rows: Sequence[Any], name: str) -> PlaylistHead:
    found = next((text for row in rows if (text := said(row, "snippet", "playlistId"))), "")
    channel = next((text for row in rows if (text := said(row, "snippet", "channelTitle"))), "")
    url = f"https://www.youtube.com/playlist?list={found}" if found == playlist_id(found) else ""
    return PlaylistHead(id=playlist_id(found or name), title=name, channel=channel, url=url)
