"""`doit fetch`: a playlist's metadata from YouTube or a file, into specs/playlists and the ledger."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thumbforge import log
from thumbforge.commands.command import ThumbCommand, print_json
from thumbforge.commands.lists.known import batch_of
from thumbforge.commands.verbs import Arguments, Verb, Word
from thumbforge.errors import Exit, Interrupted, UsageError
from thumbforge.tasks.options import Option, choice, flag
from thumbforge.text import counted, one_line

if TYPE_CHECKING:
    from thumbforge.planning.project import Project
    from thumbforge.playlists.fetch import FetchOutcome, FetchRequest
    from thumbforge.playlists.thumbnails import Thumbnail

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
SOURCES = {"api": "YouTube Data API", "ytdlp": "yt-dlp", "file": "file"}


def _fetch(project: Project, arguments: Arguments) -> int:
    from thumbforge.playlists.fetch import FetchRequest

    options = arguments.options
    configure_logging(project)
    request = FetchRequest(
        arguments.words[0],
        options["source"],
        refresh=options["refresh"],
        rename=options["rename"],
        numbering=options["parts"] or "next",
        name_of=lambda _: options["name"] or "",
        into=_list_named(project, options["name"]),
    )
    with stoppable():
        outcome = bring(project, request)
        pictures = _pictures(project, outcome, options["refresh"]) if options["thumbnails"] else None
    failed = [picture for picture in pictures or () if picture.status == "failed"]
    for picture in failed:
        log.warning(f"no thumbnail of {picture.video}: {picture.error}")
    code = Exit.PARTIAL if failed else Exit.DONE
    if arguments.as_json:
        print_json(_document(project, outcome, pictures, code))
    else:
        _print(project, outcome, pictures)
    return code


def _list_named(project: Project, name: str | None) -> str:
    """The list of the project that `name` means, "" where there is none yet: then its file is called so."""
    if not name:
        return ""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"name={name}: expected letters, digits, dots, - and _", hint="it is the name of the list's file"
        )
    return name if project.catalog.find_playlist(name) else ""


@contextmanager
def stoppable() -> Iterator[None]:
    """Ctrl-C while a source is asked is told as what it is."""
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted("fetch was stopped", hint="run it again: what is half done is gone on with") from None


def bring(project: Project, request: FetchRequest) -> FetchOutcome:
    """Fetch, and tell on stderr what there is to say about it."""
    from thumbforge.playlists.fetch import fetch, target_of

    target = target_of(request, project.cwd)
    _tell_choice(target.link)
    outcome = fetch(project, request, target)
    for warning in (*_told(outcome, proposed=request.numbering == "proposed"), *_held(outcome, request.word)):
        log.warning(warning)
    return outcome


def _told(outcome: FetchOutcome, *, proposed: bool) -> Iterator[str]:
    """The warnings, those of titles with other numbers than their parts as one, with what cures it. Where the titles'
    numbers were `proposed` and taken, that a place has another is none."""
    yield from (warning for warning in outcome.warnings if warning not in outcome.disagreements)
    if outcome.disagreements and not (outcome.is_new and proposed and outcome.numbering == "from-title"):
        first, more = outcome.disagreements[0], len(outcome.disagreements) - 1
        also = f" (and {more} more, which thumbforge playlist show {outcome.name} lists)" if more else ""
        cure = f"; thumbforge playlist renumber {outcome.name} --from-title takes the titles' numbers"
        yield f"{first}{also}{'' if outcome.numbering == 'from-title' else cure}"


def _held(outcome: FetchOutcome, word: str) -> Iterator[str]:
    """What is asked before every title changes at once."""
    if outcome.held:
        yield (
            f"all {outcome.held} titles would change at once: is it the same list in another language? They stay as"
            f" they are; thumbforge fetch {shlex.quote(word)} --rename takes the new ones"
        )


def configure_logging(project: Project) -> None:
    level = project.settings.text("log.level")
    file = project.home / "logs" / "thumbforge.jsonl"
    log.configure(level="warning" if level == "auto" else level, file=file)


def _tell_choice(link: Any) -> None:
    from thumbforge.sources.links import PlaylistLink

    if isinstance(link, PlaylistLink) and link.video:
        log.warning(f"the address names a video and a playlist: playlist {link.id} is fetched, not only {link.video}")


def _pictures(project: Project, outcome: FetchOutcome, refresh: bool) -> tuple[Thumbnail, ...]:
    from thumbforge.playlists.thumbnails import IMAGES_URL, store_thumbnails

    base_s = project.settings.number("retry.base_s")
    base_url = os.environ.get(IMAGES_URL)
    return store_thumbnails(project.home, outcome.playlist, refresh=refresh, retry_base_s=base_s, base_url=base_url)


def _document(
    project: Project, outcome: FetchOutcome, pictures: tuple[Thumbnail, ...] | None, code: Exit
) -> dict[str, Any]:
    head = outcome.playlist.playlist
    names = ("kind", "video", "title", "part", "position", "was")
    return {
        "playlist": head.id,
        "name": outcome.name,
        "title": head.title,
        "file": _relative(project, outcome.path),
        "source": outcome.source,
        "fetched_at": outcome.fetched_at,
        "fresh": outcome.is_fresh,
        "items": sum(not item.removed for item in outcome.playlist.items),
        "changes": [{name: getattr(change, name) for name in names} for change in outcome.changes],
        "edits": [asdict(edit) for edit in outcome.edits],
        "skipped": [{"place": s.place, "video": s.video, "reason": s.reason} for s in outcome.skipped],
        "warnings": list(outcome.warnings),
        "units": outcome.units,
        "run": outcome.run_id,
        "thumbnails": None if pictures is None else [_picture(project, picture) for picture in pictures],
        "exit_code": code,
    }


def _picture(project: Project, picture: Thumbnail) -> dict[str, Any]:
    return {
        "video": picture.video,
        "status": picture.status,
        "path": picture.path and _relative(project, picture.path),
        "size": picture.size or None,
        "width": picture.width or None,
        "height": picture.height or None,
        "error": picture.error or None,
    }


def _relative(project: Project, path: Path) -> str:
    from thumbforge.planning.project import relative

    return str(relative(path, project.root))


def _print(project: Project, outcome: FetchOutcome, pictures: tuple[Thumbnail, ...] | None) -> None:
    from thumbforge.commands.telling.view import print_table, write

    head = outcome.playlist.playlist
    at = datetime.fromtimestamp(outcome.fetched_at, UTC)
    write(f"{'playlist':<10} {one_line(head.title) or outcome.name} ({head.id})")
    write(f"{'source':<10} {SOURCES[outcome.source]}{f', {outcome.units} units of quota' if outcome.units else ''}")
    write(f"{'file':<10} {_relative(project, outcome.path)}")
    write("")
    if outcome.edits:
        _print_edits(outcome)
    elif outcome.is_fresh:
        write(f"Fetched {at:%Y-%m-%d %H:%M} UTC, less than 24 hours ago: nothing was asked. --refresh asks again.")
    else:
        _print_changes(outcome)
    if outcome.skipped:
        write("")
        print_table(
            ("place", "video", "skipped because"), [(str(s.place), s.video or "", s.reason) for s in outcome.skipped]
        )
    if pictures is not None:
        told = [f"{sum(p.status == status for p in pictures)} {status}" for status in ("stored", "kept", "failed")]
        write(f"\nThumbnails: {', '.join(told)} in {_relative(project, project.home / 'thumbnails')}/")
    write(f"Next: {batch_of(project, outcome.name, outcome.playlist.playlist.id)}")


def _print_changes(outcome: FetchOutcome) -> None:
    from thumbforge.commands.telling.view import print_table, write

    if not outcome.changes:
        write(f"Nothing has changed: {counted(len(outcome.playlist.items), 'item')}.")
        return
    rows = [(c.kind, "" if c.part is None else str(c.part), c.video, c.title, _was(c.was)) for c in outcome.changes]
    print_table(("change", "part", "video", "title", "was"), rows)
    kinds = ("added", "returned", "removed", "renamed", "moved")
    counts = {kind: sum(change.kind == kind for change in outcome.changes) for kind in kinds}
    write("\n" + ", ".join(f"{count} {kind}" for kind, count in counts.items() if count) + ".")
    if counts["added"] and not outcome.is_new:
        write(f"New videos have parts of their own now; thumbforge playlist renumber {outcome.name} numbers by place.")


def _print_edits(outcome: FetchOutcome) -> None:
    from thumbforge.commands.telling.view import print_table, write

    def shown(value: str | int | None) -> str:
        return "" if value is None else str(value).replace("\n", " / ")

    rows = [(shown(e.part), e.video, e.field, shown(e.now), shown(e.was)) for e in outcome.edits]
    print_table(("part", "video", "field", "says", "was"), rows)
    items = len({edit.position for edit in outcome.edits})
    write(f"\n{counted(len(rows), 'field')} of {counted(items, 'item')} written; all else is as it was.")


def _was(was: str | int | None) -> str:
    if was is None:
        return ""
    return f"place {was}" if isinstance(was, int) else was


class Fetch(ThumbCommand):
    name = "fetch"
    doc_purpose = "bring a playlist from YouTube, or from a file, into specs/playlists"
    doc_description = (
        "Writes specs/playlists/<id>.yaml; there, what you edited stays, and a video that is gone is marked as "
        "removed. A list is fresh for 24 hours. New videos get the next free parts; a part once given stays with its "
        "video. The key of the API is THUMBFORGE_YOUTUBE_API_KEY; without one yt-dlp is used, where it is installed."
    )
    example = "fetch 'https://www.youtube.com/playlist?list=PL…'; fetch list.csv --parts from-title"
    verbs = (
        Verb(
            "",
            (Word("URL|ID|FILE"),),
            _fetch,
            "the address or id of a playlist, a video or a channel, or a file that yt-dlp -J, the YouTube Data API or "
            "a spreadsheet (CSV) saved",
            (
                Option(
                    "name", "the list of the project that a CSV goes back into, or what a new list's file is called"
                ),
                choice("source", "where to ask; where it is not said, what is there, in this order", *SOURCES),
                flag("refresh", "ask again, also within 24 hours; a second time, believe a list that is short"),
                flag("rename", "take the new titles, also where every one changes at once; asks again within 24 hours"),
                choice("parts", "parts of new videos instead of the next free ones", "from-title", "position", "none"),
                flag("thumbnails", "store each video's current thumbnail in .thumbforge/thumbnails/"),
            ),
        ),
    )
