"""`doit template …`: look at templates, begin one, check it, and try it without cost."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thumbforge.commands.command import JSON_OPTION, VAR_OPTION, Arguments, ThumbCommand, print_json
from thumbforge.errors import Exit, Interrupted, StoreError, ThumbforgeError, UsageError
from thumbforge.text import one_line, printable

if TYPE_CHECKING:
    from thumbforge.models import Template as Spec
    from thumbforge.planning.preview import Trial
    from thumbforge.planning.project import Project
    from thumbforge.planning.template_check import Source
    from thumbforge.planning.wanted import Wanted

BASE = "series-parts"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_TRIED_ON = ("video", "playlist", "part")
_TAKES = {
    "list": (),
    "show": (),
    "new": ("from",),
    "validate": (),
    "render": _TRIED_ON,
    "preview": (*_TRIED_ON, "hero", "out"),
}
"""What each verb takes by option or pair, beside --var and --json."""


def _option(name: str, about: str) -> dict[str, Any]:
    return {"name": name, "short": "", "long": name, "type": str, "default": None, "help": about}


class Template(ThumbCommand):
    name = "template"
    doc_purpose = "list, show, begin, check and try templates; nothing of this costs a call"
    doc_usage = "list | show NAME | new NAME | validate [NAME|FILE …] | render NAME | preview NAME"
    doc_description = (
        "show prints a template with all that it extends. new writes specs/templates/NAME.yaml with commented examples "
        "and overwrites nothing. validate tells every problem with file and line, by default of all templates of the "
        "project. render prints the texts, preview writes one PNG, both for a video of a playlist or, where none is "
        "named, for a sample; what a series of the playlist says (vars, hero, output) holds. var.<name>=<value> sets a "
        "variable of the template."
    )
    pair_names = ("video", "playlist", "part", "hero", "out", "from")
    cmd_options = (
        _option("from", f"new: the template to start from; {BASE} where none is named"),
        _option("playlist", "render, preview: playlist id, YouTube URL, spec name, or a YAML, JSON or CSV file"),
        _option("video", "render, preview: a video of it, by id or link; without --playlist, of any playlist"),
        _option("part", "render, preview: the item with this part; with --video, the part that it is shown as"),
        _option("hero", "preview: the picture to start from: an image file, a run id or an iteration id"),
        _option("out", "preview: the PNG file to write; out/preview-NAME.png where none is named"),
        VAR_OPTION,
        JSON_OPTION,
    )

    def run(self, arguments: Arguments) -> int:
        verb, *words = arguments.words or ("list",)
        if verb not in _TAKES:
            raise UsageError(f"template does not know {verb!r}", hint=f"thumbforge template {self.doc_usage}")
        if strange := [name for name in arguments.pairs.values if name not in _TAKES[verb]]:
            raise UsageError(f"template {verb} takes no {strange[0]}", hint=f"thumbforge help {self.name}")
        if arguments.pairs.vars and verb not in {"validate", "render", "preview"}:
            raise UsageError(f"template {verb} takes no variables")
        if len(words) != 1 and verb in _OF_ONE:
            raise UsageError(f"template {verb} takes one NAME", hint=f"thumbforge template {verb} {BASE}")
        if verb == "list" and words:
            raise UsageError(f"template list takes no words, got {words[0]!r}")
        try:
            if verb in _OF_ONE:
                return _OF_ONE[verb](self.project(), words[0], arguments)
            return _list(self.project(), arguments) if verb == "list" else _validate(self.project(), words, arguments)
        except KeyboardInterrupt:
            raise Interrupted("interrupted") from None


def _list(project: Project, arguments: Arguments) -> int:
    from thumbforge.commands.view import print_table
    from thumbforge.planning.template_check import sources

    rows = [_row(project, source) for source in sources(project.catalog)]
    if arguments.options["json"]:
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


def _show(project: Project, name: str, arguments: Arguments) -> int:
    from thumbforge.commands.template_text import as_yaml, content
    from thumbforge.commands.view import write
    from thumbforge.planning.template_check import source

    found = source(project.catalog, name)
    template = project.catalog.template(name)
    row = _row(project, found)
    if arguments.options["json"]:
        print_json({**{key: row[key] for key in row if key != "problem"}, "template": content(template)})
        return Exit.DONE
    base = f", extends {found.extends}" if found.extends else ""
    write(f"# {row['origin']}: {row['file']}{base}")
    write(f"# spec_hash: {template.spec_hash}")
    write(as_yaml(template).rstrip())
    return Exit.DONE


def _new(project: Project, name: str, arguments: Arguments) -> int:
    from thumbforge.commands.template_text import starter
    from thumbforge.commands.view import write
    from thumbforge.planning.template_check import source

    if not _NAME.fullmatch(name) or name.lower().endswith((".yaml", ".yml")):
        raise UsageError(
            f"{name!r} is no name for a template",
            hint="letters, digits, dots, - and _; at most 64, no folder, no .yaml",
        )
    built_in = name in project.catalog.template_names() and source(project.catalog, name).is_built_in
    base = arguments.pairs.get("from") or (name if built_in else BASE)
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
    _write_new(taken[0], text)
    if arguments.options["json"]:
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


def _validate(project: Project, words: list[str], arguments: Arguments) -> int:
    from thumbforge.commands.view import print_table, write
    from thumbforge.planning.template_check import check_all, file_of, find, sources

    paths = [find(project, word) for word in words] or [
        source.path for source in sources(project.catalog) if not source.is_built_in
    ]
    found = check_all(project, paths, arguments.pairs.vars)
    rows = [(t.name, t.version, file_of(project, path), t.spec_hash) for t, path in zip(found, paths, strict=True)]
    if arguments.options["json"]:
        names = ("name", "version", "file", "spec_hash")
        print_json({"templates": [dict(zip(names, row, strict=True)) for row in rows]})
    elif not rows:
        write("There are no templates in specs/templates; name a built-in one to check it.")
    else:
        print_table(
            ("template", "version", "file", "hash", "state"),
            [(name, str(version), file, spec_hash[:8], "ok") for name, version, file, spec_hash in rows],
        )
    return Exit.DONE


def _trial(name: str, arguments: Arguments) -> Trial:
    from thumbforge.planning.preview import Trial
    from thumbforge.sources.links import video_in

    pairs = arguments.pairs
    part = pairs.whole("part")
    if part is not None and part > 100_000:
        raise UsageError(f"part={part}: expected 0 to 100000")
    word = (pairs.get("video") or "").removeprefix("\0")
    video = video_in(word) if word else None
    if word and not video:
        raise UsageError(f"video={word} is no video id and no YouTube address")
    return Trial(name, pairs.get("playlist"), video, part, pairs.get("hero"), pairs.vars)


def _render(project: Project, name: str, arguments: Arguments) -> int:
    from thumbforge.planning.preview import texts

    wanted = texts(project, _trial(name, arguments))
    shown = _rendered(wanted)
    if arguments.options["json"]:
        print_json(shown)
        return Exit.DONE
    _print_rendered(wanted, shown)
    return Exit.DONE


def _rendered(wanted: Wanted) -> dict[str, Any]:
    template: Spec = wanted.series.template
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
        "prompt": wanted.request.prompt,
        "negative_prompt": wanted.request.negative_prompt,
    }


def _print_rendered(wanted: Wanted, shown: dict[str, Any]) -> None:
    from thumbforge.commands.view import write

    for name, value in (
        ("template", f"{shown['template']} v{shown['version']} ({shown['spec_hash'][:8]})"),
        ("playlist", wanted.series.playlist.playlist.title or wanted.series.playlist_name),
        ("video", f"{shown['video']}  {wanted.item.title}"),
        ("title", shown["title"].replace("\n", " / ")),
        ("badge", shown["badge"] or "none"),
        ("kicker", shown["kicker"]),
        ("series", shown["series"]),
    ):
        if value:
            write(f"{name:<9} {one_line(value)}")
    for name, text in (("prompt", shown["prompt"]), ("negative prompt", shown["negative_prompt"])):
        write(f"\n{name}:")
        write("\n".join(f"  {printable(line)}".rstrip() for line in (text or "none").split("\n")))


def _preview(project: Project, name: str, arguments: Arguments) -> int:
    from thumbforge import log
    from thumbforge.commands.view import write
    from thumbforge.planning.preview import draw, texts
    from thumbforge.planning.project import relative

    trial = _trial(name, arguments)
    out = arguments.pairs.get("out")
    target = project.cwd / out if out else project.out / f"preview-{name}.png"
    if target.suffix.lower() != ".png" or target.is_dir():
        raise UsageError(f"--out {out}: a preview is a .png file", hint=f"--out preview-{name}.png")
    report = draw(texts(project, trial), target)
    if arguments.options["json"]:
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


_OF_ONE = {"show": _show, "new": _new, "render": _render, "preview": _preview}
"""The verbs that are about one template."""
