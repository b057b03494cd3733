"""`specs/locks/<series>.yaml`: what a series is, for people and machines that have no ledger. Text in, text out; pure.

    format: 1
    template: {"name": "plain", "version": 1, "hash": "…"}
    profile: {"name": "fake", "version": 1, "hash": "…"}
    hero: "…"
    drawn_with: {"finaliser": "4", …}
    items:
    - {"video": "dQw4w9WgXcQ", "place": 1, …, "name": "07-dQw4w9WgXcQ.jpg"}

It is YAML, and read by line: an item is a line, so that a change of one item is a change of one line. Everything in it
came with a clone: a text is believed to be a key, a hash or a name only where it has the shape of one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple, NoReturn

from thumbforge.errors import Problem, SpecError
from thumbforge.text import one_line

FORMAT = 1
MAX_BYTES = 50_000_000
TOLD = 10
"""Items that one message names."""
_REMARK = "# What this series is: written by thumbforge, committed with its specs. No line of it is edited by hand.\n"

_KEY, _HASH, _COUNT = "[0-9a-f]{32}", "[0-9a-f]{64}", "[1-9][0-9]{0,5}"
_VIDEO = "[A-Za-z0-9_-]{11}"
_NAME = r"[^./\\\x00-\x1f\x7f][^/\\\x00-\x1f\x7f]{0,250}"
_NAMED = r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}"
_VERSION = r"[A-Za-z0-9][A-Za-z0-9.+_-]{0,63}"


class Entry(NamedTuple):
    """One item: a video at its place (the how manieth time that the list has it), the art in use, and its final.

    `art` and `final` are the sha256 of their bytes, `name` is the file's in out/<series>/.
    """

    video: str
    place: int
    key: str
    art_key: str
    art: str
    take: int
    approved: bool
    final_key: str
    final: str
    name: str

    @property
    def shown(self) -> str:
        """As a task is called after its series."""
        return self.video if self.place == 1 else f"{self.video}:{self.place}"


FIELDS = ("video", "place", "key", "art_key", "art_sha256", "take", "approved", "final_key", "final_sha256", "name")
"""The fields of an entry as they are written, in their order."""
_SHAPES = (_VIDEO, _COUNT, _KEY, _HASH, _HASH, _COUNT, "true|false", _HASH, _HASH, _NAME)
_QUOTED = [not shape.startswith("[1-9]") and shape != "true|false" for shape in _SHAPES]
_LINE = re.compile(
    r"- \{"
    + ", ".join(
        f'"{name}": "({shape})"' if quoted else f'"{name}": ({shape})'
        for name, shape, quoted in zip(FIELDS, [*_SHAPES[:-1], _NAME.replace("[^", '[^"')], _QUOTED, strict=True)
    )
    + r"\}"
)
"""A line as we write it. One with other blanks or with escapes is read as JSON, which takes longer."""


@dataclass(frozen=True, slots=True)
class Named:
    """A template or a profile: what it is called, for people, and the hash that tells it."""

    name: str
    version: int
    hash: str


@dataclass(frozen=True, slots=True)
class Head:
    """What all items have in common; `drawn_with` are versions of what the finals were drawn with."""

    template: Named
    profile: Named
    hero: str
    drawn_with: Mapping[str, str]


Place = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock file's content. `entries` has what stands for a place, in the order of the file: more than one only where
    a merge kept the lines of both sides."""

    head: Head
    entries: Mapping[Place, tuple[Entry, ...]] = field(default_factory=dict)

    def of(self, video: str, place: int, art_key: Callable[[int], str]) -> Entry | None:
        """The entry that stands for a place: of several the one whose art key the specs give, by its take."""
        found = self.entries.get((video, place), ())
        return found[0] if len(found) == 1 else next((e for e in found if e.art_key == art_key(e.take)), None)

    def without(self, places: Iterable[Place]) -> Lock:
        """The same with nothing said of these places: something else is wanted there now."""
        gone = set(places)
        return Lock(self.head, {place: found for place, found in self.entries.items() if place not in gone})

    @property
    def all(self) -> tuple[Entry, ...]:
        """One entry for each place, in the order of the file; the last one that a merge has kept."""
        return tuple(found[-1] for found in self.entries.values())

    @property
    def is_merged(self) -> bool:
        """Whether a merge left more than one line for a place."""
        return any(len(found) > 1 for found in self.entries.values())


