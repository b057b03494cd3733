"""The sheet of a series: one page and one picture that show every thumbnail at the sizes at which viewers meet it.

Pure functions of a `Sheet`; they open no ledger and call nobody. The page is one static file: no script, nothing from
elsewhere; pictures are named relative to it, so the folder can be moved or opened from a disk.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from thumbforge.durable import write_whole
from thumbforge.text import without_controls

PICTURE = "sheet.png"
MOST = 120
"""Items of the picture; one of more would be taller than what viewers of pictures open."""
PER_PAGE = 500
"""Items of a page. Each is shown at six sizes, and a browser takes seconds for more than a few thousand pictures."""


@dataclass(frozen=True, slots=True)
class SheetItem:
    """One thumbnail and what is known of it; every text is shown as it is, "" is not shown.

    `picture` is the finished file, None where there is none yet; `size` its pixels. `reason` says why it is out of
    date, `notes` are the report's warnings and violations, `duration` is in seconds, `good` is False for an item that
    needs a look.
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

    @property
    def heading(self) -> str:
        return f"{self.part} · {self.title}" if self.part else self.title

    @property
    def description(self) -> str:
        """The picture in words, for those who do not see it."""
        return self.alt or f"Thumbnail: {self.heading}"


@dataclass(frozen=True, slots=True)
class Sheet:
    """`facts` are pairs of a name and a value for the page's head (template, provider, cost, when it was made)."""

    title: str
    items: tuple[SheetItem, ...]
    channel: str = ""
    facts: tuple[tuple[str, str], ...] = ()

    @property
    def counts(self) -> tuple[tuple[str, int], ...]:
        """How many items have which status, in order of first appearance."""
        return tuple(Counter(item.status for item in self.items if item.status).items())

    def of_page(self, number: int) -> tuple[SheetItem, ...]:
        """The items of one page; `number` counts from 1."""
        return self.items[(number - 1) * PER_PAGE : number * PER_PAGE]

    @property
    def page_names(self) -> tuple[str, ...]:
        return page_names(len(self.items))


def page_names(items: int) -> tuple[str, ...]:
    """File names of the pages of so many items: `sheet.html`, `sheet-2.html` …"""
    count = max(-(-items // PER_PAGE), 1)
    return ("sheet.html", *(f"sheet-{number}.html" for number in range(2, count + 1)))


def write_page(sheet: Sheet, target: Path, number: int = 1) -> None:
    """Write one of the HTML pages to `target` (its folder exists); a reader never sees half of it."""
    write_whole(target, without_controls(page(sheet, target.parent, number)).encode())


def page(sheet: Sheet, folder: Path, number: int = 1) -> str:
    """A page's HTML for a file that lies in `folder`."""
    from jinja2 import Environment, StrictUndefined

    from thumbforge.imaging.sheet_page import PAGE, SURFACES

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    here, first = folder.resolve(), (number - 1) * PER_PAGE + 1
    cards = [_card(item, at, here) for at, item in enumerate(sheet.of_page(number), first)]
    return environment.from_string(PAGE).render(
        sheet=sheet, cards=cards, places=SURFACES, names=sheet.page_names, number=number
    )


def clock(seconds: float | None) -> str:
    """A duration as YouTube's mark shows it: 0:07, 12:34, 1:02:03; dashes where it is unknown."""
    if seconds is None:
        return "--:--"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def _card(item: SheetItem, number: int, folder: Path) -> Mapping[str, Any]:
    facts = (("Status", item.status), ("Cost", item.cost), ("Key", item.key), ("Video", item.video))
    return {
        "item": item,
        "id": f"item-{number}",
        "src": _address(item.picture, folder) if item.picture else "",
        "mark": clock(item.duration),
        "facts": [(name, value) for name, value in facts if value],
    }


def _address(picture: Path, folder: Path) -> str:
    """Relative to the page where that is possible (on Windows another drive is not)."""
    try:
        return quote(Path(os.path.relpath(picture.resolve(), folder)).as_posix())
    except ValueError:
        return picture.resolve().as_uri()
