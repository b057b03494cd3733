"""The list that a command is about, and the series that draw it."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from thumbforge.commands.operands import there_are
from thumbforge.errors import NotFound, ThumbforgeError, UsageError
from thumbforge.text import nearest

if TYPE_CHECKING:
    from thumbforge.planning.project import Project
    from thumbforge.specs.catalog import LoadedPlaylist


def find(project: Project, word: str) -> LoadedPlaylist:
    """The playlist of the project with this name, id or address. Raises NotFound."""
    catalog = project.catalog
    found = catalog.find_playlist(word) or catalog.find_playlist(_meant(project, word))
    if found:
        return catalog.load_playlist(found[1])
    names = catalog.playlist_names()
    if near := nearest(word, names):
        raise NotFound(f"no playlist {word}", hint=f"did you mean {near[0]}?")
    raise NotFound(f"no playlist {word}", hint=there_are(names) or "thumbforge fetch brings one")


def batch_of(project: Project, name: str, playlist: str, only: str = "") -> str:
    """The batch of the series on this list, that of its name first; or the one that needs a picture."""
    chosen = f" only={only}" if only else ""
    for series in sorted(project.catalog.series_names(), key=lambda series: (series != name, series)):
        with suppress(ThumbforgeError):  # a broken series is told where it is used
            if project.catalog.series(series).playlist in {name, playlist}:
                return f"thumbforge batch series={series}{chosen}"
    return f"thumbforge batch {name} --hero PICTURE{chosen}"


def _meant(project: Project, word: str) -> str:
    """The id of the list that an address or a channel's handle means; "" where it means none."""
    from thumbforge.playlists.fetch_state import state_of
    from thumbforge.sources.links import ChannelLink, parse_target

    try:
        link = parse_target(word)
    except UsageError:
        return ""
    return state_of(project.home, link.name).playlist if isinstance(link, ChannelLink) else link.id