def lock_text(head: Head, entries: Iterable[Entry]) -> str:
    """The file: sorted by video and place, so that neither a renumbering nor another order moves a line."""
    lines = [
        _REMARK,
        f"format: {FORMAT}\n",
        f"template: {_named(head.template)}\n",
        f"profile: {_named(head.profile)}\n",
        f'hero: "{head.hero}"\n',
        f"drawn_with: {json.dumps(dict(sorted(head.drawn_with.items())))}\n",
        "items:\n",
        *map(entry_line, sorted(entries)),
    ]
    return "".join(lines)


def _named(found: Named) -> str:
    return json.dumps({"name": found.name, "version": found.version, "hash": found.hash}, ensure_ascii=False)


def entry_line(entry: Entry) -> str:
    values = dict(zip(FIELDS, entry, strict=True))
    return f"- {json.dumps(values, ensure_ascii=False)}\n"


def read_lock(text: str, file: str, series: str) -> Lock:
    """The content of the lock file `file` (its path in messages) of `series`.

    Raises SpecError: for a merge that git left open, with the line and what to type, for a line that says what it
    cannot, and for a merge that kept two choices of art for an item.
    """
    reader = _Reader(file, series)
    text = text.replace("\r\n", "\n")
    if lock := _as_written(reader, text):
        return lock
    lines = text.split("\n")
    if marks := [n for n, line in enumerate(lines, 1) if _MARK.match(line)]:
        reader.refuse_marks(lines, marks[0])
    at = next((n for n, line in enumerate(lines, 1) if line.rstrip() == "items:"), 0)
    if not at:
        reader.refuse(1, "", "is no lock file: a line `items:` is missing")
    head = reader.head(lines[: at - 1])
    entries = _joined(reader, reader.items(lines, at))
    reader.raise_if_any()
    assert head is not None
    return Lock(head, entries)


def _as_written(reader: _Reader, text: str) -> Lock | None:
    """A file as we write it, read at once: a plan over thousands of items waits for it. None for any other."""
    above, items, below = text.partition("\nitems:\n")
    found = _LINES.findall(below)
    if not items or len(found) != below.count("\n") or "\n<<<<<<<" in above or not _has_shapes(found):
        return None
    entries = {(entry.video, entry.place): (entry,) for entry in map(_entry, found)}
    if len(entries) < len(found):
        return None
    head = reader.head(above.split("\n"))
    reader.raise_if_any()
    return Lock(head, entries) if head else None


_OF_HEX = frozenset(n for n, shape in enumerate(_SHAPES) if shape in {_KEY, _HASH})
_LINES = re.compile(
    "^" + _LINE.pattern.replace(_KEY, "(?s:.{32})").replace(_HASH, "(?s:.{64})").replace(_VIDEO, "(?s:.{11})") + "$",
    re.MULTILINE,
)
"""Lengths alone: what is between the quotes is looked at for all lines together, which takes a third of the time."""
_HEX = b"0123456789abcdef"
_OF_A_VIDEO = re.sub(rb"[^A-Za-z0-9_-]", b"", bytes(range(256)))


def _has_shapes(found: Sequence[tuple[str, ...]]) -> bool:
    """Whether the fields that `_LINES` has taken by their length are made of what they have to be made of."""
    columns = list(zip(*found, strict=True))
    try:
        hexes = "".join(chain.from_iterable(columns[n] for n in _OF_HEX)).encode("ascii") if columns else b""
        videos = "".join(columns[0]).encode("ascii") if columns else b""
    except UnicodeEncodeError:
        return False
    return not hexes.translate(None, _HEX) and not videos.translate(None, _OF_A_VIDEO)


_MARK = re.compile(r"(<{7}|={7}|>{7}|\|{7})( |$)")


