"""Audit: does the ledger tell the truth about the files, and do its identities re-derive? Reads only."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from thumbforge import ids
from thumbforge.errors import ThumbforgeError
from thumbforge.making.exports import mixture
from thumbforge.making.exports.manifest import is_current
from thumbforge.making.exports.orphans import Unwanted, all_unwanted, orphans
from thumbforge.planning.decide import plan_series
from thumbforge.planning.lock import find_lock, is_stale, lock_name, lock_series, named_in_locks
from thumbforge.planning.project import Project, relative
from thumbforge.planning.series import SeriesRequest, resolve
from thumbforge.store import attempts, exports, finals, iterations, names, pictures, plans, runs
from thumbforge.store.database import Database
from thumbforge.store.looks import TOLD, hash_of, look
from thumbforge.store.witness import Ours, key_files, manifest_of, told_art
from thumbforge.text import counted
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

    def joined(self, findings: Sequence[Finding], notes: Sequence[Finding], there: int) -> Audit:
        """The same with what was found in the shared store, where so many things were looked at."""
        checked = {**self.checked, "shared file": there}
        return Audit((*self.findings, *findings), (*self.notes, *notes), checked)

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
    findings.extend(_unsound_rows(database, now))
    unwanted = list(all_unwanted(project, database))
    for found, comes_back in _changed_exports(project, database, unwanted, check_stop):
        (notes if comes_back else findings).append(found)
    notes.extend(Finding("export-orphan", one.path, _ORPHAN[one.why]) for one in orphans(project, unwanted))
    notes.extend(_resumable_runs(database, run_id, now))
    notes.extend(_unwitnessed(project, database))
    for found, is_readable in _locks(project):
        (notes if is_readable else findings).append(found)
    arts = finals.art_by_key(database)
    for file in store_files(project.home, database, named_in_locks(project.root)):
        if isinstance(file, Foreign):
            where = relative(file.path, project.home)
            notes.append(Finding("foreign", where, "is no file of thumbforge's, and is left alone"))
        elif file.owner is None:
            young = now - file.modified < grace_s
            (notes if young else findings).append(_stray(file, grace_s, young))
        else:
            findings.extend(_unsound_witness(project, file, arts))
            notes.extend(_unrecorded(file))
    counts = database.counts("run", "iteration", "attempt", "final", "export")
    return Audit(tuple(findings), tuple(notes), {"asset": hashes, **counts})


def _check_assets(project: Project, database: Database, findings: list[Finding], check_stop: Callable[[], None]) -> int:
    recorded = pictures.all_names(database)
    for sha256, suffix in recorded:
        check_stop()
        if not names.is_asset(sha256, suffix):
            findings.append(Finding("asset-name", repr(sha256[:80]), "is not the name of a stored file"))
            continue
        path = project.store.path(sha256, suffix)
        found = _hash(path)
        if found is None:
            findings.append(Finding("asset-missing", sha256[:12], f"no file {path.name}"))
        elif found != sha256:
            findings.append(Finding("asset-damaged", sha256[:12], f"{path.name} holds other bytes"))
    return len(recorded)


def _unsound_rows(database: Database, now: float) -> Iterator[Finding]:
    for own in iterations.identities(database):
        if "file" in own.key_parts:
            continue  # a hero file: its ids derive from the file's hash
        if ids.idempotency_key(ids.KeyParts(**own.key_parts)) != own.idempotency_key:
            yield Finding("key", own.id, f"key {own.idempotency_key[:8]} does not follow from its parts")
        if ids.iteration_id(own.run_id, own.item_key, own.idempotency_key) != own.id:
            yield Finding("id", own.id, "the iteration's id does not derive from its run, item and key")
    for attempt_id, iteration_id, n in attempts.identities(database):
        if ids.attempt_id(iteration_id, n) != attempt_id:
            yield Finding("id", attempt_id, "the attempt's id does not derive from its iteration and number")
    for row_id, run_id, item_key in plans.identities(database):
        if ids.run_item_id(run_id, item_key) != row_id:
            yield Finding("id", row_id, "the plan row's id does not derive from its run and item")
    for attempt_id, run_id in attempts.open_by_dead_runs(database, now):
        yield Finding("attempt-open", attempt_id, f"nobody executes it: run {run_id[:8]} is dead")


_ORPHAN = {
    "item": "of an item that its list no longer has; prune --orphans removes it",
    "series": "of a series that is gone; prune --orphans removes it",
}


def _changed_exports(
    project: Project, database: Database, unwanted: Sequence[Unwanted], check_stop: Callable[[], None]
) -> Iterator[tuple[Finding, bool]]:
    """Each with whether the next batch puts it right: what is gone or no file comes back, where it still is wanted;
    what was edited stays."""
    ours, unasked = Ours(database, project.store), {one.export.path for one in unwanted}
    for path, sha256 in exports.files(database):
        check_stop()
        if not names.is_export(path):
            yield Finding("export-name", repr(path[:80]), "is no file in out/"), False
            continue
        found = look(str(names.export_path(project.out, path)), sha256, -1, None)
        if found.is_right or (path in unasked and found.sha256 is None):
            continue
        if found.sha256 is not None and not ours.has(found.sha256):
            yield Finding("export-differs", f"out/{path}", "is not the picture that was put there"), False
        elif found.state in {"unreadable", "folder"}:
            yield Finding("export-blocked", f"out/{path}", TOLD[found.state]), False
        else:
            yield Finding("export-missing", f"out/{path}", f"{TOLD[found.state]}; the next batch puts it back"), True


def _unsound_witness(project: Project, file: StoreFile, arts: Mapping[str, str]) -> Iterator[Finding]:
    """A manifest or a record is read: its keys have to follow from what it holds, and to tell what the rows tell."""
    key = file.path.stem
    if file.kind == "manifest":
        manifest = manifest_of(project.store.manifest(key), key)
        if manifest is None:
            yield Finding("manifest", file.path.name, "its keys do not follow from what it holds")
        elif arts.get(key, manifest.art_sha256) != manifest.art_sha256:
            yield Finding("manifest", file.path.name, "names other art than the ledger")
    elif file.kind == "record" and told_art(project.store.record(key), key) is None:
        yield Finding("record", file.path.name, "does not name the art of its request")


def _unrecorded(file: StoreFile) -> Iterator[Finding]:
    if file.owner != "ledger":
        yield Finding(f"{file.kind}-unrecorded", file.path.name, f"kept: a {file.owner} tells of it")


def _unwitnessed(project: Project, database: Database) -> Iterator[Finding]:
    """Paid art that only the ledger knows of, as in projects from before there were records."""
    there = {path.stem for path in key_files(project.store.manifests / "art")}
    if missing := attempts.painted_keys(database) - there:
        detail = "no record tells of it without the ledger; repair --rebuild --apply writes what can be told"
        yield Finding("art-unwitnessed", counted(len(missing), "art"), detail)


def _locks(project: Project) -> Iterator[tuple[Finding, bool]]:
    """Lock files that cannot be read, and, as notes, those that do not say what is here, and what lies in out/ as it
    was before: the next batch puts it right."""
    for name in lock_series(project.root):
        try:
            find_lock(project.root, name)
        except ThumbforgeError as error:
            yield Finding("lock", lock_name(name), str(error)), False
    for name in sorted(project.catalog.series_names()):
        with suppress(ThumbforgeError):  # what is wrong with specs is for `check` to say
            with project.reading() as database:
                series = resolve(project.lookup(database), SeriesRequest(series=name))
            planned = plan_series(project, series)
            if mixed := mixture.told(name, planned.rows):
                yield Finding("export-mixed", f"out/{name}/", mixed.partition(": ")[2]), True
            if all(row.is_done for row in planned.rows) and not is_current(project, planned):
                told = "does not say what lies there; the next batch writes it"
                yield Finding("manifest-stale", f"out/{name}/manifest.json", told), True
            if old := mixture.renamed(planned.rows):
                told = f"{counted(old, 'file')} under an old name; the next batch renames"
                yield Finding("export-renamed", f"out/{name}/", told), True
            if is_stale(series, planned.rows, planned.lock, project.store):
                yield (
                    Finding("lock-stale", lock_name(name), "does not say what is here; the next batch writes it"),
                    True,
                )


def _resumable_runs(database: Database, run_id: str, now: float) -> Iterator[Finding]:
    for run in runs.unfinished(database, now):
        if run.id == run_id:
            continue
        if run.is_live:
            yield Finding("run-live", run.id[:8], "is being executed now")
        elif run.status == "running":
            yield Finding("run-dead", run.id[:8], "its process died; the next batch or resume closes it")
        else:
            yield Finding("run-open", run.id[:8], f"is {run.status}; it can be resumed or cancelled")


def _stray(file: StoreFile, grace_s: float, young: bool) -> Finding:
    age = f"younger than {grace_s:g} s" if young else f"older than {grace_s:g} s: repair removes it"
    return Finding(f"{file.kind}-unreferenced", file.path.name, age)


def _hash(path: Path) -> str | None:
    try:
        return hash_of(path)
    except OSError:
        return None


def table(findings: Sequence[Finding]) -> list[tuple[str, str, str]]:
    return [(f.kind, f.subject, f.detail) for f in findings]
