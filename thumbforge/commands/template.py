"""`doit template …`: look at templates, begin one, check it, and try it without cost."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thumbforge.commands.command import ThumbCommand, print_json
from thumbforge.commands.operands import TEMPLATE
from thumbforge.commands.verbs import VAR, Arguments, Verb, Word
from thumbforge.errors import Exit, StoreError, ThumbforgeError, UsageError
from thumbforge.tasks.options import Option, whole
from thumbforge.text import one_line, printable

if TYPE_CHECKING:
    from thumbforge.planning.preview import Trial
    from thumbforge.planning.project import Project
    from thumbforge.planning.template_check import Source
    from thumbforge.planning.wanted import Wanted

BASE = "series-parts"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def _list(project: Project, arguments: Arguments) -> int:
    from thumbforge.commands.telling.view import print_table
    from thumbforge.planning.template_check import sources

    rows = [_row(project, source) for source in sources(project.catalog)]
    if arguments.as_json:
        print_json({"templates": rows})
        return Exit.DONE
    print_table(("name", "version", "from", "hash", "extends", "problem"), [_cells(row) for row in rows])
    return Exit.DONE


def _row(project: Project, source: Source) -> dict[str, Any]:
    from thumbforge.planning.template_check import file_of

    template, problem = None, None
    try:
        template = project.catalog.template(source.name)
    except ThumbforgeError as error:
        problem = error.message
    return {
        "name": source.name,
        "version": template and template.version,
        "origin": "built-in" if source.is_built_in else "project",
        "file": file_of(project, source.path),
        "spec_hash": template and template.spec_hash,
        "extends": source.extends or None,
        "problem": problem,
    }


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    version, spec_hash = row["version"], row["spec_hash"]
    return (
        row["name"],
        "" if version is None else str(version),
        row["origin"],
        (spec_hash or "")[:8],
        row["extends"] or "",
        row["problem"] or "",
    )


def _show(project: Project, arguments: Arguments) -> int:
    from thumbforge.commands.telling.view import write
    from thumbforge.commands.template_text import as_yaml, content
    from thumbforge.planning.template_check import source

    [name] = arguments.words
    found = source(project.catalog, name)
    template = project.catalog.template(name)
    row = _row(project, found)
    if arguments.as_json:
        print_json({**{key: row[key] for key in row if key != "problem"}, "template": content(template)})
        return Exit.DONE
    base = f", extends {found.extends}" if found.extends else ""
    write(f"# {row['origin']}: {row['file']}{base}")
    write(f"# spec_hash: {template.spec_hash}")
    write(as_yaml(template).rstrip())
    return Exit.DONE


def _new(project: Project, arguments: Arguments) -> int:
    from thumbforge.commands.telling.view import write
    from thumbforge.commands.template_text import starter
    from thumbforge.named import inside
    from thumbforge.planning.template_check import source

    [name] = arguments.words
    if not _NAME.fullmatch(name) or name.lower().endswith((".yaml", ".yml")):
        raise UsageError(
            f"{name!r} is no name for a template",
            hint="letters, digits, dots, - and _; at most 64, no folder, no .yaml",
        )
    built_in = name in project.catalog.template_names() and source(project.catalog, name).is_built_in
    base = arguments.options["from"] or (name if built_in else BASE)
    folder = project.root / "specs" / "templates"
    taken = [folder / f"{name}{suffix}" for suffix in (".yaml", ".yml")]
    if there := next((path for path in taken if path.exists()), None):
        raise UsageError(
            f"specs/templates/{there.name} is there already", hint="choose another name, or edit that file"
        )
    if base == name and not built_in:
        raise UsageError(f"{name} cannot start from itself", hint="thumbforge template list shows the others")
    template = project.catalog.template(base)
    text = starter(name, template, template.version + 1 if base == name else 1)
    _write_new(inside(project.root, f"specs/templates/{name}.yaml"), text)
    if arguments.as_json:
        print_json({"name": name, "extends": base, "file": f"specs/templates/{name}.yaml"})
        return Exit.DONE
    write(f"made  specs/templates/{name}.yaml")
    write(f"Next: edit it, then thumbforge template preview {name}")
    return Exit.DONE


def _write_new(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise StoreError(f"{path} could not be written: {error.strerror}") from error


def _validate(project: Project, arguments: Arguments) -> int:
    from thumbforge import log
    from thumbforge.commands.telling.view import print_table, write
    from thumbforge.planning.template_check import check_all, file_of, find, sources

    paths = [find(project, word) for word in arguments.words] or [
        source.path for source in sources(project.catalog) if not source.is_built_in
    ]
    found = check_all(project, paths, arguments.vars)
    checked = list(zip(found, paths, strict=True))
    rows = [(x.template.name, x.template.version, file_of(project, path), x.template.spec_hash) for x, path in checked]
    if arguments.as_json:
        names = ("name", "version", "file", "spec_hash")
        told = zip(rows, found, strict=True)
        print_json(
            {"templates": [dict(zip(names, row, strict=True)) | {"warnings": list(x.warnings)} for row, x in told]}
        )
        return Exit.DONE
    for one in found:
        for warning in one.warnings:
            log.warning(f"{one.template.name}: {warning}")
    if rows:
        print_table(
            ("template", "version", "file", "hash", "state"),
            [(name, str(version), file, spec_hash[:8], "ok") for name, version, file, spec_hash in rows],
        )
    else:
        write("There are no templates in specs/templates; name a built-in one to check it.")
    return Exit.DONE


def _trial(arguments: Arguments) -> Trial:
    from thumbforge.planning.preview import Trial

    options = arguments.options
    return Trial(
        arguments.words[0], options["playlist"], options["video"], options["part"], options.get("hero"), arguments.vars
    )


def _video(text: str) -> str | None:
    from thumbforge.sources.links import video_in

    video = video_in(text) if text else None
    if text and not video:
        raise ValueError("is no video id and no YouTube address")
    return video


def _render(project: Project, arguments: Arguments) -> int:
    from thumbforge.planning.preview import texts

    wanted = texts(project, _trial(arguments))
    shown = _rendered(wanted)
    if arguments.as_json:
        print_json(shown)
        return Exit.DONE
    _print_rendered(wanted, shown)
    return Exit.DONE


def _rendered(wanted: Wanted) -> dict[str, Any]:
    template = wanted.series.template
    return {
        "template": template.name,
        "version": template.version,
        "spec_hash": template.spec_hash,
        "playlist": wanted.series.playlist.playlist.id,
        "video": wanted.item.video,
        "position": wanted.position,
        "part": wanted.item.part,
        "title": wanted.drawing.title,
        "badge": wanted.drawing.part,
        "kicker": wanted.drawing.kicker,
        "series": wanted.drawing.series,
        "texts": dict(wanted.drawing.texts),
        "prompt": wanted.request.prompt,
        "negative_prompt": wanted.request.negative_prompt,
    }


def _print_rendered(wanted: Wanted, shown: dict[str, Any]) -> None:
    from thumbforge.commands.telling.view import write

    badge = shown["badge"] or ("" if shown["texts"] else "none")
    for name, value in (
        ("template", f"{shown['template']} v{shown['version']} ({shown['spec_hash'][:8]})"),
        ("playlist", wanted.series.playlist.playlist.title or wanted.series.playlist_name),
        ("video", f"{shown['video']}  {wanted.item.title}"),
        ("title", shown["texts"].get("title", shown["title"]).replace("\n", " / ")),
        ("badge", badge),
        ("kicker", shown["kicker"]),
        ("series", shown["series"]),
        *((name, text.replace("\n", " / ")) for name, text in shown["texts"].items() if name != "title"),
    ):
        if value:
            write(f"{name:<9} {one_line(value)}")
    for name, text in (("prompt", shown["prompt"]), ("negative prompt", shown["negative_prompt"])):
        write(f"\n{name}:")
        write("\n".join(f"  {printable(line)}".rstrip() for line in (text or "none").split("\n")))


def _printable(line: str) -> str:
    return "".join(char if char.isprintable() else " " for char in line)


def _preview(project: Project, arguments: Arguments) -> int:
    from thumbforge import log
    from thumbforge.commands.telling.view import write
    from thumbforge.planning.preview import draw, texts
    from thumbforge.planning.project import relative

    [name], trial = arguments.words, _trial(arguments)
    out = arguments.options["out"]
    target = project.cwd / out if out else project.out / f"preview-{name}.png"
    if target.suffix.lower() != ".png" or target.is_dir():
        raise UsageError(f"--out {out}: a preview is a .png file", hint=f"--out preview-{name}.png")
    report = draw(texts(project, trial), target)
    if arguments.as_json:
        print_json(
            {
                "template": name,
                "path": relative(target, project.root),
                "width": report.width,
                "height": report.height,
                "bytes": report.bytes,
                "violations": list(report.violations),
                "warnings": list(report.warnings),
            }
        )
        return Exit.DONE
    for line in (*report.violations, *report.warnings):
        log.warning(line)
    write(relative(target, project.cwd))
    return Exit.DONE


_TRIED_ON = (
    Option(
        "playlist", "playlist id, YouTube URL, spec name, or a YAML, JSON or CSV file", value="LIST", names="playlist"
    ),
    Option(
        "video", "a video of it, by id or link; without --playlist, of any playlist", _video, "VIDEO", names="video"
    ),
    Option("part", "the item with this part; with --video, the part that it is shown as", whole(0, 100_000), "N"),
)


class Template(ThumbCommand):
    name = "template"
    doc_purpose = "list, show, begin, check and try templates; nothing of this costs a call"
    doc_description = (
        "render and preview are for a video of a playlist or, where none is named, for a sample; what a series of the "
        "playlist says (vars, hero, output) holds."
    )
    example = "template new mine --from minimal; template preview mine --playlist my-list --part 7"
    default = "list"
    verbs = (
        Verb("list", (), _list, "every template, built-in and of the project"),
        Verb("show", (TEMPLATE,), _show, "a template with all that it extends"),
        Verb(
            "new",
            (Word("NAME"),),
            _new,
            "write specs/templates/NAME.yaml with commented examples; overwrites nothing",
            (
                Option(
                    "from", f"the template to start from; {BASE} where none is named", value="NAME", names="template"
                ),
            ),
        ),
        Verb(
            "validate",
            (Word("NAME|FILE", is_optional=True, is_repeated=True, names="template"),),
            _validate,
            "every problem with file and line, drawn on a short, a long and a right-to-left text; by default of all of "
            "the project",
            (VAR,),
        ),
        Verb("render", (TEMPLATE,), _render, "print the prompt and the texts that are drawn", (*_TRIED_ON, VAR)),
        Verb(
            "preview",
            (TEMPLATE,),
            _preview,
            "write one PNG, and print its path",
            (
                *_TRIED_ON,
                Option(
                    "hero",
                    "the picture to start from: an image file, a run id or an iteration id",
                    value="PICTURE",
                    names="hero",
                ),
                Option("out", "the PNG file to write; out/preview-NAME.png where none is named", value="FILE"),
                VAR,
            ),
        ),
    )