class _Reader:
    """Collects what is wrong, each with its line."""

    def __init__(self, file: str, series: str) -> None:
        self._file, self._series = file, series
        self._problems: list[Problem] = []

    def refuse(self, line: int, where: str, message: str, hint: str = "") -> NoReturn:
        raise SpecError([Problem(self._file, line, where, message)], hint=hint or self._hint())

    def _hint(self) -> str:
        return (
            f"git checkout {self._file} puts it back; without the file thumbforge batch series={self._series} writes it"
        )

    def complain(self, line: int, where: str, message: str) -> None:
        self._problems.append(Problem(self._file, line, where, message))

    def raise_if_any(self) -> None:
        if self._problems:
            shown = self._problems[:100]
            raise SpecError(shown, hint=self._hint(), more=len(self._problems) - len(shown))

    def refuse_marks(self, lines: Sequence[str], first: int) -> NoReturn:
        """A merge that was not finished; where both sides chose another art, their choice is somebody's to make."""
        ours, theirs = _sides(lines)
        chosen = {e.shown: (e.art_key, e.art) for e in self._read_quietly(ours)}
        other = {e.shown: (e.art_key, e.art) for e in self._read_quietly(theirs)}
        apart = sorted(name for name in chosen.keys() & other.keys() if chosen[name] != other[name])
        both = f"; its sides chose different art for {_few(apart)}" if apart else ""
        self.refuse(
            first,
            "",
            f"a merge is not finished{both}",
            f"git checkout --ours {self._file} keeps what was chosen here, git checkout --theirs {self._file} what the"
            f" others chose; then thumbforge batch series={self._series}",
        )

    def _read_quietly(self, lines: Iterable[str]) -> Iterator[Entry]:
        return (_entry(found.groups()) for line in lines if (found := _LINE.fullmatch(line)))

    def head(self, lines: Sequence[str]) -> Head | None:
        """A line of a merge that kept both sides may stand twice: then the last one counts, and a run puts it right."""
        told: dict[str, tuple[int, Any]] = {}
        for n, line in enumerate(lines, 1):
            if not line.strip() or line.startswith("#"):
                continue
            name, colon, value = line.partition(":")
            try:
                told[name] = n, json.loads(value)
            except (ValueError, RecursionError):
                self.complain(n, name if colon else "", f"cannot be read: {one_line(line, 60)!r}")
        return None if self._problems else self._checked_head(told)

    def _checked_head(self, told: Mapping[str, tuple[int, Any]]) -> Head | None:
        names = ("format", "template", "profile", "hero", "drawn_with")
        for name in told.keys() - set(names):
            self.complain(told[name][0], name, "is no field of a lock file")
        for name in names:
            if name not in told:
                self.complain(1, name, "is missing")
        if self._problems:
            return None
        line, version = told["format"]
        if version != FORMAT:
            hint = "use the thumbforge that the others of this project use" if _is_newer(version) else ""
            self.refuse(line, "format", f"is {version!r}; this thumbforge reads {FORMAT}", hint)
        template = self._named(*told["template"], "template", _HASH)
        profile = self._named(*told["profile"], "profile", _KEY)
        line, hero = told["hero"]
        if not _has_shape(hero, f"{_HASH}|"):
            self.complain(line, "hero", "expected a sha256")
        line, versions = told["drawn_with"]
        is_right = isinstance(versions, dict) and all(
            _has_shape(name, "[a-z]{1,32}") and _has_shape(value, _VERSION) for name, value in versions.items()
        )
        if not is_right:
            self.complain(line, "drawn_with", "expected versions by name")
        if self._problems or template is None or profile is None:
            return None
        return Head(template, profile, hero, versions)

    def _named(self, line: int, value: Any, where: str, shape: str) -> Named | None:
        if (
            isinstance(value, dict)
            and value.keys() == {"name", "version", "hash"}
            and _has_shape(value["name"], _NAMED)
            and isinstance(value["version"], int)
            and _has_shape(value["hash"], shape)
        ):
            return Named(value["name"], value["version"], value["hash"])
        self.complain(line, where, "expected a name, a version and a hash")
        return None

    def items(self, lines: Sequence[str], at: int) -> Iterator[tuple[int, Entry]]:
        for n, line in enumerate(lines[at:], at + 1):
            if found := _LINE.fullmatch(line):
                yield n, _entry(found.groups())
            elif line.strip() and not line.startswith("#") and (entry := self._slowly(n, line)):
                yield n, entry

    def _slowly(self, line: int, text: str) -> Entry | None:
        """An item that is not written as we write it, or not right."""
        try:
            values = json.loads(text.removeprefix("- "))
        except (ValueError, RecursionError):
            values = None
        if not text.startswith("- ") or not isinstance(values, dict):
            self.complain(line, "items", f"expected `- {{…}}` with one item, found {one_line(text, 40)!r}")
            return None
        before = len(self._problems)
        for name in values.keys() - set(FIELDS):
            self.complain(line, one_line(str(name), 40), "is no field of an item")
        for name, shape, quoted in zip(FIELDS, _SHAPES, _QUOTED, strict=True):
            if name not in values:
                self.complain(line, name, "is missing")
            elif not _is_of_shape(values[name], shape, quoted):
                self.complain(line, name, f"expected {_EXPECTED[shape]}, found {one_line(repr(values[name]), 60)}")
        return Entry(*(values[name] for name in FIELDS)) if len(self._problems) == before else None

    def refuse_choice(self, found: Sequence[tuple[int, Entry]]) -> None:
        (one, _), (other, entry) = found[0], found[-1]
        text = f"the sides of a merge chose different art for {entry.shown}: keep line {one} or line {other}"
        self.complain(other, "items", text)


