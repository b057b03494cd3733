"""`fetch`: from a link or a file to specs/playlists and the ledger.

choose the source -> fresh enough? -> ask -> merge into the YAML -> state in the ledger -> note that it was done. Each
step may be done again after a crash at any place; the note comes last.
"""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

from thumbforge import install
from thumbforge.errors import NotFound, UsageError
from thumbforge.models import Playlist, PlaylistHead
from thumbforge.named import as_written, elsewhere
from thumbforge.planning.project import Project
from thumbforge.playlists import playlist_file
from thumbforge.playlists.fetch_state import (
    FetchState,
    answers_of,
    exported_of,
    keep_answers,
    keep_exported,
    keep_state,
    state_of,
)
from thumbforge.playlists.merge import ListChange, Numbering, Taken, keyed, merge
from thumbforge.playlists.spreadsheet import Edit, digest_of, returned, taken_back
from thumbforge.sources import cells, ytdlp
from thumbforge.sources.api_errors import KEY
from thumbforge.sources.csv_file import Table
from thumbforge.sources.fetched import FetchedPlaylist, Skipped, playlist_id
from thumbforge.sources.files import read_file, table_in
from thumbforge.sources.links import ChannelLink, PlaylistLink, VideoLink, parse_target
from thumbforge.specs.catalog import LoadedPlaylist
from thumbforge.text import counted

API_URL = "THUMBFORGE_YOUTUBE_API_URL"
Source = Literal["api", "ytdlp", "file"]
Link = PlaylistLink | VideoLink | ChannelLink

