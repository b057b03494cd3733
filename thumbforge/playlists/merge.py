"""A fetched playlist brought into the one that is there. Pure: nothing is read or written here.

What YouTube says (title, duration, order, what is listed) is taken over; what the user wrote (part, label, text, topic,
picture, vars, language) is never touched. A video that is not listed any more stays, marked `removed`, and comes back
when it is listed again. An item is known by its video and, where that is listed more than once, by which time it is.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal

from thumbforge.models import Item, Playlist, PlaylistHead
from thumbforge.sources.fetched import FetchedPlaylist
from thumbforge.sources.part_marks import MAX_PART, part_in

Key = tuple[str, int]
"""A video and its occurrence, which counts from 1."""

Numbering = Literal["next", "from-title", "position", "none", "proposed"]
"""How new videos get their parts; "proposed" is what the titles of a list seem to want."""
Taken = Literal["next", "from-title", "position", "none", "source"]
"""How they got them in the end; "source" is what a CSV says."""
Kind = Literal["added", "returned", "removed", "renamed", "moved"]

NOTHING: Mapping[str, str] = MappingProxyType({})
DURATION_SLACK_S = 1.0  # sources round differently


@dataclass(frozen=True, slots=True)
class ListChange:
    """What a fetch changes. `position` and `was` are the new and the old place, or title, as the kind has it."""

    kind: Kind
    video: str
    title: str
    part: int | None
    position: int
    was: str | int | None = None


@dataclass(frozen=True, slots=True)
class Merged:
    playlist: Playlist
    changes: tuple[ListChange, ...]
    warnings: tuple[str, ...] = ()
    disagreements: tuple[str, ...] = ()
    """Titles with another number than their part, one line for each; among the warnings, too."""
    numbering: Taken = "next"
    """How new videos got their parts."""
    held: Mapping[str, str] = field(default_factory=dict)
    """By item (`VIDEO:1`) the title that was not taken over, because every title would have changed at once."""


def keyed(items: Iterable[Item]) -> dict[Key, Item]:
    """The items by their keys, in order."""
    seen: Counter[str] = Counter()
    found = {}
    for item in items:
        seen[item.video] += 1
        found[item.video, seen[item.video]] = item
    return found


def merge(
    old: Playlist | None,
    fetched: FetchedPlaylist,
    numbering: Numbering = "next",
    *,
    whole: bool = True,
    rename: bool = False,
    held: Mapping[str, str] = NOTHING,
    head_before: Mapping[str, Any] | None = None,
) -> Merged:
    """The playlist as it is from now on. Merging the same again changes nothing.

    `whole`: the list is not shorter than it should be, so what it leaves out is gone. Where every title of a list would
    change, it is in another language, or another list, more often than an owner's work: they stay, unless `rename` is
    said; `held` are those that an earlier fetch did not take over. `head_before` is the head that
    the last fetch gave: where the user has not changed a field of it, it follows YouTube.
    """
    before = keyed(old.items if old else ())
    listed = keyed(fetched.playlist.items)
    if numbering == "proposed":
        numbering = "from-title" if not old and not fetched.has_parts and are_numbered(fetched.playlist) else "next"
    kept = set() if rename else _kept_titles(before, listed, held)
    not_taken = {_written(key): listed[key].title for key in kept}
    listed = {key: _titled_as(before[key], item) if key in kept else item for key, item in listed.items()}
    hidden = {skipped.video for skipped in fetched.skipped}
    now = {key: _updated(before[key], item) if key in before else item for key, item in listed.items()}
    for key, item in before.items():
        if key not in now:
            gone = (whole or key[0] in hidden) and not _is_kept_by_hand(item)
            now[key] = _marked(item) if gone else item
    order = _order(list(before), list(listed))
    parts, warnings = _parts(before, listed, fetched, numbering)
    items = tuple(_with_part(now[key], parts[key]) if key in parts else now[key] for key in order)
    head = _head(old.playlist, fetched.playlist.playlist, head_before or {}) if old else fetched.playlist.playlist
    playlist = Playlist(playlist=head, items=items)
    changes = tuple(_changes(before, dict(zip(order, items, strict=True))))
    disagreements = tuple(_disagreements(items, changes, numbering))
    taken: Taken = "source" if fetched.has_parts and numbering == "next" else numbering
    return Merged(playlist, changes, (*warnings, *disagreements), disagreements, taken, not_taken)


def are_numbered(playlist: Playlist) -> bool:
    """Whether the titles number the list: at least half of them, and two, say a part, and no two say the same."""
    said = [part for item in playlist.items if (part := part_in(item.title)) is not None]
    return len(said) >= 2 and len(said) * 2 >= len(playlist.items) and len(set(said)) == len(said)


def _kept_titles(before: Mapping[Key, Item], listed: Mapping[Key, Item], held: Mapping[str, str]) -> set[Key]:
    """The items whose new title is not taken over: every one of a list that is known, where all of several change, and
    those that were held before and are told the same again."""
    known = [key for key in listed if key in before]
    changed = {key for key in known if listed[key].title != before[key].title}
    if len(changed) == len(known) > 1:
        return changed
    return {key for key in changed if held.get(_written(key)) == listed[key].title}


def _written(key: Key) -> str:
    return f"{key[0]}:{key[1]}"


def _titled_as(before: Item, listed: Item) -> Item:
    return listed.model_copy(update={"title": before.title})


def _updated(item: Item, listed: Item) -> Item:
    """What YouTube says of it now, over what the user has."""
    fields: dict[str, Any] = {"title": listed.title} if listed.title != item.title else {}
    if listed.duration is not None and abs(listed.duration - (item.duration or -10)) > DURATION_SLACK_S:
        fields["duration"] = listed.duration
    if not fields and not item.removed:
        return item
    said = item.model_dump(exclude_unset=True)
    if item.removed:
        del said["removed"]
    return Item(**{**said, **fields})


def _is_kept_by_hand(item: Item) -> bool:
    """`removed: false`, written out, is a user's word that the item is theirs, whatever YouTube lists."""
    return "removed" in item.model_fields_set and not item.removed


