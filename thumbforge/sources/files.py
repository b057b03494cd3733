"""Playlists from files: what `yt-dlp -J` printed, answers of the YouTube Data API, and CSV.

Parts: entries of yt-dlp are numbered 1..n in the order of the list after what cannot be watched has been left out
(`playlist_index` is absent in flat lists and counts hidden videos, so it is not used). A CSV says its own parts in the
column `part`, an empty cell being no part; without that column its rows are numbered. A video that is listed twice is
two items.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from thumbforge.durable import read_regular
from thumbforge.errors import SourceError
from thumbforge.models import Item, Playlist, PlaylistHead
from thumbforge.sources.api_pages import from_pages, is_page
from thumbforge.sources.csv_file import SAVE_AS, Table, from_table, read_table
from thumbforge.sources.fetched import MAX_ENTRIES, FetchedPlaylist, Skipped, nothing_left, playlist_id, whole
from thumbforge.sources.links import TABS, is_channel, list_of, tab_in, video_in

MAX_BYTES = 50_000_000
MAX_SECONDS = 30 * 24 * 3600
"""Longer durations are taken for noise, as are negative ones; the longest YouTube streams run for days."""

HINT = "make it with: yt-dlp --flat-playlist -J URL > playlist.json"
_HIDDEN = frozenset(("[Private video]", "[Deleted video]", "[Unavailable video]"))
_LIST_LEVELS = 3
_ARCHIVE = b"PK\x03\x04"
"""What .xlsx and .ods begin with."""
_TABLES = frozenset((".csv", ".tsv", ".txt"))
"""Excel calls its "Unicode text" `.txt`."""


def read_playlist_file(path: Path) -> Playlist:
    """The playlist in a file; errors as `read_file`."""
    return read_file(path).playlist


def read_file(path: Path) -> FetchedPlaylist:
    """The playlist in a file of at most 50 MB, with what was left out: yt-dlp's JSON, answers of the YouTube Data API
    (one, or a list of them), or CSV.

    Raises SourceError where the file is something else, is cut short, or has nothing to show, and SpecError naming
    every wrong row of a CSV.
    """
    if table := table_in(path):
        return from_table(table)
    text, _ = _text(path, is_csv=False)
    if text.lstrip()[:1] == "<":
        raise SourceError(f"{path.name} is a web page or XML, not a playlist", hint=HINT)
    document = _json(text, path.name)
    pages = document if isinstance(document, list) else [document]
    if pages and all(map(is_page, pages)):
        return from_pages(pages, path.stem)
    return from_ytdlp(document, path.stem)


def table_in(path: Path) -> Table | None:
    """The cells of a CSV, None for a file of another kind. Errors as `read_file`."""
    if path.suffix.lower() not in _TABLES:
        return None
    text, warnings = _text(path, is_csv=True)
    if path.suffix.lower() == ".txt" and text.lstrip()[:1] in {"{", "["}:
        return None
    if text.lstrip()[:1] == "<":
        raise SourceError(f"{path.name} is a web page or XML, not a playlist", hint=HINT)
    return read_table(text, path, warnings)


def from_ytdlp(document: Any, name: str) -> FetchedPlaylist:
    """What `yt-dlp -J` printed, parsed from JSON. `name` stands in where the list has no id or title.

    A channel's tabs are read one after the other; a single video is a list of one. Each entry is judged on its own:
    a bad one is skipped and named. Raises SourceError where nothing is left.
    """
    if not isinstance(document, dict):
        printed_null = document is None
        reason = "holds only `null`: yt-dlp failed" if printed_null else "is JSON, but not what `yt-dlp -J` prints"
        raise SourceError(f"{name} {reason}", hint=HINT)
    if "entries" in document and str(document.get("id", "")).startswith("RD"):
        hint = "name a playlist that its owner made"
        raise SourceError(f"{name} is a mix: YouTube makes it anew for every viewer", hint=hint)
    if tab_in(str(document.get("webpage_url", ""))) in ("playlists", "podcasts", "releases"):
        raise SourceError(f"{name} is a page of playlists, not one of them", hint="fetch each by its own address")
    entries = list(_entries(document, name))
    items: list[Item] = []
    skipped: list[Skipped] = []
    warnings: list[str] = []
    for place, entry in enumerate(entries, 1):
        item = _item(entry, place, len(items) + 1, warnings)
        if isinstance(item, Item):
            items.append(item)
        else:
            skipped.append(item)
    count = document.get("playlist_count")
    expected = count if isinstance(count, int) else 0
    if not items and document.get("requested_entries") == []:
        raise SourceError(
            f"{name} holds none of the list's {expected} videos: yt-dlp was asked for others (-I)", hint=HINT
        )
    if not items:
        raise nothing_left(name, expected, skipped)
    missing = max(0, expected - len(entries))
    if missing and (asked := _asked_for(document)):
        warnings.append(f"{name} holds {asked} of the list's {expected}, as yt-dlp was asked (-I)")
    elif missing:
        warnings.append(f"{name} says it has {expected} videos but lists {len(entries)}: fetch it anew")
    return FetchedPlaylist(
        Playlist(playlist=_head(document, name), items=tuple(items)),
        tuple(skipped),
        tuple(warnings),
        missing=missing,
        single="entries" not in document,
    )


def _text(path: Path, *, is_csv: bool) -> tuple[str, tuple[str, ...]]:
    """The text, and a word on how it was read: Excel saves a CSV in UTF-16, or as Windows does."""
    try:
        if path.exists() and not path.is_file():
            raise SourceError(f"{path.name} is no file", hint=HINT)
        if (size := path.stat().st_size) > MAX_BYTES:
            raise SourceError(f"{path.name} has {size:,} bytes; {MAX_BYTES:,} is the most that is read", hint=HINT)
        raw = read_regular(path, MAX_BYTES)
    except OSError as error:
        raise SourceError(f"{path.name} cannot be read: {error.strerror or error}", hint="check the path") from None
    if not raw.strip():
        raise SourceError(f"{path.name} is empty", hint=HINT)
    if raw.startswith(_ARCHIVE):
        hint = "save the sheet as CSV (in Excel: `CSV UTF-8`), and fetch that"
        raise SourceError(f"{path.name} is a workbook or an archive, not a table of text", hint=hint)
    is_wide = raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    if b"\0" in raw and not is_wide:
        raise SourceError(f"{path.name} holds NUL bytes: it is no text in UTF-8", hint=SAVE_AS)
    try:
        return raw.decode("utf-16" if is_wide else "utf-8-sig"), ()
    except UnicodeDecodeError:
        if not is_csv or is_wide:
            raise SourceError(f"{path.name} is not UTF-8", hint=SAVE_AS) from None
    try:
        told = f"{path.name} is not UTF-8 and was read as Windows-1252: look at its letters, or {SAVE_AS}"
        return raw.decode("cp1252"), (told,)
    except UnicodeDecodeError:
        raise SourceError(f"{path.name} is neither UTF-8 nor Windows-1252", hint=SAVE_AS) from None


def _json(text: str, name: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise SourceError(f"{name} {_json_fault(text, error)}", hint=HINT) from None
    except (ValueError, RecursionError):
        raise SourceError(f"{name} is no JSON that yt-dlp prints", hint=HINT) from None


def _json_fault(text: str, error: json.JSONDecodeError) -> str:
    if len(lines := [line for line in text.splitlines() if line.startswith("{")]) > 1:
        if any('"entries"' in line for line in lines):
            return f"holds {len(lines)} lists or videos, one a line: save each address in a file of its own"
        return "has one object a line (`-j`); use `-J`, which prints the list as one"
    if text.lstrip()[:1] not in "{[":
        return f"is not JSON: it begins with {text.split()[0][:20]!r}; keep yt-dlp's messages out of the file"
    if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
        return f"is cut off at line {error.lineno}: the program that wrote it did not finish"
    return f"is not whole JSON: {error.msg} at line {error.lineno}"


def _entries(document: dict[str, Any], name: str, level: int = 1) -> Iterator[Any]:
    """The entries of a list and, in their place, those of lists inside it."""
    entries = document.get("entries")
    if entries is None and video_in(str(document.get("id", ""))) and document.get("_type", "video") == "video":
        yield document
        return
    if not isinstance(entries, list):
        raise SourceError(f"{name} has no list `entries`: it is not what `yt-dlp -J` prints", hint=HINT)
    if len(entries) > MAX_ENTRIES:
        raise SourceError(f"{name} has {len(entries):,} entries; {MAX_ENTRIES:,} is the most that is read", hint=HINT)
    for entry in entries:
        if isinstance(entry, dict) and isinstance(entry.get("entries"), list) and level < _LIST_LEVELS:
            yield from _entries(entry, name, level + 1)
        else:
            yield entry


def _item(entry: Any, place: int, part: int, warnings: list[str]) -> Item | Skipped:
    if entry is None:
        return Skipped(place, None, "yt-dlp could not read it")
    fields = {"url": entry} if isinstance(entry, str) else entry
    if not isinstance(fields, dict):
        return Skipped(place, None, f"expected a video, got a {type(entry).__name__}")
    video = next(filter(None, (video_in(v) for v in (fields.get("id"), fields.get("url")) if isinstance(v, str))), None)
    if video is None:
        is_list = fields.get("ie_key") == "YoutubeTab" or "list=" in str(fields.get("url", ""))
        return Skipped(place, None, "is a list of its own: fetch it by its address" if is_list else "has no video id")
    duration = _seconds(fields.get("duration"))
    title = fields.get("title", "")
    if title is None and duration is None:
        return Skipped(place, video, "has no title: private, deleted or blocked")
    # A video may really be called so: only without an owner or a duration is it YouTube's placeholder.
    if isinstance(title, str) and title in _HIDDEN and (duration is None or not fields.get("channel")):
        return Skipped(place, video, title[1:-1].lower())
    if not isinstance(title, str) or not title.strip():
        warnings.append(f"entry {place} ({video}) has no title; it is named by its id")
        title = video
    try:
        return Item.model_validate({"video": video, "title": whole(title), "part": part, "duration": duration})
    except ValidationError as error:
        return Skipped(place, video, f"{error.errors()[0]['loc'][0]}: {error.errors()[0]['msg']}")


def _seconds(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value if 0 <= value <= MAX_SECONDS else None


def _asked_for(document: dict[str, Any]) -> str:
    """The places that `-I` chose, "" where the whole list was wanted."""
    places = document.get("requested_entries")
    if not isinstance(places, list) or not places or not all(isinstance(place, int) for place in places):
        return ""
    if len(places) > 1 and places == list(range(places[0], places[-1] + 1)):
        return f"videos {places[0]} to {places[-1]}"
    shown = ", ".join(map(str, places[:5])) + (", …" if len(places) > 5 else "")
    return f"{'video' if len(places) == 1 else 'videos'} {shown}"


def _list_id(own: str, channel: str, address: str) -> str:
    """The list's id. Pages of a channel all have the channel's: each is told by the id that YouTube's list of it has,
    as the Data API says it, so that none is taken for another."""
    if not (is_channel(own) or own.startswith("@")):
        return own
    channel = channel if is_channel(channel) else own
    tab = tab_in(address)
    return list_of(channel, tab) if is_channel(channel) and tab in TABS else "-".join(filter(None, (own, tab)))


def _head(document: dict[str, Any], name: str) -> PlaylistHead:
    def said(*fields: str) -> str:
        texts = (document.get(field) for field in fields)
        return whole(next((text for text in texts if isinstance(text, str) and text), ""))

    return PlaylistHead(
        id=playlist_id(_list_id(said("id"), said("channel_id"), said("webpage_url", "original_url")) or name),
        title=said("title") or name,
        channel=said("channel", "uploader"),
        url=said("webpage_url", "original_url"),
    )
