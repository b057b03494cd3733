"""The sheet of a hero run: its candidates, each with the command that picks it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import TYPE_CHECKING

from thumbforge.imaging.sheet import Command, Sheet, SheetItem
from thumbforge.planning.project import Project

if TYPE_CHECKING:
    from thumbforge.store.heroes import Candidate


def hero_sheet(project: Project, run: sqlite3.Row, found: Iterable[Candidate]) -> Sheet:
    """The pick is marked."""
    name = str(run["id"])[:8]
    return Sheet(
        title=f"Hero run {name}",
        facts=(("kind", str(run["kind"])), ("status", str(run["status"]))),
        items=tuple(_item(project, name, candidate) for candidate in found),
    )


def _item(project: Project, run: str, candidate: Candidate) -> SheetItem:
    pick = Command("Pick it", f"thumbforge hero pick {run} {candidate.ordinal}")
    refine = Command("Refine it", f"thumbforge hero iterate {candidate.iteration_id[:8]} --prompt-append '…'")
    return SheetItem(
        title=f"Candidate {candidate.ordinal}{' (picked)' if candidate.picked else ''}",
        picture=project.store.path(*candidate.final) if candidate.final else None,
        identity=candidate.final[0] if candidate.final else "",
        key=candidate.iteration_id[:8],
        status=candidate.status,
        reason=candidate.error or "",
        good=candidate.status == "completed",
        commands=((pick, refine) if not candidate.picked else (refine,)) if candidate.status == "completed" else (),
    )
