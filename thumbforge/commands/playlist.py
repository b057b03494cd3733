"""`doit playlist …`: the playlists of the project, and their parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from thumbforge.commands.command import ThumbCommand, print_json
from thumbforge.commands.lists.export import EXPORT
from thumbforge.commands.lists.known import find
from thumbforge.commands.lists.setting import SET
from thumbforge.commands.operands import PLAYLIST
from thumbforge.commands.verbs import Arguments, Verb
from thumbforge.errors import Exit, UsageError
from thumbforge.tasks.options import Option, flag, moment, whole
from thumbforge.text import counted, one_line

if TYPE_CHECKING:
    from thumbforge.models import Item
    from thumbforge.planning.project import Project
    from thumbforge.playlists.history import Change
    from thumbforge.playlists.renumber import Numbers
    from thumbforge.specs.catalog import LoadedPlaylist
    from thumbforge.store.facts import Fact
    from thumbforge.store.runs import Ingest

_BY = {"fetch": "fetch", "renumber": "renumber", "set": "set", "file": "file", "edit": "hand"}


def _list(project: Project, arguments: Arguments) -> int:
    from thumbforge.commands.telling.view import print_table, write
    from thumbforge.specs.yaml_file import gather

    names = project.catalog.playlist_names()
    found = gather([_loader(project, name) for name in names])
    rows = [_listed(project, loaded) for loaded in found]
    if arguments.as_json:
        print_json({"playlists": rows})
    elif not rows:
        write("No playlists yet. thumbforge fetch <address of a playlist> brings one.")
    else:
        print_table(
            ("name", "id", "title", "items", "parts", "fetched"),
            [(r["name"], r["id"], r["title"], _items(r), r["parts"] or "", _day(r["fetched_at"])) for r in rows],
        )
    return Exit.DONE


def _show(project: Project, arguments: Arguments) -> int:
    from thumbforge.commands.telling.view import print_table, write

    loaded = find(project, arguments.words[0])
    if (at := arguments.options["at"]) is not None:
        return _show_as_it_was(project, loaded, at, arguments.as_json)
    rows = [_shown(position, item) for position, item in enumerate(loaded.spec.items, 1)]
    if arguments.as_json:
        print_json({**_listed(project, loaded), "entries": rows})
        return Exit.DONE
    head = loaded.spec.playlist
    write(f"{one_line(head.title) or loaded.name} ({head.id}), {loaded.name}.yaml\n")
    print_table(
        ("position", "part", "video", "title", "text", "removed", "note"),
        [
            (str(r["position"]), _number(r["part"]), r["video"], r["title"], r["text"] or "",
             "removed" if r["removed"] else "", r["note"] or "")
            for r in rows
        ],
    )  # fmt: skip
    return Exit.DONE


def _show_as_it_was(project: Project, loaded: LoadedPlaylist, at: float, as_json: bool) -> int:
    from thumbforge.commands.telling.view import print_table, when, write
    from thumbforge.playlists.history import entries_at

    head = loaded.spec.playlist
    entries = entries_at(_history(project, head.id)[0], at)
    if as_json:
        print_json(
            {"playlist": head.id, "name": loaded.name, "at": at, "entries": [asdict(entry) for entry in entries]}
        )
    elif not entries:
        write(f"Nothing was known of {loaded.name} at {when(at)}.")
    else:
        write(f"{one_line(head.title) or loaded.name} ({head.id}), as it was at {when(at)}\n")
        rows = [(str(entry.position), _number(entry.part), entry.video, entry.title) for entry in entries]
        print_table(("position", "part", "video", "title"), rows)
    return Exit.DONE


def _log(project: Project, arguments: Arguments) -> int:
    from thumbforge.commands.telling.view import print_table, when, write
    from thumbforge.playlists.history import changes

    loaded, since = find(project, arguments.words[0]), arguments.options["since"]
    ever = list(changes(*_history(project, loaded.spec.playlist.id)))
    told = [change for change in ever if change.at >= (since or 0)]
    if arguments.as_json:
        head = loaded.spec.playlist
        print_json({"playlist": head.id, "name": loaded.name, "changes": [asdict(change) for change in told]})
    elif not told:
        write(f"Nothing has changed in {loaded.name}{f' since {when(since)}' if since else ''}.")
    else:
        print_table(("when", "by", "change", "part", "video", "title", "was"), list(_logged(told, first=ever[0].run)))
    return Exit.DONE


def _history(project: Project, playlist: str) -> tuple[list[Fact], list[Ingest]]:
    from thumbforge.store import facts, runs

    with project.reading() as database:
        if database is None:
            return [], []
        return facts.history(database, playlist), runs.ingests(database, playlist)


def _logged(changes: Sequence[Change], first: str) -> Iterator[tuple[str, ...]]:
    """A row for each, but one for all that the first run listed."""
    from itertools import groupby

    from thumbforge.commands.telling.view import when

    for (at, by, run), group in groupby(changes, key=lambda change: (change.at, change.by, change.run)):
        together = list(group)
        if run == first and len(together) > 1:
            yield when(at), _BY.get(by or "", ""), "listed", "", "", f"{len(together)} videos", ""
            continue
        for change in together:
            was = _was(change.kind, change.was)
            yield when(at), _BY.get(by or "", ""), change.kind, _number(change.part), change.video, change.title, was


def _was(kind: str, was: str | int | None) -> str:
    if kind == "renumbered":
        return "no part" if was is None else f"part {was}"
    return f"place {was}" if kind == "moved" else one_line(str(was or ""))


def _renumber(project: Project, arguments: Arguments) -> int:
    from thumbforge.commands.telling.view import print_table, write
    from thumbforge.playlists.playlist_file import Written
    from thumbforge.playlists.renumber import renumber, renumbered

    numbers, dry_run = _numbers(arguments), arguments.options["dry-run"]
    loaded = find(project, arguments.words[0])
    if dry_run:
        written = Written(loaded.name, loaded.path, renumbered(loaded.spec, numbers), loaded.spec)
    else:
        written = renumber(project, loaded.spec.playlist.id, numbers)
    assert written.before is not None
    pairs = zip(written.before.items, written.playlist.items, strict=True)
    rows: list[dict[str, Any]] = [
        {"position": position, "video": now.video, "title": now.title, "before": was.part, "after": now.part}
        for position, (was, now) in enumerate(pairs, 1)
    ]
    changed = sum(row["before"] != row["after"] for row in rows)
    if arguments.as_json:
        head = written.playlist.playlist
        told = {"playlist": head.id, "name": written.name, "dry_run": dry_run, "changed": changed}
        print_json({**told, "items": rows, "exit_code": Exit.DONE})
        return Exit.DONE
    print_table(
        ("position", "before", "after", "video", "title"),
        [(str(r["position"]), _number(r["before"]), _number(r["after"]), r["video"], r["title"]) for r in rows],
    )
    write(f"\n{changed} of {len(rows)} parts change{'' if not dry_run else '; nothing was written'}.")
    return Exit.DONE


def _propose_text(project: Project, arguments: Arguments) -> int:
    from thumbforge.commands.telling.view import print_table, write
    from thumbforge.playlists.words import proposals, propose_text

    loaded, is_applied = find(project, arguments.words[0]), arguments.options["apply"]
    found = list(proposals(loaded.spec).values())
    new = sum(row.is_new for row in found)
    if is_applied and new:
        propose_text(project.root, loaded.spec.playlist.id)
    if arguments.as_json:
        head = {"playlist": loaded.spec.playlist.id, "name": loaded.name, "applied": is_applied and new > 0}
        print_json({**head, "items": [asdict(row) for row in found], "exit_code": Exit.DONE})
        return Exit.DONE
    print_table(
        ("part", "title", "text", "proposed"),
        [(_number(row.part), row.title, row.kept or "", (row.text or "") if row.is_new else "") for row in found],
    )
    kept, none = sum(row.kept is not None for row in found), sum(row.kept is None and not row.text for row in found)
    told = f"{counted(new, 'text')} {'written' if is_applied else 'proposed'}, {kept} kept, {none} without a good one."
    write(f"\n{told}{f' --apply writes them into {loaded.name}.yaml.' if new and not is_applied else ''}")
    return Exit.DONE


def _numbers(arguments: Arguments) -> Numbers:
    from thumbforge.playlists.renumber import Numbers

    start, from_title = arguments.options["start"], arguments.options["from-title"]
    if start is not None and from_title:
        raise UsageError("--start and --from-title both say the numbers", hint="leave one of them out")
    return Numbers(1 if start is None else start, arguments.options["skip"], from_title)


def _videos(text: str) -> frozenset[str]:
    return frozenset(filter(None, (word.strip() for word in text.split(","))))


def _loader(project: Project, name: str) -> Callable[[], LoadedPlaylist]:
    def load() -> LoadedPlaylist:
        found = project.catalog.find_playlist(name)
        assert found is not None
        return project.catalog.load_playlist(found[1])

    return load


def _listed(project: Project, loaded: LoadedPlaylist) -> dict[str, Any]:
    from thumbforge.playlists.fetch_state import state_of

    head, items = loaded.spec.playlist, loaded.spec.items
    parts = sorted(item.part for item in items if item.part is not None and not item.removed)
    return {
        "name": loaded.name,
        "id": head.id,
        "title": head.title,
        "items": sum(not item.removed for item in items),
        "removed": sum(item.removed for item in items),
        "parts": f"{parts[0]}-{parts[-1]}" if parts else None,
        "fetched_at": state_of(project.home, head.id).fetched_at or None,
    }


def _shown(position: int, item: Item) -> dict[str, Any]:
    from thumbforge.sources.part_marks import part_in

    said = part_in(item.title)
    differs = said is not None and item.part is not None and said != item.part and not item.removed
    return {
        "position": position,
        "part": item.part,
        "video": item.video,
        "title": item.title,
        "text": item.text,
        "removed": item.removed,
        "note": f"the title says {said}" if differs else None,
    }


def _items(row: dict[str, Any]) -> str:
    return f"{row['items']} ({row['removed']} removed)" if row["removed"] else str(row["items"])


def _number(part: int | None) -> str:
    return "" if part is None else str(part)


def _day(at: float | None) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M") if at else ""


class Playlists(ThumbCommand):
    name = "playlist"
    doc_purpose = "list or show playlists, tell what changed, write texts and parts"
    doc_description = "NAME is a playlist's name, id or address; ITEM is a part, a video id, or a position (#3)."
    example = "playlist show my-list; playlist set my-list 7 text='*Short* words'; playlist renumber my-list --start 0"
    default = "list"
    verbs = (
        Verb("list", (), _list, "every playlist of the project"),
        Verb(
            "show",
            (PLAYLIST,),
            _show,
            "its items with part and text",
            (Option("at", "as it was then; a day alone means its end", moment(is_end=True), "DATE"),),
        ),
        Verb(
            "log",
            (PLAYLIST,),
            _log,
            "what changed in it, when, and by what: a fetch, renumber, or a hand",
            (Option("since", "changes from then on only", moment(), "DATE"),),
        ),
        SET,
        EXPORT,
        Verb(
            "propose-text",
            (PLAYLIST,),
            _propose_text,
            "the few words of each title that are worth drawing, by rule; what a person wrote stays",
            (flag("apply", "write them as `text:` into the YAML; comments and everything else stay"),),
        ),
        Verb(
            "renumber",
            (PLAYLIST,),
            _renumber,
            "number the videos by their places, or as their titles say; shows before and after, keeps comments and "
            "everything else in the YAML, and no later fetch changes a part",
            (
                Option("start", "the first part, 1 where it is not given", whole(0, 999_999), "N"),
                Option("skip", "videos that get no part, with commas between", _videos, "ID,ID", default=frozenset()),
                flag("from-title", "take the numbers that the titles say (Ep. 07, #12, Teil 4, 第3話)"),
                flag("dry-run", "show the new parts, change nothing"),
            ),
        ),
    )
