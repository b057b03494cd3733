"""Finished pictures, one row for each final key."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from thumbforge import ids
from thumbforge.errors import ReplayDivergence
from thumbforge.store.database import Database, insert, mapping
from thumbforge.store.pictures import PICTURE, StoredPicture, picture_of

_FAILED = '"ok":false'  # as `record` writes it: canonical JSON


@dataclass(frozen=True, slots=True)
class KnownFinal:
    final_key: str
    picture: StoredPicture
    compliant: bool
    report_json: str
    manifest_seen: str | None = field(default=None, compare=False)

    @property
    def is_faultless(self) -> bool:
        """Whether every check was passed, told without decoding thousands of reports."""
        return _FAILED not in self.report_json

    @property
    def report(self) -> dict[str, Any]:
        """Decoded when it is asked for: a plan over thousands of finished items never does."""
        found: dict[str, Any] = mapping(self.report_json)
        return found


def failed_checks(report: Mapping[str, Any], level: str) -> tuple[str, ...]:
    """The checks of this level that were not passed, as the ledger's report has them."""
    failed = (check for check in report.get("checks", ()) if check["level"] == level and not check["ok"])
    return tuple(f"{check['rule']}: {check['detail']}" for check in failed)


def known(database: Database, keys: Sequence[str]) -> list[KnownFinal]:
    """Those of these keys, whether or not their files are in the store."""
    rows = database.rows(
        f"SELECT final_key, compliant, report_json, manifest_seen, {PICTURE} FROM final"
        " JOIN asset ON asset.sha256 = final.sha256"
        " WHERE final_key IN (SELECT value FROM json_each(?))",
        (json.dumps(keys),),
    )
    return [
        KnownFinal(
            final_key=row["final_key"],
            picture=picture_of(row),
            compliant=bool(row["compliant"]),
            report_json=row["report_json"],
            manifest_seen=row["manifest_seen"],
        )
        for row in rows
    ]


def of_items(database: Database, series: str, items: Sequence[str]) -> dict[str, list[tuple[str, StoredPicture]]]:
    """(final key, picture) of all that the batches of a series have drawn of these items, the newest last, by item
    key."""
    rows = database.rows(
        f"SELECT DISTINCT run_item.item_key, final.final_key, final.created_at AS drawn_at, {PICTURE} FROM run"
        " JOIN run_item ON run_item.run_id = run.id AND run_item.item_key IN (SELECT value FROM json_each(:items))"
        " JOIN final ON final.iteration_id = run_item.iteration_id JOIN asset ON asset.sha256 = final.sha256"
        " WHERE run.series = :series AND run.kind = 'batch' ORDER BY drawn_at",
        {"series": series, "items": json.dumps(items)},
    )
    found: dict[str, list[tuple[str, StoredPicture]]] = {}
    for row in rows:
        found.setdefault(row["item_key"], []).append((row["final_key"], picture_of(row)))
    return found


def record(
    connection: sqlite3.Connection,
    *,
    final_key: str,
    iteration_id: str,
    art_sha256: str,
    sha256: str,
    compliant: bool,
    report: Mapping[str, Any],
    now: float,
    manifest_seen: str | None = None,
) -> None:
    """A final's row. Where there is one, the picture may be another (drawn anew by other library versions after its
    file was lost), the art may not: that is a ReplayDivergence."""
    row = {
        "final_key": final_key,
        "iteration_id": iteration_id,
        "art_sha256": art_sha256,
        "sha256": sha256,
        "compliant": int(compliant),
        "report_json": ids.canonical_json(report),
        "created_at": now,
        "manifest_seen": manifest_seen,
    }
    if insert(connection, "final", row, once="final_key"):
        return
    stored = connection.execute("SELECT * FROM final WHERE final_key = ?", (final_key,)).fetchone()
    if stored["art_sha256"] != art_sha256:
        raise ReplayDivergence(f"final {final_key[:8]} is recorded with other art")
    if stored["sha256"] != sha256:
        connection.execute(
            "UPDATE final SET sha256 = :sha256, report_json = :report_json, compliant = :compliant"
            " WHERE final_key = :final_key",
            row,
        )


def art_by_key(database: Database) -> dict[str, str]:
    """The hash of the art that each final was drawn over, by final key."""
    return {row["final_key"]: row["art_sha256"] for row in database.rows("SELECT final_key, art_sha256 FROM final")}