_FILE_LIKE = (".json", ".jsonl", ".csv", ".tsv", ".txt", ".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class FetchRequest:
    """What was asked for. A list that is new to the project is written to a file called as `name_of` its head says,
    "" for its id. `into` is the name or id of the list that a CSV goes back into, "" where that is the file's name."""

    word: str
    source: str | None = None
    refresh: bool = False
    rename: bool = False
    numbering: Numbering = "next"
    name_of: Callable[[PlaylistHead], str] = lambda _: ""
    into: str = ""


@dataclass(frozen=True, slots=True)
class Target:
    """Where the list is: a file, or a link to be asked for."""

    source: Source
    link: Link | None
    path: Path | None


@dataclass(frozen=True, slots=True)
class FetchOutcome:
    """What a fetch came to. `is_fresh`: nothing was asked, because the last fetch is young. `units` of the Data API's
    quota were spent. `run_id` is None where the ledger knew all of it."""

    source: Source
    name: str
    path: Path
    playlist: Playlist
    fetched_at: float
    is_fresh: bool = False
    is_new: bool = False
    changes: tuple[ListChange, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    warnings: tuple[str, ...] = ()
    disagreements: tuple[str, ...] = ()
    """Those of the warnings that tell of a title with another number than its part."""
    numbering: Taken = "next"
    """How new videos got their parts."""
    held: int = 0
    """So many titles of the source were not taken over, because every one would have changed at once."""
    units: int = 0
    run_id: str | None = None
    edits: tuple[Edit, ...] = ()
    """What a file that came back says otherwise than the list did."""


def target_of(request: FetchRequest, cwd: Path, environ: Mapping[str, str] = os.environ) -> Target:
    """Raises UsageError for a word that names nothing, or where no source can be used; NotFound for a file."""
    asked = request.source
    if asked not in (None, *get_args(Source)):
        raise UsageError(f"--source {asked}: expected api, ytdlp or file", hint="thumbforge help fetch")
    path = _as_written(cwd / request.word)
    if asked == "file" or (asked is None and _is_file(path)):
        if not _is_file(path):
            raise NotFound(f"there is no file {request.word}", hint=elsewhere(request.word, cwd))
        return Target("file", None, path)
    if request.word.lower().endswith(_FILE_LIKE):
        raise NotFound(f"there is no file {request.word}", hint=elsewhere(request.word, cwd))
    link = parse_target(request.word)
    if asked == "api" and not environ.get(KEY):
        raise UsageError(f"--source api needs {KEY}", hint="make a key at console.cloud.google.com, or --source ytdlp")
    if asked == "api" or (asked is None and environ.get(KEY)):
        return Target("api", link, None)
    if asked == "ytdlp" or ytdlp.is_installed():
        return Target("ytdlp", link, None)
    hint = f"set {KEY}, or {install.command('ytdlp')}, or give a file that yt-dlp -J or a spreadsheet (CSV) saved"
    raise UsageError("there is no source to fetch from: neither a key nor yt-dlp", hint=hint)


def fetch(
    project: Project, request: FetchRequest, target: Target, environ: Mapping[str, str] = os.environ
) -> FetchOutcome:
    """Bring the list up to date in specs/playlists and the ledger.

    A source's error (SourceError and its kin, NotFound) leaves everything as it was. Raises SpecError for a playlist's
    YAML that is wrong.
    """
    now = time.time()
    if target.path and (table := table_in(target.path)) and (kept := _list_of(project, request, table)):
        return _taken_back(project, kept, table, now)
    if not (request.refresh or request.rename) and (fresh := _fresh(project, target, now)):
        return fresh
    fetched, units = _asked(project, target, environ)
    head = fetched.playlist.playlist
    state = state_of(project.home, head.id)
    whole = fetched.missing <= state.missing or (request.refresh and fetched.missing == state.doubted)
    numbering, rename = request.numbering, request.rename
    merged_into = partial(
        merge,
        fetched=fetched,
        numbering=numbering,
        whole=whole,
        rename=rename,
        held=state.held,
        head_before=state.head,
    )
    name = request.name_of(head)
    written = playlist_file.change(project.root, head.id, lambda old: merged_into(old).playlist, name)
    run_id = playlist_file.record(project, written, "fetch")
    doubts = () if whole else _doubts(written.playlist, fetched)
    known: dict[str, Any] = {"doubted": fetched.missing} if doubts else {"missing": fetched.missing, "doubted": None}
    merged = merged_into(written.before)
    known |= {"head": head.model_dump(), "held": dict(merged.held)}
    keep_state(
        project.home, replace(state, playlist=head.id, source=target.source, fetched_at=now, **known), target.link
    )
    return FetchOutcome(
        source=target.source,
        name=written.name,
        path=written.path,
        playlist=written.playlist,
        fetched_at=now,
        is_new=written.before is None,
        changes=merged.changes,
        skipped=fetched.skipped,
        warnings=(*fetched.warnings, *doubts, *merged.warnings),
        disagreements=merged.disagreements,
        numbering=merged.numbering,
        held=len(merged.held),
        units=units,
        run_id=run_id,
    )


def _list_of(project: Project, request: FetchRequest, table: Table) -> LoadedPlaylist | None:
    """The list that a CSV goes back into; None where it is one of its own. UsageError where it is an export of another
    name."""
    catalog, stem = project.catalog, table.path.stem
    found = catalog.find_playlist(request.into or stem)
    if found and (request.into or table.is_export or found[0] != playlist_id(stem)):
        return catalog.load_playlist(found[1])
    if found or not table.is_export:
        return None
    video = next((cells.read(row["video"]).strip() for row in table.rows.values()), "")
    holding = [n for n in catalog.playlist_names() if any(i.video == video for i in catalog.playlist_file(n).items)]
    if not holding:
        return None
    words = [f"thumbforge fetch {shlex.quote(request.word)} name={name}" for name in holding[:3]]
    raise UsageError(f"{table.path.name} has the videos of {' and of '.join(holding[:3])}", hint=" or ".join(words))


def _taken_back(project: Project, kept: LoadedPlaylist, table: Table, now: float) -> FetchOutcome:
    """What a person wrote into an export, into the list that it is of; no source was asked."""
    name = kept.spec.playlist.id
    base = exported_of(project.home, name).get("cells", {})

    def decide(before: Playlist | None) -> Playlist:
        if before is None:
            raise NotFound(f"playlist {name} is not in specs/playlists any more")
        return taken_back(before, table, base, project.root).playlist

    written = playlist_file.change(project.root, name, decide)
    assert written.before is not None
    back = taken_back(written.before, table, base, project.root)
    run_id = playlist_file.record(project, written, "file") if back.edits else None
    said = {"cells": returned(written.playlist, table, base), "file": digest_of(table.path)}
    keep_exported(project.home, name, said)
    return FetchOutcome(
        source="file",
        name=written.name,
        path=written.path,
        playlist=written.playlist,
        fetched_at=now,
        warnings=(*table.warnings, *_without_row(back.absent)),
        run_id=run_id,
        edits=back.edits,
    )


def _without_row(absent: Sequence[str]) -> Iterator[str]:
    if absent:
        more = f" and {len(absent) - 3} more" if len(absent) > 3 else ""
        videos = f"{', '.join(absent[:3])}{more}"
        yield f"{counted(len(absent), 'video')} of the list without a row in the file, left as in the list: {videos}"


def _fresh(project: Project, target: Target, now: float) -> FetchOutcome | None:
    """The list as it is, where the same source was asked for it less than a day ago."""
    state = state_of(project.home, target.link.name) if target.link else FetchState()
    if not state.playlist or not state.is_fresh(now, target.source):
        return None
    kept = playlist_file.find(project.root, state.playlist)
    if kept is None:
        return None
    return FetchOutcome(target.source, kept.name, kept.path, kept.spec, state.fetched_at, is_fresh=True)


def _asked(project: Project, target: Target, environ: Mapping[str, str]) -> tuple[FetchedPlaylist, int]:
    """What the source says, and the units of quota that it took."""
    base_s, language = project.settings.number("retry.base_s"), project.settings.text("fetch.language")
    if target.path:
        return read_file(target.path), 0
    assert target.link is not None
    if target.source == "ytdlp":
        return ytdlp.fetch(target.link, base_s, language), 0
    from thumbforge.sources.youtube_api import BASE_URL, YouTubeApi

    kept = answers_of(project.home, target.link.name)
    api = YouTubeApi(environ[KEY], environ.get(API_URL) or BASE_URL, base_s, kept, language=language)
    fetched = api.fetch(target.link)
    keep_answers(project.home, target.link.name, api.answers)
    return fetched, api.units


def _doubts(playlist: Playlist, fetched: FetchedPlaylist) -> tuple[str, ...]:
    """A list that is shorter than it says takes nothing away."""
    listed = keyed(fetched.playlist.items)
    absent = (item for key, item in keyed(playlist.items).items() if key not in listed)
    count = sum("removed" not in item.model_fields_set for item in absent)
    if not count:
        return ()
    told = f"{count} stored videos are not in this short list and stay as they are"
    return (f"{told}; if they are really gone, fetch again with --refresh",)


def _as_written(path: Path) -> Path:
    try:
        return as_written(path)
    except (OSError, ValueError):  # too long for a name, or with a NUL byte
        return path


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # too long for a name, or with a NUL byte
        return False
