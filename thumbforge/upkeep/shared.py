"""Push and pull: what of this project is not in the shared store, and what there is not here, brought over.

By name, so that the same again goes on where it stopped; nothing is ever replaced on either side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TypeVar

from thumbforge.cancel import Cancel
from thumbforge.errors import AssetDamaged, PictureError, RemoteError, ThumbforgeError
from thumbforge.making.sharing import share_art
from thumbforge.planning.decide import PlannedSeries
from thumbforge.planning.project import Project
from thumbforge.store import names
from thumbforge.store.database import Database
from thumbforge.store.shared import outbox, parcels
from thumbforge.store.shared.hands import Bar, at_once
from thumbforge.store.shared.outbox import Kind, Waiting
from thumbforge.store.shared.remote import Remote
from thumbforge.store.witness import key_files, manifest_of, told_art

R = TypeVar("R")


@dataclass
class Passed:
    """How many arts and finals went over, or would; `takes` of the arts are further takes, because somebody else's was
    first. `failed` is by name why one did not."""

    arts: int = 0
    finals: int = 0
    takes: int = 0
    failed: dict[str, str] = field(default_factory=dict)

    def count(self, kind: Kind, more: int = 1) -> None:
        if kind == "art":
            self.arts += more
        else:
            self.finals += more


def names_there(remote: Remote) -> set[tuple[Kind, str]]:
    """Kind and key of all records and manifests there."""
    found: set[tuple[Kind, str]] = set()
    for entry in remote.entries("keys"):
        path = PurePosixPath(entry.name)
        match names.kind_of(path.parts):
            case "record":
                found.add(("art", path.stem))
            case "manifest":
                found.add(("final", path.stem))
    return found


def push(
    project: Project,
    database: Database | None,
    remote: Remote,
    series: Sequence[PlannedSeries] | None,
    cancel: Cancel,
    bar: Bar,
    *,
    dry_run: bool,
) -> Passed:
    """Send what is here and not there, or of some series alone. Raises RemoteError where the place cannot be used any
    more, Interrupted."""
    there = names_there(remote)
    waiting = set(outbox.waiting(database)) if database else set()
    here = [each for each in _here(project, series) if (each.kind, each.key) not in there or each in waiting]
    passed = Passed()

    def send(each: Waiting) -> str:
        if each.kind == "art":
            return share_art(remote, project.store, each.key)
        return "sent" if parcels.send_final(project.store, remote, each.key) else "there"

    for kind in ("art", "final"):
        those = [each for each in here if each.kind == kind]
        if dry_run:
            passed.count(kind, len(those))
            continue
        for each, said in _over(send, those, cancel, bar, f"sending {kind}s", passed):
            passed.takes += said == "first"
            if said != "there":
                passed.count(kind)
            if each in waiting and database:
                outbox.sent(database, each)
    return passed


def _here(project: Project, series: Sequence[PlannedSeries] | None) -> Iterator[Waiting]:
    """Records and manifests here that say what they must."""
    store, only = project.store, None if series is None else _arts_of(series)
    for path in key_files(store.manifests / "art"):
        if (only is None or path.stem in only) and told_art(store.record(path.stem), path.stem):
            yield Waiting("art", path.stem)
    for path in key_files(store.manifests):
        manifest = manifest_of(store.manifest(path.stem), path.stem)
        if manifest and (only is None or manifest.art_key in only):
            yield Waiting("final", path.stem)


def pull(
    project: Project,
    remote: Remote,
    series: Sequence[PlannedSeries] | None,
    cancel: Cancel,
    bar: Bar,
    *,
    dry_run: bool,
) -> Passed:
    """Bring what is there and not here, or of some series alone: what their specs and their lock files name. Raises
    RemoteError where the place cannot be used any more, Interrupted."""
    there, store, passed = names_there(remote), project.store, Passed()
    chosen = _chosen(series or ())

    def bring(each: Waiting) -> bool:
        if each.kind == "final":
            return parcels.bring_final(store, remote, each.key) is not None
        if sha256 := chosen.get(each.key):
            return parcels.bring_chosen(store, remote, each.key, sha256) is not None
        return parcels.bring_art(store, remote, each.key) is not None

    def lacking(kind: Kind, keys: Iterable[str]) -> list[Waiting]:
        path = store.record_path if kind == "art" else store.manifest_path
        return [Waiting(kind, key) for key in sorted(keys) if (kind, key) in there and not path(key).is_file()]

    of_series: dict[Kind, Callable[[], Iterable[str]]] = {
        "art": lambda: _arts_of(series or ()),
        "final": lambda: _finals_of(project, series or ()),  # which these are says the art that has come
    }
    for kind in ("art", "final"):
        keys = (key for of, key in there if of == kind) if series is None else of_series[kind]()
        those = lacking(kind, keys)
        if dry_run:
            passed.count(kind, len(those))
            continue
        for _, came in _over(bring, those, cancel, bar, f"bringing {kind}s", passed):
            passed.count(kind, int(came))
    return passed


def _arts_of(series: Iterable[PlannedSeries]) -> set[str]:
    """The art keys that the specs ask for, in every take that there is, and those of the lock files."""
    found = set()
    for planned in series:
        for row in planned.rows:
            found |= {row.wanted.art_key(take) for take in range(1, max(row.last_take, row.take) + 1)}
        found |= {entry.art_key for entry in (planned.lock.all if planned.lock else ())}
    return found


def _finals_of(project: Project, series: Iterable[PlannedSeries]) -> set[str]:
    """The final keys of the lock files, and of what the specs make of the art that is here."""
    found = set()
    for planned in series:
        found |= {entry.final_key for entry in (planned.lock.all if planned.lock else ())}
        for row in planned.rows:
            if told := told_art(project.store.record(row.art_key), row.art_key):
                found.add(row.wanted.final_key(told[0]))
    return found


def _chosen(series: Iterable[PlannedSeries]) -> dict[str, str]:
    """By art key the art that a lock file has chosen."""
    locks = (planned.lock for planned in series if planned.lock)
    return {entry.art_key: entry.art for lock in locks for entry in lock.all}


def _over(
    work: Callable[[Waiting], R], those: Sequence[Waiting], cancel: Cancel, bar: Bar, title: str, passed: Passed
) -> Iterator[tuple[Waiting, R]]:
    """Each with what came of it; one that is not what it should be is noted as failed, and the others go on."""
    done = 0
    with bar(title, len(those)) as advance:
        for each, found in at_once(work, those, cancel):
            if isinstance(found, RemoteError):
                found.hint = f"{done} of {len(those)} are over; the same again goes on"
                raise found
            if isinstance(found, (AssetDamaged, PictureError)):
                passed.failed[each.key] = f"{found.code}: {found}"
            elif isinstance(found, ThumbforgeError):
                raise found
            else:
                done += 1
                yield each, found
            advance()
