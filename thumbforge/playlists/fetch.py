"""`fetch`: from a link or a file to specs/playlists and the ledger.

choose the source -> fresh enough? -> ask -> merge into the YAML -> state in the ledger -> note that it was done. Each
step may be done again after a crash at any place; the note comes last.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
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
from thumbforge.playlists.fetch_state import FetchState, answers_of, keep_answers, keep_state, state_of
from thumbforge.playlists.merge import ListChange, Numbering, Taken, keyed, merge
from thumbforge.sources import ytdlp
from thumbforge.sources.api_errors import KEY
from thumbforge.sources.fetched import FetchedPlaylist, Skipped
from thumbforge.sources.links import ChannelLink, PlaylistLink, VideoLink, parse_target

API_URL = "THUMBFORGE_YOUTUBE_API_URL"
Source = Literal["api", "ytdlp", "file"]
Link = PlaylistLink | VideoLink | ChannelLink

_FILE_LIKE = (".json", ".jsonl", ".csv", ".tsv", ".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class FetchRequest:
    """What was asked for. A list that is new to the project is written to a file called as `name_of` its head says,
    "" for its id."""

    word: str
    source: str | None = None
    refresh: bool = False
    rename: bool = False
    numbering: Numbering = "next"
    name_of: Callable[[PlaylistHead], str] = lambda _: ""


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
        from thumbforge.sources.files import read_file

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
