"""`doit config show | path`: every setting with where it comes from, and where things are."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from thumbforge import settings
from thumbforge.commands.command import ThumbCommand, print_json
from thumbforge.commands.verbs import Arguments, Verb
from thumbforge.errors import Exit, ThumbforgeError

if TYPE_CHECKING:
    from thumbforge.planning.project import Project

HOME = "THUMBFORGE_HOME"


def _show(project: Project, arguments: Arguments) -> int:
    shown = {
        "settings": _settings(project),
        "home": {"value": str(project.home), "origin": HOME if os.environ.get(HOME) else "default"},
        "fonts": _fonts(),
        "keys": _keys(project),
    }
    if arguments.as_json:
        print_json(shown)
        return Exit.DONE
    _print_shown(shown)
    return Exit.DONE


def _print_shown(shown: dict[str, Any]) -> None:
    from thumbforge.commands.telling.view import print_table, write

    rows = [(row["name"], _plain(row["value"]), row["origin"], row["about"]) for row in shown["settings"]]
    home = shown["home"]
    print_table(
        ("setting", "value", "origin", "says"),
        [*rows, (HOME, home["value"], home["origin"], "place of the ledger, the pictures and the logs")],
    )
    write("")
    layouts = [font for font in shown["fonts"] if font["layouts"]]
    print_table(("font", "file", "package", "hash"), [_font_cells(font) for font in layouts])
    write(f"and {len(shown['fonts']) - len(layouts)} more for letters that these lack (--json lists them)")
    write("")
    print_table(
        ("key of", "variable", "state"),
        [(key["service"], key["variable"], "set" if key["set"] else "not set") for key in shown["keys"]],
    )


def _known(value: float | int | str) -> float | int | str | None:
    """Nothing is said where the text is empty."""
    return None if value == "" else value


def _plain(value: float | int | str | None) -> str:
    if value is None:
        return ""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _font_cells(font: dict[str, Any]) -> tuple[str, ...]:
    return (font["name"], font["file"], font["package"], font["sha256"][:8])


def _settings(project: Project) -> list[dict[str, Any]]:
    found = project.settings
    return [
        {
            "name": name,
            "value": _known(setting.read(found.text(name))),
            "origin": found.origin(name),
            "variable": settings.variable(name),
            "default": _known(setting.read(setting.default)),
            "about": setting.about,
        }
        for name, setting in settings.SETTINGS.items()
    ]


def _fonts() -> list[dict[str, Any]]:
    """Those that a layout may name first; the rest stand in for letters that they lack."""
    from thumbforge.imaging.type.fonttable import FACES, FONTS

    order = (*FACES, *(name for name in FONTS if name not in FACES))
    return [
        {
            "name": name,
            "file": FONTS[name].file.rpartition("/")[2],
            "package": FONTS[name].package,
            "sha256": FONTS[name].sha256,
            "layouts": name in FACES,
        }
        for name in order
    ]


def _keys(project: Project) -> list[dict[str, Any]]:
    """Which variables may hold a key, and whether they do; the first that is set is used."""
    from thumbforge.web.keys import key_names

    names = {"youtube": key_names("youtube"), **_services(project)}
    return [
        {"service": service, "variable": variable, "set": bool(os.environ.get(variable, "").strip())}
        for service, variables in sorted(names.items())
        for variable in variables
    ]


def _services(project: Project) -> dict[str, tuple[str, ...]]:
    """Variables of each profile's service. What is wrong with a profile is for `provider list` to tell."""
    from thumbforge.providers.registry import load_provider
    from thumbforge.providers.service import Service
    from thumbforge.web.keys import key_names

    found: dict[str, tuple[str, ...]] = {}
    for name in project.catalog.profile_names():
        try:
            service = getattr(load_provider(project.catalog.profile(name)), "service", None)
        except ThumbforgeError:
            continue
        if isinstance(service, Service):
            variables = key_names(service.provider, *service.usual)
            found[service.provider] = tuple(dict.fromkeys((*found.get(service.provider, ()), *variables)))
    return found


def _path(project: Project, arguments: Arguments) -> int:
    from thumbforge.commands.telling.view import write

    places = {
        "project": project.root,
        "settings": settings.file_of(project.root),
        "specs": project.root / "specs",
        "home": project.home,
        "ledger": project.ledger_path,
        "store": project.home / "assets",
        "logs": project.home / "logs",
        "out": project.out,
    }
    if arguments.as_json:
        print_json({name: {"path": str(path), "exists": path.exists()} for name, path in places.items()})
        return Exit.DONE
    for name, path in places.items():
        write(f"{name:<9} {path}{'' if path.exists() else '   (not there yet)'}")
    return Exit.DONE


class Config(ThumbCommand):
    name = "config"
    doc_purpose = "show each setting with its origin, or where the files of the project are"
    doc_description = "Nothing is changed, and a key is never shown."
    example = "config show; config path --json"
    default = "show"
    verbs = (
        Verb(
            "show",
            (),
            _show,
            "the settings with value and origin (default, settings file or environment variable), the fonts, and for "
            "each service whether a key is set",
        ),
        Verb("path", (), _path, "the project directory, its settings file, ledger, store and logs"),
    )
