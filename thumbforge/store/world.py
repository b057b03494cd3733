"""Rows of what runs are about: templates, profiles, playlists. Keyed by what they are, never by a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from thumbforge import ids
from thumbforge.store.database import Database, create_once, mapping


@dataclass(frozen=True, slots=True)
class TemplateRow:
    spec_hash: str
    name: str
    version: int
    content: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ProfileRow:
    id: str
    name: str
    provider: str
    version: int
    params: Mapping[str, Any]


def remember_template(database: Database, template: TemplateRow, now: float) -> None:
    """Create its row once; what is there already stays as it is."""
    row = {"spec_hash": template.spec_hash, "name": template.name, "version": template.version}
    row |= {"content_json": ids.canonical_json(template.content), "created_at": now}
    with database.write("world.row") as connection:
        create_once(connection, "template", "spec_hash", row)


def remember_profile(database: Database, profile: ProfileRow, now: float) -> None:
    """Create its row once; what is there already stays as it is."""
    row = {"id": profile.id, "name": profile.name, "provider": profile.provider, "version": profile.version}
    row |= {"params_json": ids.canonical_json(profile.params), "created_at": now}
    with database.write("world.row") as connection:
        create_once(connection, "provider_profile", "id", row)


def remember_playlist(database: Database, youtube_id: str, title: str, now: float) -> None:
    """Create its row once; what is there already stays as it is."""
    with database.write("world.row") as connection:
        create_once(connection, "playlist", "youtube_id", {"youtube_id": youtube_id, "title": title, "created_at": now})


def template(database: Database, spec_hash: str) -> TemplateRow:
    [row] = database.rows("SELECT * FROM template WHERE spec_hash = ?", (spec_hash,))
    return TemplateRow(
        spec_hash=row["spec_hash"],
        name=row["name"],
        version=row["version"],
        content=mapping(row["content_json"]),
    )


def template_versions(database: Database, name: str) -> list[tuple[int, str]]:
    """(version, spec hash) of every template of this name that a run has used."""
    rows = database.rows("SELECT version, spec_hash FROM template WHERE name = ?", (name,))
    return [(row["version"], row["spec_hash"]) for row in rows]


def profile(database: Database, profile_id: str) -> ProfileRow:
    [row] = database.rows("SELECT * FROM provider_profile WHERE id = ?", (profile_id,))
    return ProfileRow(
        id=row["id"],
        name=row["name"],
        provider=row["provider"],
        version=row["version"],
        params=mapping(row["params_json"]),
    )


def find_template(database: Database, spec_hash: str) -> TemplateRow | None:
    """The same for a hash that may be none of ours."""
    known = database.row("SELECT 1 FROM template WHERE spec_hash = ?", (spec_hash,))
    return template(database, spec_hash) if known else None


def find_profile(database: Database, profile_id: str) -> ProfileRow | None:
    known = database.row("SELECT 1 FROM provider_profile WHERE id = ?", (profile_id,))
    return profile(database, profile_id) if known else None
