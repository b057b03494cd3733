"""The sheet as a page: one HTML file with its style and script in it, asking nobody for anything.

The template escapes all that it is given. The policy in the page's head lets run what is ours, by its hash, and load
nothing but pictures; sizes are those at which YouTube shows thumbnails, in CSS pixels.
"""

from __future__ import annotations

import base64
import hashlib
import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from thumbforge.durable import write_whole
from thumbforge.imaging.sheet import PER_PAGE, Command, Picture, Sheet, SheetItem, Stray, Take
from thumbforge.text import without_controls

if TYPE_CHECKING:
    from jinja2 import Template

_PARTS = Path(__file__).with_name("page")
_VIDEO, _STUDIO = "https://www.youtube.com/watch?v={}", "https://studio.youtube.com/video/{}/edit"
_CLEAR = "thumbforge prune --orphans --apply"

Small = Callable[[Picture], str]
"""The address of what is shown of a picture, from the page; "" where it cannot be shown."""


class Surface(NamedTuple):
    """Where viewers meet a thumbnail: a name, what it is, and its width in CSS pixels."""

    id: str
    name: str
    about: str
    width: int


SURFACES = (
    Surface("home", "Home", "The grid on the home page", 360),
    Surface("search", "Search", "Search results", 246),
    Surface("sidebar", "Sidebar", "The column beside a video: the size that decides", 168),
    Surface("mobile", "Mobile", "A list on a phone", 120),
    Surface("tv", "TV", "A row on a television", 560),
)


class Filter(NamedTuple):
    id: str
    name: str


FILTERS = (
    Filter("all", "All"),
    Filter("changed", "Changed in the last run"),
    Filter("failed", "Failed"),
    Filter("open", "Out of date"),
    Filter("warned", "Warned"),
)


def write_page(sheet: Sheet, target: Path, number: int = 1, small: Small | None = None) -> None:
    """Write one of the HTML pages to `target` (its folder exists); a reader never sees half of it."""
    write_whole(target, page(sheet, target.parent, number, small).encode())


def page(sheet: Sheet, folder: Path, number: int = 1, small: Small | None = None) -> str:
    """A page's HTML for a file that lies in `folder`. Without `small`, each picture stands for itself."""
    here = folder.resolve()

    def full(picture: Picture) -> str:
        return _address(picture.path, here)

    first = (number - 1) * PER_PAGE + 1
    return _render(sheet, sheet.of_page(number), sheet.strays_of(number), first, number, small or full, full)


def packed(sheet: Sheet, small: Small) -> str:
    """All of the sheet in one file that can be sent: no other file belongs to it, so nothing leads to one."""
    return _render(sheet, sheet.items, sheet.strays, 1, 0, small, lambda picture: "")


def states(item: SheetItem) -> tuple[str, ...]:
    """The filters that an item passes, but for "all"."""
    found = {
        "changed": item.is_changed,
        "failed": item.status == "failed",
        "open": item.is_old or item.status == "pending",
        "warned": bool(item.notes),
    }
    return tuple(name for name, holds in found.items() if holds)


def commands(sheet: Sheet, item: SheetItem) -> tuple[Command, ...]:
    """What changes an item, the likeliest first."""
    if not item.names:
        return item.commands
    found = []
    batch = f"thumbforge batch {sheet.series} only={item.number}"
    if item.status != "completed":
        found.append(Command("Make it", batch))
    if sheet.playlist:
        text = shlex.quote(item.text.replace("\n", "\\n"))
        found.append(Command("Other words", f"thumbforge playlist set {sheet.playlist} {item.place} text={text}"))
    if item.status == "completed":
        verb = "unlock" if item.is_locked else "lock"
        found += [] if item.is_locked else [Command("Another picture", f"{batch} retake=yes")]
        found.append(Command(verb.capitalize(), f"thumbforge takes {verb} {item.names} {sheet.series}"))
    return (*item.commands, *found)


