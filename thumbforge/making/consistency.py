"""The finals of a series held against each other at the end of a batch.

What is told belongs to the run and to the sheet, never to a final's own report: a picture is an outlier only beside its
neighbours. Signatures are kept by the finals' hashes, so that each picture is read once; the file can go at any time.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from thumbforge import log
from thumbforge.durable import read_regular, write_whole
from thumbforge.planning.decide import PlannedSeries
from thumbforge.planning.plan import Row
from thumbforge.planning.project import Project

MAX_BYTES = 20_000_000


def judged(project: Project, planned: PlannedSeries, rows: Iterable[Row]) -> dict[str, str]:
    """Why a picture is unlike the rest, by item key; kept for the sheet. Nothing where the series wants no judgement,
    and never an error: a picture that cannot be read is told by others."""
    if planned.kind != "batch":
        return {}
    series = planned.series
    finals = {row.wanted.item_key: row.final.picture for row in rows if row.final and row.status == "completed"}
    if series.consistency == "off":
        _file(project, series.name).unlink(missing_ok=True)
        return {}
    from thumbforge.imaging import likeness

    kept = _kept(project, series.name)
    known = _texts(kept.get("signatures")) if kept.get("made_by") == likeness.MADE_BY else {}
    found: dict[str, bytes] = {}
    for picture in finals.values():
        try:
            found[picture.sha256] = (
                bytes.fromhex(known[picture.sha256])
                if picture.sha256 in known
                else likeness.signature(project.store.path(picture.sha256, picture.suffix))
            )
        except (OSError, ValueError):
            continue
    unlike = {sha256: str(outlier) for sha256, outlier in likeness.outliers(found).items()}
    signatures = {sha256: own.hex() for sha256, own in found.items()}
    _keep(project, series.name, {"made_by": likeness.MADE_BY, "signatures": signatures, "unlike": unlike})
    return {key: unlike[picture.sha256] for key, picture in finals.items() if picture.sha256 in unlike}


def unlike(project: Project, series: str) -> Mapping[str, str]:
    """What the last batch of a series found, by the finals' sha256."""
    return _texts(_kept(project, series).get("unlike"))


def _texts(found: object) -> dict[str, str]:
    """The texts of a mapping: the file may have come with the project."""
    return {name: text for name, text in found.items() if isinstance(text, str)} if isinstance(found, dict) else {}


def _kept(project: Project, series: str) -> dict[str, Any]:
    try:
        found = json.loads(read_regular(_file(project, series), MAX_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _keep(project: Project, series: str, told: dict[str, Any]) -> None:
    """Where it cannot be written the pictures are read again the next time."""
    target = _file(project, series)
    try:
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_whole(target, json.dumps(told).encode())
    except OSError as error:
        log.warning("what a series looks like could not be kept", series=series, error=str(error))


def _file(project: Project, series: str) -> Path:
    return project.home / "sheets" / f"{series}.likeness"
