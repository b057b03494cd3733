"""What a list was at any time, and what changed in it, when and by what: read from the ledger's facts.

The facts follow the YAML: a fetch, a renumbering and a batch state what it says. An edit by hand is stated, and dated,
by the first of these that sees it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from thumbforge.playlists.ingest import By
from thumbforge.playlists.merge import Key, out_of_order
from thumbforge.store.facts import Fact
from thumbforge.store.runs import Ingest

Kind = Literal["added", "returned", "removed", "renamed", "renumbered", "moved"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a list as it was. `position` counts from 1 in the YAML, where removed ones have a place too."""

    position: int
    part: int | None
    video: str
    title: str


@dataclass(frozen=True, slots=True)
class Change:
    """What a run told of one entry, `at` epoch seconds. `by` is None where the run does not say, or is deleted; `was`
    is the title, part or place before, as the kind has it. Places count the entries that are there, from 1."""

    at: float
    run: str
    by: By | None
    kind: Kind
    video: str
    title: str
    part: int | None
    place: int
    was: str | int | None = None


def entries_at(facts: Iterable[Fact], at: float) -> list[Entry]:
    """The list at a moment (epoch seconds), in its order; empty where it was not known yet."""
    held: defaultdict[Key, dict[str, Any]] = defaultdict(dict)
    for fact in facts:
        if fact.valid_from <= at and (fact.valid_to is None or at < fact.valid_to):
            held[fact.entry][fact.predicate] = fact.value
    return list(_listed(held).values())


def changes(facts: Iterable[Fact], ingests: Sequence[Ingest]) -> Iterator[Change]:
    """Each change once, the oldest first. `ingests`: the list's runs in the order in which they were written, which
    tells two of the same instant apart."""
    order = {run.id: number for number, run in enumerate(ingests)}
    by = {run.id: run.params.get("by") for run in ingests}
    held: defaultdict[Key, dict[str, Any]] = defaultdict(dict)
    known: set[Key] = set()
    before: dict[Key, Entry] = {}
    for moment in sorted(_moments(facts), key=lambda moment: (moment.at, order.get(moment.run, -1))):
        for key, predicate in moment.closed:
            held[key].pop(predicate, None)
        for key, predicate, value in moment.opened:
            held[key][predicate] = value
        now = _listed(held)
        template = Change(moment.at, moment.run, by.get(moment.run), "added", "", "", None, 0)
        yield from _told(template, before, now, known)
        before = now
        known |= now.keys()


@dataclass(frozen=True, slots=True)
class _Moment:
    """What one run stated: what it opened, by entry and predicate, and what it closed."""

    at: float
    run: str
    opened: list[tuple[Key, str, Any]] = field(default_factory=list)
    closed: list[tuple[Key, str]] = field(default_factory=list)


def _moments(facts: Iterable[Fact]) -> Iterable[_Moment]:
    moments: dict[tuple[float, str], _Moment] = {}

    def moment(at: float, run: str) -> _Moment:
        return moments.setdefault((at, run), _Moment(at, run))

    for fact in facts:
        moment(fact.valid_from, fact.opened_by).opened.append((fact.entry, fact.predicate, fact.value))
        if fact.valid_to is not None and fact.closed_by is not None:
            moment(fact.valid_to, fact.closed_by).closed.append((fact.entry, fact.predicate))
    return moments.values()


def _listed(held: dict[Key, dict[str, Any]]) -> dict[Key, Entry]:
    entries = {
        key: Entry(values.get("position", 0), values.get("part"), key[0], values.get("title", ""))
        for key, values in held.items()
        if values.get("member")
    }
    return dict(sorted(entries.items(), key=lambda pair: pair[1].position))


def _told(moment: Change, before: dict[Key, Entry], now: dict[Key, Entry], known: set[Key]) -> Iterator[Change]:
    places = {key: place for place, key in enumerate(before, 1)}
    moved = out_of_order([places[key] for key in now if key in places])

    def change(kind: Kind, entry: Entry, place: int, was: str | int | None = None) -> Change:
        return replace(moment, kind=kind, video=entry.video, title=entry.title, part=entry.part, place=place, was=was)

    for key, entry in before.items():
        if key not in now:
            yield change("removed", entry, places[key])
    for place, (key, entry) in enumerate(now.items(), 1):
        if key not in before:
            yield change("returned" if key in known else "added", entry, place)
            continue
        was = before[key]
        if entry.title != was.title:
            yield change("renamed", entry, place, was.title)
        if entry.part != was.part:
            yield change("renumbered", entry, place, was.part)
        if places[key] in moved:
            yield change("moved", entry, place, places[key])
