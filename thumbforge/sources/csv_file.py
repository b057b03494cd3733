"""A playlist in CSV, as people and spreadsheets write it.

The first line names the columns; in files of Google Takeout a block about the list may stand above it. A line `sep=;`
before all, as Excel wants one, says the delimiter. A problem is told with the line in which its row begins.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from thumbforge.errors import Problem, SourceError, SpecError
from thumbforge.models import Item, Playlist, PlaylistHead
from thumbforge.sources import cells as texts
from thumbforge.sources.fetched import FetchedPlaylist, playlist_id
from thumbforge.sources.links import video_in

HINT = "a CSV needs a first line `title,video,part`; save it as UTF-8"
SAVE_AS = "save it as UTF-8 (in Excel: `CSV UTF-8`)"
PLACE = "position"
"""The column that an export of ours has, and nobody else's file: where a row's item stands in the list."""
_NO_TITLES = "fetch the playlist by its address, which brings the titles; or add a column `title`"
_FIELDS = ("title", "video", "part", "label", "text", "topic", "picture")
_ALIASES = {
    "video id": "video", "id": "video", "url": "video", "video url": "video", "link": "video",
    "video title": "title", "name": "title",
}  # fmt: skip
_BLOCK = 4
"""Rows in which the columns' names are looked for."""
_SEP = re.compile(r"\s*\"?sep=(.)\"?\r?\n", re.IGNORECASE)
_LIKE_A_NUMBER = re.compile(r"-?[0-9]([.,][0-9]+)?E\+?[0-9]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Table:
    """A CSV taken apart: its columns by the names that we know them by, and under each row's line its cells, as they
    stand there. `line` is that of the columns' names, `is_lossy` that its program has a ? for some letters."""

    path: Path
    line: int
    names: tuple[str, ...]
    rows: Mapping[int, Mapping[str, str]]
    warnings: tuple[str, ...] = ()

    @property
    def is_lossy(self) -> bool:
        return bool(self.warnings)

    @property
    def is_export(self) -> bool:
        return PLACE in self.names and "video" in self.names


def read_table(text: str, path: Path, warnings: tuple[str, ...] = ()) -> Table:
    """The cells in the text of a CSV; `warnings` go along. SpecError for a text that is none."""
    said = _SEP.match(text)
    text, above = (text[said.end() :], 1) if said else (text, 0)
    delimiter = said[1] if said else max(",;\t", key=text.lstrip().split("\n", 1)[0].count)
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=delimiter, strict=True, skipinitialspace=delimiter != "\t"
    )
    rows: list[tuple[int, list[str]]] = []
    begins = above + 1
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                rows.append((begins, row))
            begins = above + reader.line_num + 1
    except csv.Error as error:
        told = "a quote is opened and not closed" if "end of data" in str(error) else str(error)
        raise SpecError([Problem(str(path), begins, "", f"not valid CSV: {told}")], hint=HINT) from None
    if not (rows := rows[_head(rows) :]):
        raise SourceError(f"{path.name} has no rows", hint=HINT)
    (line, header), *rows = rows
    names = _names(header)
    found = {at: _by_column(names, row) for at, row in rows}
    return Table(path, line, tuple(names), found, warnings)


def from_table(table: Table) -> FetchedPlaylist:
    """The list in it. SpecError with every wrong row, SourceError without rows."""
    problems: list[Problem] = []
    items = tuple(_rows(table, problems))
    if problems:
        is_bare = "video" in table.names and "title" not in table.names
        raise SpecError(problems, hint=_NO_TITLES if is_bare else HINT)
    if not items:
        raise SourceError(f"{table.path.name} has a header but no rows", hint=HINT)
    stem = table.path.stem
    playlist = Playlist(playlist=PlaylistHead(id=playlist_id(stem), title=stem), items=items)
    return FetchedPlaylist(playlist, warnings=table.warnings, has_parts="part" in table.names)


def no_video(cell: str) -> str:
    """Why a cell names no video."""
    if not cell.strip():
        return "is empty"
    also = "; the spreadsheet took it for a number: make the column text" if _LIKE_A_NUMBER.fullmatch(cell) else ""
    return f"`{cell[:40]}` is no video id (11 letters, digits, - or _) and no YouTube address{also}"


def _by_column(names: list[str], row: list[str]) -> dict[str, str]:
    """Of two columns of one name the later one that says something."""
    cells = dict.fromkeys(names, "")
    cells.update((name, cell) for name, cell in zip(names, row, strict=False) if cell.strip())
    return cells


def _head(rows: list[tuple[int, list[str]]]) -> int:
    """The row that names the columns: the first, but in files of Takeout that tell of the list first."""
    return next((at for at, (_, row) in enumerate(rows[:_BLOCK]) if "video" in _names(row)), 0)


def _names(header: list[str]) -> list[str]:
    words = (name.strip().lower().replace("_", " ") for name in header)
    return [_ALIASES.get(word, word) for word in words]


def _rows(table: Table, problems: list[Problem]) -> Iterator[Item]:
    file = str(table.path)
    absent = [name for name in ("title", "video") if name not in table.names]
    if absent:
        told = f"the first line names no column {' and no column '.join(absent)}"
        problems.append(Problem(file, table.line, "", told))
        return
    parts: dict[str, int] = {}
    said = texts.read if table.is_export else str
    for number, (line, row) in enumerate(table.rows.items(), 1):
        cells = {name: said(cell).strip() for name, cell in row.items() if name in _FIELDS and cell.strip()}
        if "part" not in table.names:
            cells["part"] = str(number)
        wrong = _row_faults(cells)
        if "part" in cells and (first := parts.setdefault(cells["part"].lstrip("0") or "0", line)) != line:
            wrong["part"] = f"part {cells['part']} is already in line {first}"
        problems.extend(Problem(file, line, name, message) for name, message in wrong.items())
        if not wrong:
            part = int(cells["part"]) if "part" in cells else None
            yield Item.model_validate({**cells, "video": video_in(cells["video"]), "part": part})


def _row_faults(cells: Mapping[str, str]) -> dict[str, str]:
    wrong = {name: "is empty" for name in ("title", "video") if name not in cells}
    if "video" in cells and video_in(cells["video"]) is None:
        wrong["video"] = no_video(cells["video"])
    if "part" in cells and not re.fullmatch(r"[0-9]{1,5}", cells["part"]):
        wrong["part"] = f"expected a whole number up to 99999, got `{cells['part'][:40]}`"
    for name, most in {"title": 1000, "text": 1000, "topic": 1000, "label": 100, "picture": 1000}.items():
        if len(cells.get(name, "")) > most:
            wrong[name] = f"is longer than {most} characters"
    return wrong
