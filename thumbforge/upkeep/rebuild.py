"""`repair --rebuild`: a ledger from what the store tells, for projects that lost theirs or have an older one.

Manifests tell which art each item had, records which art answers a request. Both are read once here; what is believed
is what follows from their own keys and from the bytes of the pictures. Which take was in use, whether it was approved,
whether it passed the rules and what it cost is not: the next batch draws and judges the pictures anew, without a call.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from thumbforge import faults, ids
from thumbforge.durable import read_regular
from thumbforge.errors import AssetDamaged, LedgerError, NotFound, PictureError
from thumbforge.making.threads import inspect
from thumbforge.planning.project import Project
from thumbforge.store import attempts, names
from thumbforge.store.database import Database, is_damage
from thumbforge.store.pictures import StoredPicture
from thumbforge.store.restore import Restored
from thumbforge.store.witness import Manifest, key_files, manifest_of, record_of, recorded_art
from thumbforge.upkeep.job import Job

AT_ONCE = 100
"""Arts a transaction: nobody who waits for the ledger waits for long."""


@dataclass
class Rebuilt:
    """What was, or would be, written: rows for so many arts, so many records. `unread` are manifests whose keys do not
    follow from what they hold, `without_art` those whose art is gone, damaged, or no picture for its request."""

    arts: int = 0
    records: int = 0
    unread: list[str] = field(default_factory=list)
    without_art: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, object]:
        return dict(vars(self))


def rebuild(project: Project, database: Database | None, job: Job | None) -> Rebuilt:
    """Look through all manifests; with a `job`, write what they tell and neither ledger nor records do."""
    done, waiting = Rebuilt(), list[Restored]()
    known = attempts.painted_keys(database) if database else set[str]()
    for path in key_files(project.store.manifests):
        if job:
            job.check_stop()
        manifest = manifest_of(project.store.manifest(path.stem), path.stem)
        if manifest is None:
            done.unread.append(path.name)
            continue
        has_record = recorded_art(project.store, manifest.art_key) is not None
        if has_record and manifest.art_key in known:
            continue
        picture = _picture(project, manifest)
        if picture is None:
            done.without_art.append(path.name)
            continue
        if not has_record:
            done.records += 1
            if job:
                record = record_of(manifest.art, picture.sha256, picture.suffix, "", None)
                project.store.write_record(manifest.art_key, record)
        if manifest.art_key not in known:
            known.add(manifest.art_key)
            done.arts += 1
            waiting.append(_restored(manifest, picture))
        if job and len(waiting) >= AT_ONCE:
            job.restore(waiting)
            waiting.clear()
    if job and waiting:
        job.restore(waiting)
    return done


def _picture(project: Project, manifest: Manifest) -> StoredPicture | None:
    """The manifest's art, judged like a provider's answer."""
    found = next((s for s in sorted(names.SUFFIXES) if project.store.path(manifest.art_sha256, s).is_file()), None)
    if found is None:
        return None
    try:
        data = read_regular(project.store.verify(manifest.art_sha256, found))
        info, _ = inspect(data, *manifest.output)
    except (AssetDamaged, PictureError):
        return None
    if info.suffix != found:
        return None
    return StoredPicture(manifest.art_sha256, found, info.media_type, len(data), info.width, info.height)


def _restored(manifest: Manifest, picture: StoredPicture) -> Restored:
    """Candidates of a hero run have a seed in their key, items of a playlist have none."""
    take, parts = int(manifest.art["take"]), manifest.key_parts
    item_key = f"ordinal:{take}" if parts["seed"] else ids.item_key(parts["video"], 1)
    return Restored(manifest.key, parts, item_key, manifest.art_key, take, picture)


def damage(path: Path) -> str | None:
    """What is wrong with a ledger that can only be replaced; None where it can be read, or there is none. Raises
    LedgerError for what is no damage: permissions, a newer schema, another program's database."""
    try:
        with closing(Database.open_for_reading(path)) as database:
            found = database.unsound()
            return f"{path.name} is damaged: {found}" if found else None
    except NotFound:
        return None
    except LedgerError as error:
        if not is_damage(error):
            raise
        return error.message


def set_aside(path: Path) -> Path:
    """Move a damaged ledger, with what belongs to it, to the first free name beside it; returns that."""
    number = next(n for n in range(1, 1000) if not path.with_name(f"{path.name}.damaged-{n}").exists())
    with faults.step("ledger.aside"):
        for suffix in ("-wal", "-shm", ""):
            part = path.with_name(path.name + suffix)
            if part.exists():
                part.rename(path.with_name(f"{path.name}.damaged-{number}{suffix}"))
    return path.with_name(f"{path.name}.damaged-{number}")
