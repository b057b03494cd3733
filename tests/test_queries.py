"""What is asked of the ledger for each item uses an index: a scan per item makes ten thousand of them quadratic."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.project import make_project
from thumbforge.cancel import Cancel
from thumbforge.making.batch import Batch
from thumbforge.planning.decide import plan_series
from thumbforge.planning.project import Project
from thumbforge.planning.series import SeriesRequest, resolve
from thumbforge.store.database import Database

SCAN = re.compile(r"^SCAN (?!CONSTANT|json_each).*", re.MULTILINE)
SMALL = ("SCAN lease", " attempt_by_executor", " one_open_attempt", " one_call_per_art")
"""Tables and indexes with a row for each call under way, whatever the length of the list."""


def asked_for_items(root: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every statement of a batch after its run was opened and before it is closed, with its values."""
    seen: list[str] = []
    project = Project(root)
    planned = plan_series(project, resolve(project.lookup(None), SeriesRequest(series="show")))
    batch = Batch(project, planned, planned.rows, cancel=Cancel(), concurrency=1)
    monkeypatch.setattr(batch._heartbeat, "_beat_s", 3600)
    connection: sqlite3.Connection = batch._ledger.database._connection
    connection.set_trace_callback(seen.append)
    outcomes = [batch.outcome(row.wanted.item_key) for row in planned.rows]
    connection.set_trace_callback(None)
    batch.close({})
    assert [outcome.status for outcome in outcomes] == ["completed", "failed", "completed", "completed"]
    return seen


def test_no_statement_of_an_item_scans_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For items that are made, that fail and that are drawn again."""
    project = make_project(tmp_path / "project", 4)
    project.template(prompt="{% if part_number == 2 %}[[FAIL_PERMANENT]]{% endif %} A picture about {{ topic }}.")
    for name, value in {**project.environment(), "THUMBFORGE_BATCH__MAX_RETRIES": "9"}.items():
        monkeypatch.setenv(name, value)
    asked = asked_for_items(project.root, monkeypatch)
    project.template(
        prompt="{% if part_number == 2 %}[[FAIL_PERMANENT]]{% endif %} A picture about {{ topic }}.",
        layout={"title": {"size": 120}},
    )
    asked += asked_for_items(project.root, monkeypatch)
    plain = [text for text in asked if not text.startswith(("BEGIN", "COMMIT", "PRAGMA", "--"))]
    assert len(plain) > 60
    scans = {}
    with closing(Database.open(project.home / "ledger.sqlite3")) as ledger:
        for statement in plain:
            steps = ledger.rows(f"EXPLAIN QUERY PLAN {statement}")
            told = "\n".join(str(step["detail"]) for step in steps)
            if found := [step for step in SCAN.findall(told) if not step.endswith(SMALL)]:
                scans[statement[:200]] = found
    assert scans == {}
