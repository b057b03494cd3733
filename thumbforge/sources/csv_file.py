"""A playlist in CSV, as people and spreadsheets write it.

The first line names the columns; in files of Google Takeout a block about the list may stand above it. A line `sep=;`
before all, as Excel wants one, says the delimiter. A problem is told with the line in which its row begins.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path

from thumbforge.errors import Problem, SourceError, SpecError
from thumbforge.models import Item, Playlist, PlaylistHead
from thumbforge.sources.fetched import FetchedPlaylist, playlist_id
from thumbforge.sources.links import video_in

_HINT = "a CSV needs a first line `title,video,part`; save it as UTF-8"
_NO_TITLES = "fetch the playlist by its address, which brings the titles; or add a column `title`"
_FIELDS = ("title", "video", "part", "label", "text", "topic")
_ALIASES = {
    "video id": "video", "id": "video", "url": "video", "video url": "video", "link": "video",
    "video title": "title", "name": "title",
}  # fmt: skip
_BLOCK = 4
"""Rows in which the columns' names are looked for."""
_SEP = re.compile(r"\s*\"?sep=(.)\"?\r?\n", re.IGNORECASE)


def from_csv(text: str, path: Path, warnings: tuple[str, ...] = ()) -> FetchedPlaylist:
    """The list in the text of a CSV; `warnings` go along. SpecError with every wrong row, SourceError without rows."""
    said = _SEP.match(text)
    text, above = (text[said.end() :], 1) if said else (text, 0)
    delimiter = said[1] if said else max(",;\t", key=text.lstrip().split("\n", 1)[0].count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True, skipinitialspace=True)
    problems: list[Problem] = []
    rows: list[tuple[int, list[str]]] = []
    begins = above + 1
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                rows.append((begins, row))
            begins = above + reader.line_num + 1
    except csv.Error as error:
        told = "a quote is opened and not closed" if "end of data" in str(error) else str(error)
        problems.append(Problem(str(path), begins, "", f"not valid CSV: {told}"))
    rows = rows[_head(rows) :]
    if not problems:
        items = tuple(_rows(rows, str(path), problems))
    if problems:
        names = _names(rows[0][1]) if rows else []
        raise SpecError(problems, hint=_NO_TITLES if "video" in names and "title" not in names else _HINT)
    if not items:
        raise SourceError(f"{path.name} has a header but no rows", hint=_HINT)
    playlist = Playlist(playlist=PlaylistHead(id=playlist_id(path.stem), title=path.stem), items=items)
    return FetchedPlaylist(playlist, warnings=warnings, has_parts="part" in _names(rows[0][1]))


def _head(rows: list[tuple[int, list[str]]]) -> int:
    """The row that names the columns: the first, but in files of Takeout that tell of the list first."""
    return next((at for at, (_, row) in enumerate(rows[:_BLOCK]) if "video" in _names(row)), 0)


def _names(header: list[str]) -> list[str]:
    words = (name.strip().lower().replace("_", " ") for name in header)
    return [_ALIASES.get(word, word) for word in words]


def _rows(rows: list[tuple[int, list[str]]], file: str, problems: list[Problem]) -> Iterator[Item]:
    line, header = rows[0]
    names = _names(header)
    absent = [name for name in ("title", "video") if name not in names]
    if absent:
        problems.append(Problem(file, line, "", f"the first line names no column {' and no column '.join(absent)}"))
        return
    parts: dict[str, int] = {}
    for number, (line, row) in enumerate(rows[1:], 1):
        cells = {name: cell.strip() for name, cell in zip(names, row, strict=False) if name in _FIELDS and cell.strip()}
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