_EXPECTED = {
    _VIDEO: "a video id",
    _COUNT: "a whole number from 1",
    _KEY: "32 hex digits",
    _HASH: "64 hex digits",
    "true|false": "true or false",
    _NAME: "the name of a file in out/",
}


def _entry(found: tuple[str, ...]) -> Entry:
    video, place, key, art_key, art, take, approved, final_key, final, name = found
    return Entry(video, int(place), key, art_key, art, int(take), approved == "true", final_key, final, name)


def _joined(reader: _Reader, found: Iterable[tuple[int, Entry]]) -> dict[Place, tuple[Entry, ...]]:
    """Items by place. What a merge kept of both sides is one where both mean the same art, approved if one side
    approved it; two of one request are a choice that nobody has made; of two requests the specs will tell which."""
    lines: dict[Place, list[tuple[int, Entry]]] = {}
    for n, entry in found:
        lines.setdefault((entry.video, entry.place), []).append((n, entry))
    return {place: (own[0][1],) if len(own) == 1 else _settled(reader, own) for place, own in lines.items()}


def _settled(reader: _Reader, found: Sequence[tuple[int, Entry]]) -> tuple[Entry, ...]:
    """Two different takes of one item are a choice as well: both may be what the specs ask for."""
    by_take: dict[int, dict[str, Entry]] = {}
    for _, entry in found:
        same = by_take.setdefault(entry.take, {})
        before = same.get(entry.art_key)
        if before and before.art != entry.art:
            reader.refuse_choice(found)
            return ()
        same[entry.art_key] = entry._replace(approved=entry.approved or bool(before and before.approved))
    if len(by_take) > 1:
        reader.refuse_choice(found)
        return ()
    [kept] = by_take.values()
    last = found[-1][1]
    # A second of the same request is kept, too: it tells that the file has to be written anew.
    return (*kept.values(), kept[last.art_key]) if len(kept) == 1 else tuple(kept.values())


def _sides(lines: Iterable[str]) -> tuple[list[str], list[str]]:
    """What stands between a merge's marks: on this side, and on the other."""
    sides: tuple[list[str], list[str], list[str]] = ([], [], [])
    at = None
    for line in lines:
        if mark := _MARK.match(line):
            at = {"<": 0, "|": 2, "=": 1, ">": None}[mark[1][0]]
        elif at is not None:
            sides[at].append(line)
    return sides[0], sides[1]


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - TOLD} more" if len(names) > TOLD else ""
    return ", ".join(names[:TOLD]) + more


def _has_shape(value: object, shape: str) -> bool:
    return isinstance(value, str) and re.fullmatch(shape, value) is not None


def _is_count(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value < 1_000_000


def _is_of_shape(value: object, shape: str, quoted: bool) -> bool:
    if shape == "true|false":
        return isinstance(value, bool)
    return _has_shape(value, shape) if quoted else _is_count(value, 1)


def _is_newer(version: object) -> bool:
    return _is_count(version, FORMAT + 1)