def _marked(item: Item) -> Item:
    return item if item.removed else item.model_copy(update={"removed": True})


def _with_part(item: Item, part: int | None) -> Item:
    return item.model_copy(update={"part": part})


def _order(before: Sequence[Key], listed: Sequence[Key]) -> list[Key]:
    """As listed; what is not listed stays behind the item that it stood behind.

    But never in front of an earlier occurrence of its own video: which of them it is, is told by the order alone.
    """
    places = {key: place for place, key in enumerate(listed)}
    lowest = {video: places[video, occurrence] for video, occurrence in listed}
    behind: dict[int, list[Key]] = {}
    anchor = -1
    for key in before:
        if key in places:
            anchor = places[key]
            continue
        lowest[key[0]] = max(anchor, lowest.get(key[0], -1))
        behind.setdefault(lowest[key[0]], []).append(key)
    order = list(behind.get(-1, ()))
    for place, key in enumerate(listed):
        order += [key, *behind.get(place, ())]
    return order


def _parts(
    before: Mapping[Key, Item], listed: Mapping[Key, Item], fetched: FetchedPlaylist, numbering: Numbering
) -> tuple[dict[Key, int | None], list[str]]:
    """Parts for what is new. Nobody else's part is moved: a part, once given, stays with its video."""
    warnings: list[str] = []
    taken = {item.part: item.video for item in before.values() if item.part is not None}
    is_numbered = bool(taken) or not before
    free = max(taken, default=0) + 1
    parts: dict[Key, int | None] = {}
    for position, (key, item) in enumerate(listed.items(), 1):
        if key in before:
            continue
        part = _asked_part(item, position, fetched, numbering, free if is_numbered else None)
        if part in taken and part is not None:
            instead = free if numbering == "position" else None
            told = "it gets none" if instead is None else f"it gets {instead}"
            warnings.append(f"{item.video} would be part {part}, which {taken[part]} has: {told}")
            part = instead
        if part is not None and part > MAX_PART:
            warnings.append(f"{item.video} gets no part: {MAX_PART:,} is the largest there is")
            part = None
        if part is not None:
            taken[part] = item.video
            free = max(free, part + 1)
        parts[key] = part
    return parts, warnings


def _asked_part(
    item: Item, position: int, fetched: FetchedPlaylist, numbering: Numbering, free: int | None
) -> int | None:
    if numbering == "none":
        return None
    if numbering == "position":
        return position
    if numbering == "from-title":
        return part_in(item.title)
    if fetched.has_parts:
        return item.part
    return None if fetched.single else free


def _head(old: PlaylistHead, new: PlaylistHead, before: Mapping[str, Any]) -> PlaylistHead:
    """A blank field is filled, one that is still as the last fetch wrote it follows, the user's own stays."""
    fields = {}
    for name in ("title", "channel", "url", "language"):
        mine, theirs = getattr(old, name), getattr(new, name)
        if theirs and theirs != mine and (not mine or mine == before.get(name)):
            fields[name] = theirs
    return old.model_copy(update=fields) if fields else old


def _changes(before: Mapping[Key, Item], now: Mapping[Key, Item]) -> Iterable[ListChange]:
    places = {key: place for place, key in enumerate(before, 1)}
    moved = out_of_order([places[key] for key in now if key in places])
    for position, (key, item) in enumerate(now.items(), 1):
        change = ListChange("added", item.video, item.title, item.part, position)
        if key not in before:
            yield change
            continue
        was = before[key]
        if item.removed != was.removed:
            yield replace(change, kind="removed" if item.removed else "returned")
        if item.title != was.title:
            yield replace(change, kind="renamed", was=was.title)
        if places[key] in moved:
            yield replace(change, kind="moved", was=places[key])


def out_of_order(places: Sequence[int]) -> set[int]:
    """The fewest places that, taken away, leave the rest in order: who has moved, not whom others have moved past."""
    ends: list[int] = []
    owners: list[int] = []
    came_from: dict[int, int | None] = {}
    for place in places:
        at = bisect_left(ends, place)
        came_from[place] = owners[at - 1] if at else None
        ends[at : at + 1] = [place]
        owners[at : at + 1] = [place]
    kept: set[int] = set()
    last: int | None = owners[-1] if owners else None
    while last is not None:
        kept.add(last)
        last = came_from[last]
    return set(places) - kept


def _disagreements(items: Sequence[Item], changes: Sequence[ListChange], numbering: Numbering) -> Iterable[str]:
    """A title with another number than its badge. With parts from titles it is the place that may disagree."""
    touched = {change.video for change in changes if change.kind in ("added", "returned", "renamed")}
    position = 0
    for item in items:
        position += not item.removed
        said = None if item.removed or item.video not in touched else part_in(item.title)
        if said is None:
            continue
        if item.part is not None and said != item.part:
            yield f"{item.video}: the title says {said}, the part is {item.part}"
        elif numbering == "from-title" and said != position:
            yield f"{item.video}: the title says {said}, its place is {position}"
