"""`thumbforge series …`: what series there are, what one is made of, and a new one in one line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from thumbforge.commands.command import ThumbCommand, fail, print_json
from thumbforge.commands.operands import ONE_SERIES
from thumbforge.commands.series_new import new
from thumbforge.commands.telling.together import together
from thumbforge.commands.verbs import CONCURRENCY, Arguments, Verb, Word
from thumbforge.errors import Exit, ThumbforgeError, UsageError
from thumbforge.tasks.options import Option, choice, flag
from thumbforge.tasks.variables import MAX_COST, SERIES_LOOK, SERIES_OPTIONS
from thumbforge.text import one_line

if TYPE_CHECKING:
    from thumbforge.planning.project import Project

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def _list(project: Project, arguments: Arguments) -> int:
    """By what the files say; a series that cannot be read is told on stderr, and the others stand there."""
    from thumbforge.commands.telling.view import print_table, write
    from thumbforge.planning.series import look_of

    found: list[dict[str, Any]] = []
    faults: dict[str, ThumbforgeError] = {}
    names = sorted(project.catalog.series_names())
    for name in names:
        try:
            spec = project.catalog.series(name)
        except ThumbforgeError as error:
            faults[f"series {name}"] = error
            continue
        look: dict[str, str] = {
            "template": look_of(spec, "template", project.settings),
            "provider": look_of(spec, "provider", project.settings),
        }
        found.append({"series": name, "playlist": spec.playlist, "hero": spec.hero, **look})
    fault = together(faults) if faults else None
    if arguments.as_json:
        print_json({"series": found, "exit_code": fault.exit_code if fault else Exit.DONE})
    elif found:
        columns = ("series", "list", "hero", "template", "provider")
        print_table(columns, [tuple(row.values()) for row in found])
    elif not names:
        write("No series yet.")
        write("Next: thumbforge series new 'https://www.youtube.com/playlist?list=…' --hero PICTURE")
    return fail(fault, as_json=arguments.as_json) if fault else Exit.DONE


def _show(project: Project, arguments: Arguments) -> int:
    from thumbforge.commands.telling.running import standing_of
    from thumbforge.commands.telling.series import described
    from thumbforge.commands.telling.view import write

    standing = standing_of(project, arguments.words[0])
    told = described(project, standing)
    if arguments.as_json:
        print_json({**told, "exit_code": Exit.DONE})
        return Exit.DONE
    where = told["standing"]
    lines = {
        "series": f"{told['series']} ({told['file']})",
        "playlist": f"{told['playlist']['title'] or told['playlist']['name']} ({told['playlist']['name']})",
        "hero": f"{told['hero']['named']} ({told['hero']['sha256'][:8]})",
        "template": f"{told['template']['name']}@{told['template']['version']}",
        "provider": told["provider"],
        "look": told["look"] or "",
        "vars": ", ".join(f"{name}={value}" for name, value in told["vars"].items()),
        "max_images": "" if told["max_images"] is None else str(told["max_images"]),
        "max_cost": told["max_cost"] or "",
        "pictures": f"{standing.done} of {where['total']} done, in {told['out']}/",
    }
    for name, text in lines.items():
        if text:
            write(f"{name:<11} {one_line(text)}")
    write(f"Next: {standing.next}" if standing.next else "Everything is up to date.")
    return Exit.DONE


def _sheet(project: Project, arguments: Arguments) -> int:
    """Written where it is not current: what lies in out/ and in the ledger is all that it asks."""
    from thumbforge.commands.telling.running import find_series
    from thumbforge.commands.telling.view import write
    from thumbforge.making.sheets.kept import keep_sheet, pack
    from thumbforge.planning.decide import plan_series
    from thumbforge.planning.project import relative
    from thumbforge.tasks.tasks import request_of
    from thumbforge.tasks.variables import Pairs

    [name], to, pairs = arguments.words, arguments.options["to"], arguments.pairs
    if to and not arguments.options["pack"]:
        raise UsageError("--to says where the packed sheet goes", hint="give --pack, too")
    if name:
        pairs = Pairs({**pairs.values, "series": name}, pairs.vars)
    planned = plan_series(project, find_series(project, request_of(pairs)))
    if arguments.options["pack"]:
        written = pack(project, planned, project.cwd / to if to else None)
    else:
        written = keep_sheet(project, planned, planned.rows)
    told = {"series": planned.series.name, "sheet": relative(written, project.root), "bytes": written.stat().st_size}
    if arguments.as_json:
        print_json({**told, "exit_code": Exit.DONE})
    else:
        size = f", {written.stat().st_size / 1e6:.1f} MB" if arguments.options["pack"] else ""
        write(f"Sheet: {told['sheet']}{size}")
    return Exit.DONE


def _name(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise ValueError("expected letters, digits, dots, - and _ only (at most 64)")
    return text


class SeriesCommand(ThumbCommand):
    name = "series"
    doc_purpose = "list or show the series of the project, or make one from a link and a picture"
    doc_description = (
        "A series is a playlist with a hero, a template and a provider: specs/series/NAME.yaml. new writes it and the "
        "playlist beside it, changes neither afterwards, and makes a project of a directory that is none."
    )
    example = (
        "series new 'https://www.youtube.com/playlist?list=PL…' --hero me.jpg --batch; "
        "series new list.json --hero me.jpg --name pandas"
    )
    default = "list"
    verbs = (
        Verb("list", (), _list, "every series with what it is made of"),
        Verb("show", (ONE_SERIES,), _show, "one series: what it is made of, where it stands, what to type next"),
        Verb(
            "sheet",
            (Word("NAME", is_optional=True, names="series"),),
            _sheet,
            "the page on which all its pictures can be looked at, with the commands that change them; no call",
            (
                *SERIES_OPTIONS,
                flag("pack", "one file with its pictures in it, to be sent: out/<series>/sheet-pack.html"),
                Option("to", "where the packed one goes instead", value="FILE"),
            ),
        ),
        Verb(
            "new",
            (Word("LINK|FILE"),),
            new,
            "fetch a list (an address, or a file of yt-dlp, the Data API or a spreadsheet), number its parts, write "
            "the series, and say what comes next",
            (
                Option("hero", "the picture that sets the style; one from elsewhere is copied into specs/heroes",
                       value="PICTURE", is_required=True, names="hero"),
                Option("name", "the name of the series, and of a list that is new; else a slug of the title", _name,
                       "NAME"),
                *SERIES_LOOK,
                choice("source", "where to ask; where it is not said, what is there, in this order",
                       "api", "ytdlp", "file"),
                flag("batch", "make the pictures, too, as batch does"),
                MAX_COST,
                CONCURRENCY,
            ),
        ),
    )  # fmt: skip
