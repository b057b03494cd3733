"""What the texts of a template see: the names, and what stands behind each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from thumbforge.models import Item, NegativeSpace, PlaylistHead


class Named(dict[str, Any]):
    """A mapping that knows its name, so that a missing field is called `vars.mood`."""

    def __init__(self, name: str, values: Mapping[str, Any]) -> None:
        super().__init__(values)
        self.label = name


def variables_for(
    item: Item,
    playlist: PlaylistHead,
    vars: Mapping[str, Any],
    width: int,
    height: int,
    negative_space: NegativeSpace | None,
    position: int,
    part_name: str = "",
) -> dict[str, Any]:
    """What a template sees: all of it, and nothing else.

    `vars` are the merged ones: the series', over them the item's, over those the command's `var.…`. `position` is the
    item's place in the playlist and counts from 1; `part_number` is None where the item has no part; `part_name` is
    what the part is called in the list's language. `width` and `height` are the pixels asked for.
    """
    return {
        "topic": item.topic or item.title,
        "video": Named("video", {"id": item.video, "title": item.title, "duration": item.duration}),
        "playlist": Named("playlist", playlist.shown),
        "part_number": item.part,
        "part_label": item.label,
        "part_name": part_name,
        "position": position,
        "vars": Named("vars", vars),
        "width": width,
        "height": height,
        "negative_space": negative_space,
    }
