"""`playlist renumber`: new parts for a playlist, by place or from the titles.

In the ledger they are the user's words: no ingest ever says otherwise.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from thumbforge.errors import NotFound, UsageError
from thumbforge.models import Playlist
from thumbforge.planning.project import Project
from thumbforge.playlists import playlist_file
from thumbforge.playlists.merge import Key, keyed
from thumbforge.sources.part_marks import MAX_PART, part_in


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
        playlist_file.record(project, written, "renumber")
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
