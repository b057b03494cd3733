"""`playlist renumber`: new parts for a playlist, by place or from the titles.

In the ledger they are the user's words: no ingest ever says otherwise.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from thumbforge import ids
from thumbforge.errors import NotFound, UsageError
from thumbforge.models import Playlist
from thumbforge.planning.project import Project
from thumbforge.playlists import playlist_file
from thumbforge.playlists.merge import Key, keyed
from thumbforge.sources.part_marks import MAX_PART, part_in
from thumbforge.store import facts
from thumbforge.store.runs import NewRun
from thumbforge.store.world import remember_playlist


@dataclass(frozen=True, slots=True)
class Numbers:
    """How to number: `start` upwards by place, or what the titles say; `skip` are videos that get no part."""

    start: int = 1
    skip: frozenset[str] = frozenset()
    from_title: bool = False


def renumbered(playlist: Playlist, numbers: Numbers) -> Playlist:
    """The playlist with its new parts. A removed video keeps its part, unless another has it now.

    Raises NotFound for a video to skip that is not in the list, UsageError for two titles that say the same number
    and for parts above 100,000.
    """
    if unknown := sorted(numbers.skip - {item.video for item in playlist.items}):
        raise NotFound(f"{', '.join(unknown)} is not in the playlist", hint="thumbforge playlist show lists its videos")
    parts = _from_titles(playlist, numbers.skip) if numbers.from_title else _by_place(playlist, numbers)
    if max((part for part in parts.values() if part is not None), default=0) > MAX_PART:
        raise UsageError(f"--start {numbers.start}: the last part would be above {MAX_PART:,}", hint="take a lower one")
    given = set(parts.values())
    items = []
    for key, item in keyed(playlist.items).items():
        part = parts.get(key, None if item.part in given else item.part)
        items.append(item if part == item.part else item.model_copy(update={"part": part}))
    return Playlist(playlist=playlist.playlist, items=tuple(items))


def renumber(project: Project, playlist: str, numbers: Numbers) -> playlist_file.Written:
    """Write the new parts into the playlist's YAML, keeping all else, and state them in the ledger."""

    def decide(before: Playlist | None) -> Playlist:
        if before is None:
            raise NotFound(f"playlist {playlist} is not in specs/playlists any more")
        return renumbered(before, numbers)

    written = playlist_file.change(project.root, playlist, decide)
    assert written.before is not None
    if written.playlist != written.before:
        before, now = keyed(written.before.items), keyed(written.playlist.items)
        _state(project, playlist, {key: item.part for key, item in now.items() if item.part != before[key].part})
        playlist_file.record(project, written.playlist)
    return written


def _by_place(playlist: Playlist, numbers: Numbers) -> dict[Key, int | None]:
    parts: dict[Key, int | None] = {}
    part = numbers.start
    for key, item in keyed(playlist.items).items():
        if item.removed:
            continue
        parts[key] = None if item.video in numbers.skip else part
        part += item.video not in numbers.skip
    return parts


def _from_titles(playlist: Playlist, skip: Collection[str]) -> dict[Key, int | None]:
    parts: dict[Key, int | None] = {}
    owners: dict[int | None, str] = {}
    for key, item in keyed(playlist.items).items():
        if item.removed:
            continue
        part = None if item.video in skip else part_in(item.title)
        if part in owners and owners[part] != item.video:
            hint = f"--skip {item.video} leaves one of them without a part"
            raise UsageError(f"the titles of {owners[part]} and {item.video} both say {part}", hint=hint)
        parts[key] = None if part in owners else part
        if part is not None:
            owners[part] = item.video
    return parts


def _state(project: Project, playlist: str, parts: Mapping[Key, int | None]) -> None:
    """The new parts as facts that a user stated, under a run of their own."""
    with playlist_file.open_ledger(project) as ledger:
        remember_playlist(ledger.database, playlist, "", ledger.now())
        params = {"playlist": playlist, "renumbered": len(parts)}
        run = NewRun(ids.new_run_id(), "ingest", playlist_id=playlist, params=params)
        fence = ledger.open_run(run, ())
        at = ledger.now()
        with ledger.database.write("ingest.chunk") as connection:
            fence.check(connection)
            known = facts.open_facts(connection, playlist)
            for (video, occurrence), part in parts.items():
                item = facts.remember_item(connection, playlist, video, occurrence, at)
                facts.state(connection, known, item, "part", part, run_id=run.id, at=at, origin="user")
        ledger.close_run(fence, "complete", 0)
