"""The shared store looked after: compared with what is here, and rid of what nobody's lock file names.

Both read all that lies there. To delete is for one person at a time, and never part of anything else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from thumbforge.cancel import Cancel
from thumbforge.errors import AssetDamaged, ThumbforgeError
from thumbforge.planning.lock import find_lock, lock_series, named_in_locks
from thumbforge.planning.project import Project
from thumbforge.store import names, pictures
from thumbforge.store.database import Database
from thumbforge.store.shared.hands import at_once
from thumbforge.store.shared.remote import MOST_JSON, Entry, Remote
from thumbforge.store.witness import manifest_of, told_art
from thumbforge.text import counted
from thumbforge.upkeep.audit import Finding
from thumbforge.upkeep.repair import Removal

DAY_S = 86_400
_PART = re.compile(r"/\.[0-9a-f]{32,64}\.[a-z]{3,4}\.[0-9a-f]{8}\.part$")


@dataclass(frozen=True, slots=True)
class Told:
    """A record or a manifest there: the hashes that it names, the art's video, and whether it says what it must."""

    entry: Entry
    hashes: frozenset[str]
    video: str
    is_sound: bool


@dataclass
class There:
    """All of ours that lies there; what has no name of ours is another program's."""

    pictures: dict[str, Entry] = field(default_factory=dict)
    parts: list[Entry] = field(default_factory=list)
    """What a process that was killed had begun to write into a folder."""
    told: dict[str, Told] = field(default_factory=dict)


def look_there(remote: Remote, cancel: Cancel) -> There:
    """Lists the place and reads every record and manifest. Raises RemoteError, Interrupted."""
    there = There()
    keys: list[Entry] = []
    for entry in remote.entries("assets"):
        if names.kind_of(PurePosixPath(entry.name).parts) == "asset":
            there.pictures[PurePosixPath(entry.name).name[:64]] = entry
        elif _PART.search(entry.name):
            there.parts.append(entry)
    for entry in remote.entries("keys"):
        if names.kind_of(PurePosixPath(entry.name).parts) in {"record", "manifest"}:
            keys.append(entry)
        elif _PART.search(entry.name):
            there.parts.append(entry)
    for entry, found in at_once(lambda entry: _told(remote, entry), keys, cancel):
        if isinstance(found, ThumbforgeError):
            raise found
        there.told[entry.name] = found
    return there


def _told(remote: Remote, entry: Entry) -> Told:
    try:
        content: Any = json.loads(remote.get(entry.name, MOST_JSON) or b"null")
    except (ValueError, RecursionError, AssetDamaged):
        content = None
    key, is_record = PurePosixPath(entry.name).stem, entry.name.startswith("keys/art/")
    if not isinstance(content, dict):
        return Told(entry, frozenset(), "", is_sound=False)
    if is_record:
        art = told_art(content, key)
        return Told(entry, frozenset({art[0]} if art else ()), _video(content.get("art")), is_sound=art is not None)
    manifest = manifest_of(content, key)
    hashes = {manifest.final_sha256} if manifest else set()
    return Told(entry, frozenset(hashes), _video(content.get("art")), is_sound=manifest is not None)


def _video(art: object) -> str:
    return str(art.get("video") or "") if isinstance(art, Mapping) else ""


def compare(project: Project, remote: Remote, cancel: Cancel) -> tuple[list[Finding], list[Finding], int]:
    """Findings, notes, and how many things there were looked at. Nothing is written on either side."""
    there = look_there(remote, cancel)
    findings: list[Finding] = []
    for name, told in sorted(there.told.items()):
        if not told.is_sound:
            findings.append(Finding("remote-name", name, "does not say what it must"))
        elif absent := told.hashes - there.pictures.keys():
            findings.append(Finding("remote-missing", name, f"its picture {min(absent)[:12]} is not there"))
    for sha256, entry in sorted(there.pictures.items()):
        here = project.store.path(sha256, PurePosixPath(entry.name).suffix)
        if here.is_file() and here.stat().st_size != entry.bytes:
            findings.append(Finding("remote-damaged", entry.name, "has another size than the same picture here"))
    return findings, list(_differences(project, there)), len(there.told) + len(there.pictures)


def _differences(project: Project, there: There) -> Iterator[Finding]:
    here = {path.name for path in (project.store.manifests / "art").glob("*.json") if names.is_key_name(path.name)}
    arts = {name.rpartition("/")[2]: told for name, told in there.told.items() if name.startswith("keys/art/")}
    if absent := here - arts.keys():
        yield Finding("remote-absent", counted(len(absent), "art"), "not in the shared store; push sends it")
    if absent := arts.keys() - here:
        yield Finding("remote-only", counted(len(absent), "art"), "in the shared store alone; pull brings it")
    for name in sorted(here & arts.keys()):
        own = told_art(project.store.record(name[:-5]), name[:-5])
        if own and arts[name].is_sound and own[0] not in arts[name].hashes:
            yield Finding("remote-other", name[:8], "another picture of the same request is there; it was first")


def prune_there(
    project: Project, database: Database | None, remote: Remote, days: int, now: float, cancel: Cancel, *, apply: bool
) -> Iterator[Removal]:
    """What is older than so many days and no lock file of this project names: takes and finals of the videos that its
    lock files have, what says nothing, and pictures that nothing there names. What this ledger shows stays, too.

    The names go first, then, after another look at all names, the pictures.
    """
    there, before = look_there(remote, cancel), now - days * DAY_S
    kept = named_in_locks(project.root) | (pictures.shown(database) if database else set())
    videos = _locked_videos(project)
    gone = {
        name
        for name, told in there.told.items()
        if told.entry.modified < before and (not told.is_sound or (told.video in videos and not told.hashes & kept))
    }
    for name in sorted(gone):
        cancel.check()
        if apply:
            remote.delete(name)
        yield Removal("art" if name.startswith("keys/art/") else "final", name, there.told[name].entry.bytes)
    left = look_there(remote, cancel).told if apply else {n: t for n, t in there.told.items() if n not in gone}
    named = frozenset[str]().union(kept, *(told.hashes for told in left.values()))
    unnamed = [entry for sha256, entry in sorted(there.pictures.items()) if sha256 not in named]
    for kind, entry in (*(("picture", entry) for entry in unnamed), *(("part", entry) for entry in there.parts)):
        if entry.modified >= before:
            continue
        cancel.check()
        if apply:
            remote.delete(entry.name)
        yield Removal(kind, entry.name, entry.bytes)


def _locked_videos(project: Project) -> set[str]:
    """Raises SpecError for a lock file that cannot be read: who cannot tell what is chosen deletes nothing."""
    locks = (find_lock(project.root, name) for name in lock_series(project.root))
    return {entry.video for lock in locks if lock for entry in lock.all}
