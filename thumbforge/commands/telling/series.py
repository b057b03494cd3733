"""A series as JSON shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from thumbforge.planning.project import Project
    from thumbforge.planning.standing import Standing


def described(project: Project, standing: Standing) -> dict[str, Any]:
    """What a series is made of, and where it stands."""
    from thumbforge.planning.project import relative

    series = standing.planned.series
    head = series.playlist.playlist
    spec = project.catalog.series(series.name)
    return {
        "series": series.name,
        "file": f"specs/series/{series.name}.yaml",
        "playlist": {"name": series.playlist_name, "id": head.id, "title": head.title},
        "hero": {"named": spec.hero, "path": relative(series.hero.path, project.root), "sha256": series.hero.sha256},
        "template": {"name": series.template.name, "version": series.template.version},
        "provider": series.profile.name,
        "look": series.staging.look,
        "subject": list(series.staging.subject) if series.staging.subject else None,
        "vars": dict(series.vars),
        "max_images": series.max_images,
        "max_cost": None if series.max_cost is None else str(series.max_cost),
        "out": f"out/{series.name}",
        "standing": {name: value for name, value in standing.as_dict().items() if name != "series"},
    }
