"""What the sheet of a series shows: every thumbnail with what is known of it and what to type to change it.

Values only: no file is opened, no ledger asked. `sheet_page` makes the page of them, `contact` the picture.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

PICTURE = "sheet.png"
PAGES = re.compile(r"sheet(-[0-9]{1,6})?\.html")
MOST = 120
"""Items of the picture; one of more would be taller than what viewers of pictures open."""
PER_PAGE = 500
"""Items of a page: what a browser lays out and searches without a wait."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A file that is shown. `identity` moves when its bytes may have: its sha256 where that is known, else what the
    file was (name, size, time). Where the file lies is no part of what a sheet shows."""

    path: Path = field(repr=False, compare=False)
    identity: str


@dataclass(frozen=True, slots=True)
class Command:
    """What a reader may copy, and what it does."""

    does: str
    line: str


@dataclass(frozen=True, slots=True)
class Take:
    """One of the pictures that an item may have."""

    number: int
    picture: Picture
    in_use: bool


@dataclass(frozen=True, slots=True)
class Stray:
    """A file beside the pictures of a series that is none of them; `picture` where it is shown. `is_left`: ours, of an
    item that has left the list."""

    name: str
    picture: Picture | None = None
    is_left: bool = False


@dataclass(frozen=True, slots=True)
class SheetItem:
    """One thumbnail and what is known of it; every text is shown as it is, "" is not shown.

    `picture` is the file, None where there is none yet, and `identity` that of its bytes (`Picture`); `size` its
    pixels. `reason` says why it is out of date, `notes` are the report's warnings and violations, `duration` is in
    seconds, `good` is False for an item that needs a look. `is_old`: the picture is that of before, and another one is
    to be made. `file` is its name in out/, `text` what is drawn. `is_changed`: by the last run that made something,
    where `before` is the picture of before. `names` is what commands call it, `place` what those on the playlist do,
    `number` what `only=` does.
    """

    title: str
    part: str = ""
    picture: Path | None = None
    size: tuple[int, int] = (1920, 1080)
    alt: str = ""
    video: str = ""
    key: str = ""
    cost: str = ""
    status: str = ""
    reason: str = ""
    duration: float | None = None
    notes: tuple[str, ...] = ()
    good: bool = True
    identity: str = ""
    is_old: bool = False
    file: str = ""
    text: str = ""
    take: int = 0
    takes: tuple[Take, ...] = ()
    is_locked: bool = False
    is_changed: bool = False
    before: Picture | None = None
    names: str = ""
    place: str = ""
    number: str = ""
    commands: tuple[Command, ...] = ()

    @property
    def heading(self) -> str:
        return f"{self.part} · {self.title}" if self.part else self.title

    @property
    def description(self) -> str:
        """The picture in words, for those who do not see it."""
        return self.alt or f"Thumbnail: {self.heading}"

    @property
    def shown(self) -> Picture | None:
        return Picture(self.picture, self.identity) if self.picture else None

    @property
    def pictures(self) -> tuple[Picture, ...]:
        """All that is shown of it."""
        return tuple(filter(None, (self.shown, self.before, *(take.picture for take in self.takes))))


@dataclass(frozen=True, slots=True)
class Sheet:
    """`facts` are pairs of a name and a value for the page's head (template, provider, cost, when it was made).
    `series` is what commands call the series, `playlist` its list, "" where none of its words can be set. `strays` are
    the files beside the pictures that are not of this series."""

    title: str
    items: tuple[SheetItem, ...]
    channel: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    series: str = ""
    playlist: str = ""
    strays: tuple[Stray, ...] = ()

    @property
    def counts(self) -> tuple[tuple[str, int], ...]:
        """How many items have which status, in order of first appearance."""
        return tuple(Counter(item.status for item in self.items if item.status).items())

    def of_page(self, number: int) -> tuple[SheetItem, ...]:
        """The items of one page; `number` counts from 1."""
        return self.items[(number - 1) * PER_PAGE : number * PER_PAGE]

    def strays_of(self, number: int) -> tuple[Stray, ...]:
        """What is not of the series stands on the first page."""
        return self.strays if number == 1 else ()

    @property
    def page_names(self) -> tuple[str, ...]:
        return page_names(len(self.items))


def page_names(items: int) -> tuple[str, ...]:
    """File names of the pages of so many items: `sheet.html`, `sheet-2.html` …"""
    count = max(-(-items // PER_PAGE), 1)
    return ("sheet.html", *(f"sheet-{number}.html" for number in range(2, count + 1)))
