"""Audit: does the ledger tell the truth about the files, and do its identities re-derive? Reads only."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from thumbforge import ids
from thumbforge.planning.project import Project, relative
from thumbforge.store import names
from thumbforge.store.database import Database
from thumbforge.store.leases import is_live
from thumbforge.upkeep.files import Foreign, StoreFile, store_files


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it should be (or, as a note, something that will go by itself)."""

    kind: str
    subject: str
    detail: str

    def as_dict(self) -> dict[str, str]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Audit:
    findings: tuple[Finding, ...]
    notes: tuple[Finding, ...]
    checked: dict[str, int]

    def as_dict(self) -> dict[str, Any]:
        return {
            "findings": [f.as_dict() for f in self.findings],
            "notes": [n.as_dict() for n in self.notes],
            "checked": self.checked,
        }


def audit(
    project: Project, database: Database, run_id: str, now: float, grace_s: float, check_stop: Callable[[], None]
) -> Audit:
    """Every row and every file once. `run_id` is the audit's own run; `check_stop` raises to end early."""
    findings: list[Finding] = []
    notes: list[Finding] = []
    hashes = _check_assets(project, database, findings, check_stop)
    for found in (*_unsound_rows(database, now), *_changed_exports(project, database, check_stop)):
        findings.append(found)
    notes.extend(_resumable_runs(database, run_id, now))
    for file in store_files(project.home, database):
        if isinstance(file, Foreign):
            where = relative(file.path, project.home)
            notes.append(Finding("foreign", where, "is no file of thumbforge's, and is left alone"))
        elif file.owner is None:
            young = now - file.modified < grace_s
            (notes if young else findings).append(_stray(file, grace_s, young))
        elif file.owner != "ledger":
            notes.append(Finding(f"{file.kind}-unrecorded", file.path.name, f"kept: a {file.owner} tells of it"))
    tables = ("run", "iteration", "attempt", "final", "export")
    counts = {name: database.rows(f"SELECT count(*) AS n FROM {name}")[0]["n"] for name in tables}
    return Audit(tuple(findings), tuple(notes), {"asset": hashes, **counts})


def _check_assets(project: Project, database: Database, findings: list[Finding], check_stop: Callable[[], None]) -> int:
    rows = database.rows("SELECT sha256, suffix FROM asset")
    for row in rows:
        check_stop()
        if not names.is_asset(row["sha256"], row["suffix"]):
            findings.append(Finding("asset-name", repr(row["sha256"][:80]), "is not the name of a stored file"))
            continue
        path = project.store.path(row["sha256"], row["suffix"])
        sha256 = _hash(path)
        if sha256 is None:
            findings.append(Finding("asset-missing", row["sha256"][:12], f"no file {path.name}"))
        elif sha256 != row["sha256"]:
            findings.append(Finding("asset-damaged", row["sha256"][:12], f"{path.name} holds other bytes"))
    return len(rows)


def _unsound_rows(database: Database, now: float) -> Iterator[Finding]:
    for row in database.rows("SELECT * FROM iteration"):
        parts = json.loads(row["key_parts_json"])
        if "file" in parts:
            continue  # a hero file: its ids derive from the file's hash
        if ids.idempotency_key(ids.KeyParts(**parts)) != row["idempotency_key"]:
            yield Finding("key", row["id"], f"key {row['idempotency_key'][:8]} does not follow from its parts")
        if ids.iteration_id(row["run_id"], row["item_key"], row["idempotency_key"]) != row["id"]:
            yield Finding("id", row["id"], "the iteration's id does not derive from its run, item and key")
    for row in database.rows("SELECT id, iteration_id, n FROM attempt"):
        if ids.attempt_id(row["iteration_id"], row["n"]) != row["id"]:
            yield Finding("id", row["id"], "the attempt's id does not derive from its iteration and number")
    for row in database.rows("SELECT id, run_id, item_key FROM run_item"):
        if ids.run_item_id(row["run_id"], row["item_key"]) != row["id"]:
            yield Finding("id", row["id"], "the plan row's id does not derive from its run and item")
    executors = {row["id"]: row for row in database.rows("SELECT * FROM run")}
    for row in database.rows("SELECT id, executor_run_id FROM attempt WHERE closed_at IS NULL"):
        run = executors.get(row["executor_run_id"])
        if run is None or not is_live(run["lease_owner"], run["lease_expires_at"], now):
            yield Finding("attempt-open", row["id"], f"nobody executes it: run {row['executor_run_id'][:8]} is dead")


def _changed_exports(project: Project, database: Database, check_stop: Callable[[], None]) -> Iterator[Finding]:
    """A file that is gone comes back with the next batch; one that differs was edited, or another program wrote it."""
    for row in database.rows("SELECT path, sha256 FROM export"):
        check_stop()
        if not names.is_export(row["path"]):
            yield Finding("export-name", repr(row["path"][:80]), "is no file in out/")
            continue
        sha256 = _hash(names.export_path(project.out, row["path"]))
        if sha256 not in {None, row["sha256"]}:
            yield Finding("export-differs", f"out/{row['path']}", "is not the picture that was put there")


def _resumable_runs(database: Database, run_id: str, now: float) -> Iterator[Finding]:
    for row in database.rows(
        "SELECT * FROM run WHERE status IN ('pending', 'running', 'paused') AND id <> ?", (run_id,)
    ):
        if is_live(row["lease_owner"], row["lease_expires_at"], now):
            yield Finding("run-live", row["id"][:8], "is being executed now")
        elif row["status"] == "running":
            yield Finding("run-dead", row["id"][:8], "its process died; the next batch or resume closes it")
        else:
            yield Finding("run-open", row["id"][:8], f"is {row['status']}; it can be resumed or cancelled")


def _stray(file: StoreFile, grace_s: float, young: bool) -> Finding:
    age = f"younger than {grace_s:g} s" if young else f"older than {grace_s:g} s: repair removes it"
    return Finding(f"{file.kind}-unreferenced", file.path.name, age)


def _hash(path: Path) -> str | None:
    try:
        return ids.sha256_hex(path.read_bytes())
    except OSError:
        return None


def table(findings: Sequence[Finding]) -> list[tuple[str, str, str]]:
    return [(f.kind, f.subject, f.detail) for f in findings]
