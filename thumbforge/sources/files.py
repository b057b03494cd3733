"""Playlists from files: what `yt-dlp -J` printed, answers of the YouTube Data API, and CSV.

Parts: entries of yt-dlp are numbered 1..n in the order of the list after what cannot be watched has been left out
(`playlist_index` is absent in flat lists and counts hidden videos, so it is not used). A CSV says its own parts in the
column `part`, an empty cell being no part; without that column its rows are numbered. A video that is listed twice is
two items.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from thumbforge.durable import read_regular
from thumbforge.errors import Problem, SourceError, SpecError
from thumbforge.models import Item, Playlist, PlaylistHead
from thumbforge.sources.api_pages import from_pages, is_page
from thumbforge.sources.fetched import MAX_ENTRIES, FetchedPlaylist, Skipped, nothing_left, playlist_id, whole
from thumbforge.sources.links import video_in

MAX_BYTES = 50_000_000
MAX_SECONDS = 30 * 24 * 3600
"""Longer durations are taken for noise, as are negative ones; the longest YouTube streams run for days."""

HINT = "make it with: yt-dlp --flat-playlist -J URL > playlist.json"
_CSV_HINT = "a CSV needs a first line `title,video,part`; save it as UTF-8"
_HIDDEN = frozenset(("[Private video]", "[Deleted video]", "[Unavailable video]"))
_CSV_FIELDS = ("title", "video", "part", "label", "text", "topic")
_CSV_ALIASES = {"video_id": "video", "id": "video", "url": "video"}
_LIST_LEVELS = 3


def read_playlist_file(path: Path) -> Playlist:
    """The playlist in a file; errors as `read_file`."""
    return read_file(path).playlist


def read_file(path: Path) -> FetchedPlaylist:
    """The playlist in a file of at most 50 MB, with what was left out: yt-dlp's JSON, answers of the YouTube Data API
    (one, or a list of them), or CSV.

    Raises SourceError where the file is something else, is cut short, or has nothing to show, and SpecError naming
    every wrong row of a CSV.
    """
    text = _text(path)
    if text.lstrip()[:1] == "<":
        raise SourceError(f"{path.name} is a web page or XML, not a playlist", hint=HINT)
    if path.suffix.lower() in (".csv", ".tsv"):
        return _from_csv(text, path)
    document = _json(text, path.name)
    pages = document if isinstance(document, list) else [document]
    if pages and all(map(is_page, pages)):
        return from_pages(pages, path.stem)
    return from_ytdlp(document, path.stem)


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
    if not items:
        raise nothing_left(name, expected, skipped)
    missing = max(0, expected - len(entries))
    if missing:
        warnings.append(f"{name} says it has {expected} videos but lists {len(entries)}: fetch it anew")
    return FetchedPlaylist(
        Playlist(playlist=_head(document, name), items=tuple(items)),
        tuple(skipped),
        tuple(warnings),
        missing=missing,
        single="entries" not in document,
    )


def _text(path: Path) -> str:
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
    if b"\0" in raw:
        raise SourceError(f"{path.name} holds NUL bytes: it is no text in UTF-8", hint="save it as UTF-8")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SourceError(f"{path.name} is not UTF-8", hint="save it as UTF-8") from None


def _json(text: str, name: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise SourceError(f"{name} {_json_fault(text, error)}", hint=HINT) from None
    except (ValueError, RecursionError):
        raise SourceError(f"{name} is no JSON that yt-dlp prints", hint=HINT) from None


def _json_fault(text: str, error: json.JSONDecodeError) -> str:
    if sum(line.startswith("{") for line in text.splitlines()) > 1:
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
        return Skipped(place, None, "has no video id")
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


def _head(document: dict[str, Any], name: str) -> PlaylistHead:
    def said(*fields: str) -> str:
        texts = (document.get(field) for field in fields)
        return whole(next((text for text in texts if isinstance(text, str) and text), ""))

    return PlaylistHead(
        id=playlist_id(said("id") or name),
        title=said("title") or name,
        channel=said("channel", "uploader"),
        url=said("webpage_url", "original_url"),
    )


def _from_csv(text: str, path: Path) -> FetchedPlaylist:
    head = text.lstrip().split("\n", 1)[0]
    delimiter = max(",;\t", key=head.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True, skipinitialspace=True)
    problems: list[Problem] = []
    rows: list[tuple[int, list[str]]] = []
    try:
        rows = [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except csv.Error as error:
        problems.append(Problem(str(path), reader.line_num, "", f"not valid CSV: {error}"))
    if not problems:
        items = tuple(_rows(rows, str(path), problems))
    if problems:
        raise SpecError(problems, hint=_CSV_HINT)
    if not items:
        raise SourceError(f"{path.name} has a header but no rows", hint=_CSV_HINT)
    playlist = Playlist(playlist=PlaylistHead(id=playlist_id(path.stem), title=path.stem), items=items)
    return FetchedPlaylist(playlist, has_parts="part" in _names(rows[0][1]))


def _names(header: list[str]) -> list[str]:
    words = (name.strip().lower() for name in header)
    return [_CSV_ALIASES.get(word, word) for word in words]


def _rows(rows: list[tuple[int, list[str]]], file: str, problems: list[Problem]) -> Iterator[Item]:
    line, header = rows[0]
    names = _names(header)
    absent = [name for name in ("title", "video") if name not in names]
    if absent:
        problems.append(Problem(file, line, "", f"the first line names no column {' and no column '.join(absent)}"))
        return
    parts: dict[str, int] = {}
    for number, (line, row) in enumerate(rows[1:], 1):
        cells = {
            name: cell.strip() for name, cell in zip(names, row, strict=False) if name in _CSV_FIELDS and cell.strip()
        }
        if "part" not in names:
            cells["part"] = str(number)
        wrong = _row_faults(cells)
        if "part" in cells and (first := parts.setdefault(cells["part"].lstrip("0") or "0", line)) != line:
            wrong["part"] = f"part {cells['part']} is already in line {first}"
        problems.extend(Problem(file, line, name, message) for name, message in wrong.items())
        if not wrong:
            part = int(cells["part"]) if "part" in cells else None
            yield Item.model_validate({**cells, "video": video_in(cells["video"]), "part": part})


def _row_faults(cells: dict[str, str]) -> dict[str, str]:
    wrong = {name: "is empty" for name in ("title", "video") if name not in cells}
    if "video" in cells and video_in(cells["video"]) is None:
        wrong["video"] = f"`{cells['video'][:40]}` is no video id (11 letters, digits, - or _) and no YouTube address"
    if "part" in cells and not re.fullmatch(r"[0-9]{1,5}", cells["part"]):
        wrong["part"] = f"expected a whole number up to 99999, got `{cells['part'][:40]}`"
    for name, most in {"title": 1000, "text": 1000, "topic": 1000, "label": 100}.items():
        if len(cells.get(name, "")) > most:
            wrong[name] = f"is longer than {most} characters"
    return wrong
