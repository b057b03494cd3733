"""`hero list`, `look` and `cutout`: which pictures there are, what is understood of one, and a mask for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thumbforge.commands.command import print_json
from thumbforge.errors import Exit, NotFound, ThumbforgeError
from thumbforge.named import as_written, elsewhere

if TYPE_CHECKING:
    from thumbforge.commands.verbs import Arguments
    from thumbforge.planning.project import Project


_RUNS = 100
"""So many hero runs of a kind, the newest, are looked through for their picks."""


def tell_heroes(project: Project, *, as_json: bool) -> int:
    """What `hero=` may name here, and the series that do."""
    from thumbforge.commands.telling.view import print_table, write

    found = [*_files(project), *_picks(project)]
    if as_json:
        print_json({"heroes": found, "exit_code": Exit.DONE})
    elif found:
        rows = [
            (row["hero"], row["kind"], ", ".join(row["series"]), "yes" if row["mask"] else "", row["path"])
            for row in found
        ]
        print_table(("hero", "kind", "series", "mask", "file"), rows)
    else:
        write("No heroes yet: put a picture into specs/heroes/, or name any picture with hero=.")
        write("Next: thumbforge hero generate VIDEO")
    return Exit.DONE


def _files(project: Project) -> Iterator[dict[str, Any]]:
    from thumbforge.planning.hero_files import hero_files
    from thumbforge.planning.project import relative
    from thumbforge.planning.staging import mask_beside

    files = hero_files(project.root)
    stems = [path.stem for path in files]
    for path in files:
        name = path.stem if stems.count(path.stem) == 1 else path.name
        mask = mask_beside(path)
        yield {
            "hero": name,
            "kind": "file",
            "path": relative(path, project.root),
            "mask": relative(mask, project.root) if mask.is_file() else None,
            "series": _series_with(project, {name, path.name, relative(path, project.root)}),
        }


def _picks(project: Project) -> Iterator[dict[str, Any]]:
    from thumbforge.planning.hero_files import hero_files
    from thumbforge.planning.project import relative
    from thumbforge.planning.reference import hero_of_file
    from thumbforge.store.heroes import candidates
    from thumbforge.store.views import find_run, list_runs

    known = {hero_of_file(path).run_id for path in hero_files(project.root)}  # recorded as runs by batches with them
    with project.reading() as database:
        runs = (
            [run for kind in ("hero", "iterate") for run in list_runs(database, kind=kind, status=None, limit=_RUNS)]
            if database
            else []
        )
        for run in sorted(runs, key=lambda run: run["started_at"] or 0, reverse=True):
            assert database is not None
            pick = next((c for c in candidates(database, find_run(database, run["id"])) if c.picked), None)
            if pick is None or pick.final is None or run["id"] in known:
                continue
            yield {
                "hero": run["id"][:8],
                "kind": "pick",
                "path": relative(project.store.path(*pick.final), project.root),
                "mask": None,
                "series": _series_with(project, {run["id"], run["id"][:8], pick.iteration_id, pick.iteration_id[:8]}),
            }


def _series_with(project: Project, names: set[str]) -> list[str]:
    """The series whose hero is called so; what cannot be read is told where it is used."""
    found = []
    for name in sorted(project.catalog.series_names()):
        with suppress(ThumbforgeError):
            if project.catalog.series(name).hero in names:
                found.append(name)
    return found


def look(project: Project, word: str, arguments: Arguments) -> int:
    """Tell what is understood, write the sheet."""
    from thumbforge.commands.telling.view import print_table, write
    from thumbforge.making.hero_look import look_at
    from thumbforge.planning.project import relative

    to = arguments.options["to"]
    name = f"look-{Path(word).stem}.png"
    sheet = project.cwd / to if to else project.home / "sheets" / name
    found = look_at(project, word, sheet)
    if arguments.as_json:
        print_json(
            {
                "hero": word,
                "width": found.width,
                "height": found.height,
                "subject": {"kind": found.kind, "box": found.box and [round(side, 3) for side in found.box]},
                "face": found.face and [round(side, 3) for side in found.face],
                "mask": found.mask and relative(found.mask, project.root),
                "look": found.look,
                "remarks": list(found.remarks),
                "shown": [
                    {
                        "template": one.template,
                        "look": one.look,
                        "drawn_as": one.drawn_as,
                        "side": one.side,
                        "face_height": one.face and round(one.face, 3),
                        "notes": list(one.notes),
                    }
                    for one in found.shown
                ],
                "sheet": relative(sheet, project.root),
                "exit_code": int(Exit.DONE),
            }
        )
        return Exit.DONE
    write(f"{word}: {found.width}x{found.height}, look: {found.look}")
    write(f"subject: {_shares(found.box) if found.box else 'none'}   # {_WORDS[found.kind]}")
    if found.face:
        write(f"face: {_shares(found.face)}")
    for remark in found.remarks:
        write(f"- {remark}")
    rows = [
        (
            one.template,
            one.drawn_as if one.look == "auto" else one.look,
            one.side,
            f"{one.face:.0%}" if one.face else "",
            "; ".join(one.notes),
        )
        for one in found.shown
    ]
    print_table(("template", "look", "free side", "face", "warnings"), rows)
    write(f"Contact sheet: {relative(sheet, project.root)}")
    return Exit.DONE


def cutout(project: Project, word: str, arguments: Arguments) -> int:
    """Make the mask, say what it holds."""
    from thumbforge.commands.telling.view import write
    from thumbforge.making.cutout import cut_out
    from thumbforge.planning.project import relative

    hero = as_written(project.cwd / word)
    if not hero.is_file():
        raise NotFound(f"there is no file {word}", hint=elsewhere(word, project.cwd))
    to = arguments.options["to"]
    preview = project.home / "sheets" / f"cutout-{hero.stem}.png"
    found = cut_out(hero, project.cwd / to if to else None, preview, arguments.options["model"])
    if arguments.as_json:
        document = {
            "mask": relative(found.mask, project.root),
            "preview": relative(found.preview, project.root),
            "subject": [round(side, 3) for side in found.subject],
            "face": found.face and [round(side, 3) for side in found.face],
            "usable": not found.remark,
            "exit_code": int(Exit.DONE),
        }
        print_json(document)
        return Exit.DONE
    write(f"{relative(found.mask, project.root)}: subject {_shares(found.subject)}")
    if found.face:
        write(f"face {_shares(found.face)}, kept in the mask: face: in the series puts it right")
    if found.remark:
        write(f"- it is not cut with: {found.remark}")
    write(f"Look at it once: {relative(found.preview, project.root)}")
    return Exit.DONE


_WORDS = {
    "masked": "cut out by its mask",
    "given": "as told",
    "found": "found; look at the sheet",
    "none": "nothing stands out: a ground",
}


def _shares(box: tuple[float, ...]) -> str:
    return "[" + ", ".join(f"{side:.2f}" for side in box) + "]"
