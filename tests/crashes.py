"""Real crashes of real processes: stop a batch at a named point, go on until it is done, and compare what is left.

The oracle is the same after every crash: no row names a file that is missing or wrong, one iteration per key, completed
means both pictures verify, `audit` has no finding, and the ledger equals that of a run that nobody stopped.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Collection, Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.command_line import forks_here, run_here, runs_here, started_here
from thumbforge.planning.project import Project
from thumbforge.store.assets import AssetStore
from thumbforge.upkeep.audit import audit

# An end that reports failure after the work was done is one of these; a kill leaves no time to report.
RAISING = ("enospc", "eio")

DODO = """\
from thumbforge.tasks.dodo import DOIT_CONFIG, task_sheet, task_thumb

__all__ = ["DOIT_CONFIG", "task_sheet", "task_thumb"]
"""

Dump = dict[str, list[tuple[Any, ...]]]
# What an uninterrupted run and a crashed one must agree on: everything but times, random ids and lost attempts.
_DUMP = {
    "iterations": """
        SELECT item_key, idempotency_key, key_parts_json, status, iteration.final_key, final.art_sha256, error_text
        FROM iteration LEFT JOIN final ON final.final_key = iteration.final_key ORDER BY 1, 2""",
    "finals": "SELECT final_key, art_sha256, sha256, compliant, report_json FROM final ORDER BY 1",
    "assets": "SELECT sha256, suffix, media_type, bytes, width, height FROM asset ORDER BY 1",
    "exports": "SELECT series, item_key, path, final_key, sha256 FROM export ORDER BY 1, 2",
    "art": """
        SELECT item_key, art_key, art_sha256, take FROM attempt JOIN iteration ON iteration.id = attempt.iteration_id
        WHERE outcome = 'ok' ORDER BY 1, 2""",
    "facts": """
        SELECT video_id, occurrence, predicate, value_json, origin FROM item_fact
        JOIN playlist_item ON playlist_item.id = playlist_item_id WHERE valid_to IS NULL ORDER BY 1, 2, 3""",
    "runs": "SELECT kind, status, series, exit_code FROM run WHERE kind IN ('batch', 'hero', 'ingest') ORDER BY 1",
    "plan": "SELECT ordinal, item_key, idempotency_key, plan_json FROM run_item ORDER BY 1",
    "open": "SELECT id FROM attempt WHERE closed_at IS NULL",
    "leases": "SELECT name FROM lease",
}


@dataclass(frozen=True)
class Site:
    """A small project on the fake provider, and how to run its batch."""

    root: Path

    @classmethod
    def make(cls, root: Path, items: int = 2, delay_ms: int = 0, at_once: int = 4, failing: int = 0) -> Site:
        """`at_once` calls of the provider at a time; item `failing` fails in every call."""
        from PIL import Image

        for folder in ("playlists", "providers", "series", "heroes"):
            (root / "specs" / folder).mkdir(parents=True)
        (root / "dodo.py").write_text(DODO)
        topics = {n: "[[FAIL_PERMANENT]]" if n == failing else f"matter {n}" for n in range(1, items + 1)}
        rows = "".join(
            f"  - {{video: crash{n:06d}, title: Item {n}, part: {n}, topic: '{topic}'}}\n"
            for n, topic in topics.items()
        )
        (root / "specs/playlists/c.yaml").write_text(f"playlist: {{id: PLcrash0000000}}\nitems:\n{rows}")
        (root / "specs/providers/p.yaml").write_text(
            f"name: p\nprovider: fake\nparams: {{delay_ms: {delay_ms}}}\nmax_concurrency: {at_once}\n"
        )
        (root / "specs/series/c.yaml").write_text(
            "playlist: c\nhero: specs/heroes/h.png\nprovider: p\noutput: {width: 1280, height: 720}\n"
        )
        Image.linear_gradient("L").resize((640, 360)).convert("RGB").save(root / "specs/heroes/h.png")
        return cls(root)

    def copy(self, to: Path) -> Site:
        shutil.copytree(self.root, to)
        return Site(to)

    def environ(self, **more: str) -> dict[str, str]:
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("THUMBFORGE_", "PYTHONDONTWRITEBYTECODE"))}
        return {
            **clean,
            "THUMBFORGE_RETRY__BASE_S": "0",
            "THUMBFORGE_FAKE_LOG": str(self.root / "calls.jsonl"),
            "THUMBFORGE_BATCH__MAX_LOST": "1000",
            "THUMBFORGE_OUTPUT__WIDTH": "1280",
            "THUMBFORGE_OUTPUT__HEIGHT": "720",
            **more,
        }

    def start(self, *words: str, **environ: str) -> subprocess.Popen[str]:
        if forks_here(own := self.environ(**environ)):
            return started_here("doit", words, self.root, own)
        return subprocess.Popen(
            [sys.executable, "-m", "doit", *words],
            cwd=self.root, env=own, text=True, encoding="utf-8",
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def doit(self, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
        """In this process, or in a fork of it where there is a fault on the way."""
        if runs_here(own := self.environ(**environ)):
            told = run_here("doit", words, self.root, own)
            return subprocess.CompletedProcess(words, told.code, told.out, told.err)
        process = self.start(*words, **environ)
        out, err = process.communicate(timeout=120)
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    def batch(self, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
        return self.doit("batch", "series=c", *words, **environ)

    @property
    def ledger(self) -> Path:
        return self.root / ".thumbforge/ledger.sqlite3"

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self.ledger)) as connection:
            return connection.execute(sql).fetchall()

    def unfinished_run(self) -> str | None:
        if not self.ledger.exists() or not self.query("SELECT 1 FROM sqlite_master WHERE name = 'run'"):
            return None
        rows = self.query(
            "SELECT id FROM run WHERE kind = 'batch' AND status IN ('pending', 'running', 'paused', 'failed')"
        )
        return rows[0][0] if rows else None

    def go_on(self) -> subprocess.CompletedProcess[str]:
        """Resume the run that was cut short; without one, the batch again."""
        if run := self.unfinished_run():
            return self.doit("runs", "resume", run)
        return self.batch()

    def go_on_with(self, fault: str) -> subprocess.CompletedProcess[str]:
        """The same, with a fault on the way."""
        run = self.unfinished_run()
        words = ("runs", "resume", run, "-n", "1") if run else ("batch", "series=c", "-n", "1")
        return self.doit(*words, THUMBFORGE_FAULT=fault)

    def calls(self) -> tuple[int, int]:
        """Provider calls begun and ended."""
        path = self.root / "calls.jsonl"
        events = [json.loads(line)["event"] for line in path.read_text().splitlines()] if path.exists() else []
        return events.count("start"), events.count("end")

    def cut_calls(self) -> set[str]:
        """Attempts whose call was begun and whose answer is neither staged nor kept: to be looked up right after a
        crash. Each of these calls may be made again, and no other."""
        if not self.ledger.exists() or not self.query("SELECT 1 FROM sqlite_schema WHERE name = 'attempt'"):
            return set()
        store = AssetStore(self.root / ".thumbforge")
        rows = self.query("SELECT id FROM attempt WHERE called_at IS NOT NULL AND art_sha256 IS NULL")
        return {attempt for (attempt,) in rows if store.staged(attempt) is None}

    def dump(self) -> Dump:
        return {name: self.query(sql) for name, sql in _DUMP.items()}


def findings(root: Path) -> list[str]:
    """What `audit` finds, looked up in this process and without a write, and what SQLite thinks of the file."""
    project = Project(root)
    with project.reading() as database:
        assert database is not None
        found = audit(project, database, "", time.time(), float("inf"), lambda: None)
        broken = [tuple(row) for row in database.rows("PRAGMA foreign_key_check")]
        [(sound,)] = database.rows("PRAGMA integrity_check")
    lines = [f"{f.kind} {f.subject}: {f.detail}" for f in found.findings]
    return [*lines, *map(str, broken), *([] if sound == "ok" else [sound])]


def judge(site: Site, model: Dump, without: Iterable[str] = ()) -> list[str]:
    """What is wrong after a crash and its recovery; empty when all is well. `without` are parts not to compare."""
    found = site.dump()
    wrong = [
        f"{name} differ: {found[name]} instead of {rows}"
        for name, rows in model.items()
        if name not in without and found[name] != rows
    ]
    wrong += findings(site.root)
    folder = site.root / "out/c"
    names = (path.name for path in folder.iterdir()) if folder.exists() else ()
    exports = sorted(name for name in names if not name.startswith(("sheet.", ".sheet.", "manifest.", ".manifest.")))
    if exports != sorted(Path(row[2]).name for row in model["exports"]):
        wrong.append(f"out/ holds {exports}")
    return wrong


def judge_calls(site: Site, items: int, cut: Collection[str] = ()) -> list[str]:
    """More calls than items only for those that crashes cut off."""
    begun, _ = site.calls()
    return [f"{begun} calls for {items} items, {len(cut)} cut off"] if begun > items + len(cut) else []


def judge_words(*told: subprocess.CompletedProcess[str]) -> list[str]:
    """No command ends with a traceback or a bug's message, whatever befell it."""
    return [
        told_by.stderr[-2000:] for told_by in told if "Traceback" in told_by.stderr or "this is a bug" in told_by.stderr
    ]
