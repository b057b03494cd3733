"""`hero look` and `hero cutout`: what is understood of a picture file, and a mask for it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from thumbforge.commands.command import print_json
from thumbforge.errors import Exit, NotFound

if TYPE_CHECKING:
    from thumbforge.commands.verbs import Arguments
    from thumbforge.planning.project import Project


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

    hero = project.cwd / word
    if not hero.is_file():
        raise NotFound(f"there is no file {word}", hint=f"paths count from {project.cwd}")
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
