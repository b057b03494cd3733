"""A project that fetches."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.data_api_server import KEY
from tests.project import Project, Told


class Site(Project):
    """As a Project, with what fetches ask of it."""

    def with_environment(self, **extra: str) -> Site:
        return Site(self.root, {**self.extra, **extra})

    def fetch(self, *words: str) -> Any:
        """The document of a fetch that succeeds."""
        return self.shown("fetch", *words)

    def yaml(self, name: str) -> str:
        return (self.root / f"specs/playlists/{name}.yaml").read_text(encoding="utf-8")

    def parts(self, name: str) -> list[tuple[str, int | None]]:
        return [(item["video"], item.get("part")) for item in self.items(name)]

    def facts(self, predicate: str) -> list[tuple[str, Any, str]]:
        """What holds in the ledger: video, value, origin; in the order of places."""
        sql = (
            "SELECT video_id, fact.value_json, fact.origin FROM item_fact AS fact"
            " JOIN playlist_item AS item ON item.id = fact.playlist_item_id"
            " LEFT JOIN item_fact AS place ON place.playlist_item_id = item.id AND place.valid_to IS NULL"
            " AND place.predicate = 'position'"
            " WHERE fact.valid_to IS NULL AND fact.predicate = ? ORDER BY CAST(place.value_json AS INTEGER), video_id"
        )
        return [(row[0], json.loads(row[1]), row[2]) for row in self.query(sql, predicate)]


def make_site(root: Path, **extra: str) -> Site:
    """An empty project."""
    root.mkdir()
    return Site(root, extra)


def refused(told: Told, code: int, name: str) -> dict[str, Any]:
    """The error of a command that has to fail in one line, with a hint and without a traceback."""
    assert (told.code, told.out) == (code, ""), told.err
    assert "Traceback" not in told.err
    problem: dict[str, Any] = json.loads(told.err.splitlines()[-1])
    assert problem["code"] == name, told.err
    assert "\n" not in problem["message"]
    assert problem["hint"]
    assert KEY not in told.err
    return problem
