"""`playlist set`: what a person says of one item, written into the list's YAML, of which all else stays."""

from __future__ import annotations

from dataclasses import dataclass

from thumbforge.errors import NotFound, UsageError
from thumbforge.models import Item, Playlist
from thumbforge.planning.project import Project
from thumbforge.playlists import playlist_file
from thumbforge.playlists.fields import Values, faults, item_named, with_item, with_values
from thumbforge.playlists.merge import keyed


@dataclass(frozen=True, slots=True)
class Set:
    """The item as it was and as it is; `position` counts from 1 in the YAML."""

    position: int
    was: Item
    now: Item


def set_fields(project: Project, playlist: str, word: str, values: Values) -> Set:
    """Give the item that `word` means these values, in the YAML and, of a part, in the ledger.

    Raises as `item_named`, UsageError for a value that may not stand there or a part that is another's, and as
    `playlist_file.change`; then nothing is written.
    """
    if wrong := faults(values, project.root):
        name, message = next(iter(wrong.items()))
        raise UsageError(f"{name}: {message}", hint="nothing was changed")

    def decide(before: Playlist | None) -> Playlist:
        if before is None:
            raise NotFound(f"playlist {playlist} is not in specs/playlists any more")
        key = item_named(before, word)
        return with_item(before, key, with_values(keyed(before.items)[key], values))

    written = playlist_file.change(project.root, playlist, decide)
    assert written.before is not None
    if written.playlist != written.before:
        playlist_file.record(project, written, "set")
    key = item_named(written.before, word)
    position = [*keyed(written.before.items)].index(key) + 1
    return Set(position, written.before.items[position - 1], written.playlist.items[position - 1])
