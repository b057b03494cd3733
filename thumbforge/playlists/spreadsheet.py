"""A list as a spreadsheet has it: written as CSV for whoever shortens thirty texts, and taken back.

What comes back is compared with what was exported, cell by cell, so that what the YAML has learned since then stays:
only a cell that says something else than it was given changes the list, and only in that place.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from thumbforge import ids
from thumbforge.durable import in_place_of, read_regular, write_durably
from thumbforge.errors import Problem, SpecError, StoreError, UsageError
from thumbforge.models import Item, Playlist
from thumbforge.playlists.fields import OWN, Values, faults, with_values
from thumbforge.playlists.merge import Key, keyed
from thumbforge.sources.cells import plain, read, written
from thumbforge.sources.csv_file import PLACE, SAVE_AS, Table, no_video
from thumbforge.sources.links import video_in

CHANGEABLE = ("title", *OWN)
COLUMNS = (PLACE, "video", "title", "text", *(name for name in OWN if name != "text"))
_MARK = "\ufeff"
"""Excel reads UTF-8 by it."""
_PART = re.compile(r"0{0,9}[0-9]{1,6}")
_HINT = "nothing was changed: correct these lines, then fetch the file again"

Base = Mapping[str, Mapping[str, str]]
"""The cells of an export by item (`VIDEO:1`) and column."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A field that the file says otherwise; None is a field that is not there. `position` counts from 1."""

    position: int
    part: int | None
    video: str
    title: str
    field: str
    was: str | int | None
    now: str | int | None


@dataclass(frozen=True, slots=True)
class TakenBack:
    """The list with what the file says, and those of its videos that have no row in it, which stay as they are."""

    playlist: Playlist
    edits: tuple[Edit, ...]
    absent: tuple[str, ...] = field(default=())


def exported(playlist: Playlist) -> Base:
    """The cells of the list. What is removed has no row."""
    places = {key: place for place, key in enumerate(keyed(playlist.items), 1)}
    return {
        name_of(key): {PLACE: str(places[key]), "video": written(item.video), **_cells(item)}
        for key, item in keyed(playlist.items).items()
        if not item.removed
    }