def clock(seconds: float | None) -> str:
    """A duration as YouTube's mark shows it: 0:07, 12:34, 1:02:03; dashes where it is unknown."""
    if seconds is None:
        return "--:--"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def _render(
    sheet: Sheet,
    items: Sequence[SheetItem],
    strays: Sequence[Stray],
    first: int,
    number: int,
    small: Small,
    full: Small,
) -> str:
    from markupsafe import Markup

    style, script = _part("sheet.css"), _part("sheet.js")
    counts = {name: sum(name in states(item) for item in items) for name, _ in FILTERS} | {"all": len(items)}
    text = _template().render(
        sheet=sheet,
        cards=[_card(sheet, item, at, small, full) for at, item in enumerate(items, first)],
        strays=[
            {
                "name": stray.name,
                "is_left": stray.is_left,
                **(_pair(stray.picture, small, full) if stray.picture else {"src": ""}),
            }
            for stray in strays
        ],
        clear=Command("Take away what is left of items that the list no longer has", _CLEAR),
        places=SURFACES,
        filters=[(name, said, counts[name]) for name, said in FILTERS],
        names=sheet.page_names if number else (),
        number=number,
        style=Markup(style),  # noqa: S704 - ours, from the package
        script=Markup(script),  # noqa: S704
        policy=_policy(style, script, "data:" if number == 0 else "'self' file: data:"),
    )
    return without_controls(text)


@cache
def _template() -> Template:
    """Compiled once: a series of hundreds has several pages, a run several series."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(_part("sheet.html"))


def _card(sheet: Sheet, item: SheetItem, number: int, small: Small, full: Small) -> Mapping[str, Any]:
    facts = (
        ("Text", item.text if item.text != item.title else ""),
        ("Status", item.status),
        ("Take", f"{item.take} of {len(item.takes)}" if item.takes else ""),
        ("Locked", "yes: its picture stays as it is" if item.is_locked else ""),
        ("File", item.file),
        ("Cost", item.cost),
        ("Key", item.key),
        ("Video", item.video),
    )
    return {
        "item": item,
        "id": f"item-{number}",
        "states": " ".join(states(item)),
        "src": small(item.shown) if item.shown else "",
        "full": full(item.shown) if item.shown else "",
        "before": _pair(item.before, small, full) if item.before else None,
        "takes": [{**_pair(take.picture, small, full), **_take(sheet, item, take)} for take in item.takes],
        "video": _VIDEO.format(quote(item.video)) if item.video else "",
        "studio": _STUDIO.format(quote(item.video)) if item.video else "",
        "mark": clock(item.duration),
        "facts": [(name, value) for name, value in facts if value],
        "commands": commands(sheet, item),
    }


def _pair(picture: Picture, small: Small, full: Small) -> dict[str, Any]:
    return {"src": small(picture), "full": full(picture)}


def _take(sheet: Sheet, item: SheetItem, take: Take) -> dict[str, Any]:
    line = f"thumbforge takes use {item.names} {take.number} {sheet.series}"
    is_free = not take.in_use and not item.is_locked
    return {
        "number": take.number,
        "in_use": take.in_use,
        "command": Command("Use this take", line) if is_free else None,
    }


@cache
def _part(name: str) -> str:
    return (_PARTS / name).read_text(encoding="utf-8")


def _policy(style: str, script: str, pictures: str) -> str:
    hashes = [f"'sha256-{base64.b64encode(hashlib.sha256(t.encode()).digest()).decode()}'" for t in (style, script)]
    return (
        f"default-src 'none'; img-src {pictures}; style-src {hashes[0]}; script-src {hashes[1]};"
        " base-uri 'none'; form-action 'none'"
    )


def _address(picture: Path, folder: Path) -> str:
    """Relative to the page where that is possible (on Windows another drive is not)."""
    try:
        return quote(Path(os.path.relpath(picture.resolve(), folder)).as_posix())
    except ValueError:
        return picture.resolve().as_uri()
