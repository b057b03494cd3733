"""The operands that several commands share, and what there is to name: told where one is missing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from thumbforge.commands.verbs import Word

if TYPE_CHECKING:
    from thumbforge.planning.project import Project

_SHOWN = 5


def newest_run(*kinds: str) -> Callable[[Project], str]:
    """The newest run of these kinds, or of any."""

    def known(project: Project) -> str:
        from thumbforge.store.views import list_runs

        with project.reading() as database:
            if database is None:
                return "there is none yet"
            found = [run for kind in kinds or (None,) for run in list_runs(database, kind=kind, status=None, limit=1)]
        newest = max(found, key=lambda run: run["started_at"] or 0, default=None)
        return f"the newest is {newest['id'][:8]}" if newest else "there is none yet"

    return known


def _playlists(project: Project) -> str:
    return there_are(project.catalog.playlist_names())


def _videos(project: Project) -> str:
    lists = [project.catalog.playlist_file(name) for name in project.catalog.playlist_names()[:_SHOWN]]
    return there_are([item.video for playlist in lists for item in playlist.items if not item.removed])


def _series(project: Project) -> str:
    return there_are(sorted(project.catalog.series_names()))


def _templates(project: Project) -> str:
    return there_are(project.catalog.template_names())


def _providers(project: Project) -> str:
    from thumbforge.providers.registry import provider_names

    return there_are(sorted({*project.catalog.profile_names(), *provider_names()}))


def there_are(names: Sequence[str]) -> str:
    """`there are a, b`, a few of many."""
    if not names:
        return ""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"there {'is' if len(names) == 1 else 'are'} {', '.join(names[:_SHOWN])}{more}"


RUN = Word("RUN", newest_run(), names="run")
HERO_RUN_OR_ITERATION = Word("RUN|ITERATION", newest_run("hero", "iterate"), names="hero run")
PLAYLIST = Word("NAME", _playlists, names="playlist")
ONE_SERIES = Word("NAME", _series, names="series")
SERIES = Word("SERIES", _series, is_optional=True, is_repeated=True, names="series")
VIDEO = Word("VIDEO", _videos, names="video")
TEMPLATE = Word("NAME", _templates, names="template")
PROVIDER = Word("KEY", _providers, names="provider")