def csv_text(cells: Base, delimiter: str = ",") -> str:
    """Every cell in quotes, so that no program splits one."""
    out = io.StringIO(newline="")
    table = csv.writer(out, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    table.writerows([COLUMNS, *([row[name] for name in COLUMNS] for row in cells.values())])
    return _MARK + out.getvalue()


def write_csv(path: Path, text: str, known: str | None) -> str:
    """The digest of what is written, whole or not at all. UsageError where a file lies there that is neither this nor
    the one that was `known`: somebody may have worked in it. StoreError where it cannot be written."""
    data = text.encode()
    digest = ids.sha256_hex(data)
    if path.exists() and digest_of(path) not in (known, digest):
        hint = f"thumbforge fetch {path.name} takes in what it says; or name another file"
        raise UsageError(f"{path.name} is there already, and not as it was exported", hint=hint)
    try:
        with in_place_of(path) as part:
            write_durably(part, data)
    except OSError as error:
        raise StoreError(f"{path.name} cannot be written: {error.strerror or error}", hint="check the path") from error
    return digest


def digest_of(path: Path) -> str | None:
    """By which a file is known again; None where it cannot be read."""
    try:
        return ids.sha256_hex(read_regular(path))
    except OSError:
        return None


def taken_back(playlist: Playlist, table: Table, base: Base, root: Path) -> TakenBack:
    """Pure. SpecError with every row that cannot be taken, by line: then none is."""
    file, problems = str(table.path), list[Problem]()
    columns = [name for name in CHANGEABLE if name in table.names]
    if "video" not in table.names or not columns:
        needs = "video" if "video" not in table.names else "text, or another that can be changed"
        raise SpecError([Problem(file, table.line, "", f"the first line names no column {needs}")], hint=_HINT)
    items = keyed(playlist.items)
    rows = _rows_of(table, items, base, problems)
    changed: dict[Key, Values] = {}
    for key, line in rows.items():
        values, wrong = _values(table, line, items[key], base.get(name_of(key), {}), columns)
        wrong |= faults(values, root) if values else {}
        problems += [Problem(file, line, name, message) for name, message in wrong.items()]
        if values and not wrong:
            changed[key] = values
    now = {key: with_values(item, changed[key]) if key in changed else item for key, item in items.items()}
    problems += _parts_given_twice(file, items, now, rows)
    if problems:
        raise SpecError(sorted(problems, key=lambda problem: problem.line), hint=_HINT)
    places = {key: place for place, key in enumerate(items, 1)}
    edits = (
        Edit(places[key], now[key].part, key[0], now[key].title, name, getattr(items[key], name), value)
        for key in items
        for name, value in changed.get(key, {}).items()
    )
    absent = tuple(key[0] for key, item in items.items() if key not in rows and not item.removed)
    return TakenBack(Playlist(playlist=playlist.playlist, items=tuple(now.values())), tuple(edits), absent)


def returned(playlist: Playlist, table: Table, base: Base) -> Base:
    """What the next file is compared with: what this one says, and of items without a row what was exported."""
    rows = _rows_of(table, keyed(playlist.items), base, [])
    said = {
        name_of(key): {name: cell for name, cell in table.rows[line].items() if name in COLUMNS}
        for key, line in rows.items()
    }
    return {**base, **{name: {**base.get(name, {}), **cells} for name, cells in said.items()}}


def name_of(key: Key) -> str:
    return f"{key[0]}:{key[1]}"


def _cells(item: Item) -> dict[str, str]:
    said = {name: getattr(item, name) for name in CHANGEABLE}
    return {
        name: value if name == "part" else written(value).replace("\0", "\ufffd")
        for name, value in ((name, "" if value is None else str(value)) for name, value in said.items())
    }


def _rows_of(table: Table, items: Mapping[Key, Item], base: Base, problems: list[Problem]) -> dict[Key, int]:
    """The line of each item that has one. A video that is listed more than once is told by the place that it had in the
    export, so that rows may be sorted and taken away."""
    file, found = str(table.path), dict[Key, int]()
    had = {(key, base[name_of(key)].get(PLACE)) for key in items if name_of(key) in base}
    has = {(key, str(place)) for place, key in enumerate(items, 1)}
    occurrences = Counter(video for video, _ in items)
    for line, row in table.rows.items():
        video = video_in(read(row["video"]).strip())
        if video is None:
            problems.append(Problem(file, line, "video", no_video(row["video"])))
            continue
        if video not in occurrences:
            problems.append(Problem(file, line, "video", f"{video} is not in the list; fetch its address to bring it"))
            continue
        keys = [(video, n) for n in range(1, occurrences[video] + 1)]
        place = row.get(PLACE, "").strip()
        meant = [key for known in (had, has) for key in keys if (key, place) in known] if keys[1:] else keys
        key = next(iter(meant), None) or next((key for key in keys if key not in found), keys[0])
        if key in found:
            problems.append(Problem(file, line, "video", f"{video} stands in line {found[key]} already"))
            continue
        found[key] = line
    return found


def _values(
    table: Table, line: int, item: Item, base: Mapping[str, str], columns: Sequence[str]
) -> tuple[dict[str, str | int | None], dict[str, str]]:
    """What the row says otherwise, by field, and why a cell cannot be taken."""
    values: dict[str, str | int | None] = {}
    wrong: dict[str, str] = {}
    for name in columns:
        cell, current = table.rows[line][name], getattr(item, name)
        if name == "part" and _PART.fullmatch(cell.strip()):
            cell = str(int(cell))
        said = ("" if current is None else str(current), base.get(name))
        if any(_is_same(cell, text) for text in said if text is not None):
            continue
        text = plain(read(cell))
        if table.is_lossy and not text.isascii():
            wrong[name] = f"`{text[:40]}` may be other letters than were typed: {SAVE_AS}"
        elif name == "part" and text and not _PART.fullmatch(text):
            wrong[name] = f"expected a whole number up to 100000, got `{text[:40]}`"
        elif name == "title" and not text:
            wrong[name] = "is empty"
        elif name == "part" and text:
            values[name] = int(text)
        else:
            values[name] = text or None
    return values, wrong


def _is_same(cell: str, said: str) -> bool:
    """Whether a cell says what it was given: as text, or with an apostrophe more or less, or with a ? for each letter
    that its program could not write."""
    there = plain(cell)
    forms = {plain(said), plain(read(said)), plain(written(said))}
    return there in forms or ("?" in there and any(re.fullmatch(_unwritten(form), there) for form in forms))


def _unwritten(text: str) -> str:
    """An emoji is two letters to programs that count as UTF-16 does."""
    return "".join(re.escape(char) if char.isascii() else rf"(?:{re.escape(char)}|\?\??)" for char in text)


def _parts_given_twice(
    file: str, was: Mapping[Key, Item], now: Mapping[Key, Item], rows: Mapping[Key, int]
) -> Iterator[Problem]:
    """At the lines that gave them: where two did, at the later one."""
    holders: dict[int, list[Key]] = {}
    for key, item in now.items():
        if item.part is not None:
            holders.setdefault(item.part, []).append(key)
    given = {key for key in now if now[key].part != was[key].part}
    for part, keys in holders.items():
        for key in given.intersection(keys) if keys[1:] else ():
            other = next(one for one in keys if one != key)
            if other not in given or rows[other] < rows[key]:
                where = f"in line {rows[other]}" if other in rows else f"that of {other[0]}, which has no row"
                yield Problem(file, rows[key], "part", f"part {part} is already {where}")
