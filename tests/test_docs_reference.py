"""The reference pages say what the program does: commands, options, codes, settings and fields are compared."""

from __future__ import annotations

import importlib
import json
import re
import tomllib
import types
import typing
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from tests.pages import ROOT, bare, sections, table, text
from thumbforge import errors, layers, models, settings
from thumbforge.commands.verbs import EVERYWHERE, all_options
from thumbforge.imaging.type import fonts
from thumbforge.providers import registry
from thumbforge.providers.base import Capabilities, Request
from thumbforge.specs.variables import variables_for

MODELS = tuple(
    cls
    for cls in vars(models).values()
    if isinstance(cls, type) and issubclass(cls, models.Model) and cls not in {models.Model, models.NegativeSpace}
)
"""Every model of a spec, named in docs/specs.md by a comment before its table; a NegativeSpace is told as a Box."""

SECTION = re.compile(r"<!-- model: (\w+) -->\n+((?:\|.*\n)+)")


@pytest.mark.parametrize("page", ["README.md", "docs/commands.md"])
def test_the_table_of_exit_codes_is_the_programs(page: str) -> None:
    """Every exit code of errors.Exit stands once in the table, and no other."""
    body = sections((ROOT / page).read_text(encoding="utf-8"))["Exit codes"]
    assert [int(bare(row[0])) for row in table(body)] == [int(code) for code in errors.Exit]


# Commands


def commands() -> dict[str, Any]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {name: load(value) for name, value in project["entry-points"]["doit.COMMAND"].items()}


def load(entry_point: str) -> Any:
    module, _, attribute = entry_point.partition(":")
    return getattr(importlib.import_module(module), attribute)


COMMAND_NAMES = sorted(commands())


@pytest.mark.parametrize("name", COMMAND_NAMES)
def test_a_section_has_the_commands_options_and_no_others(name: str) -> None:
    """The option table of a command in docs/commands.md is the verb table's: names, short names, pairs, and whose."""
    command, body = commands()[name], sections(text("commands.md"))[f"`{name}`"]
    rows = [row for row in table(body) if row[0].startswith("`--")]
    found = {row[0]: row[1] for row in rows}
    wanted = {_written(option): option for option in all_options(command.verbs)}
    assert found.keys() == wanted.keys()
    for written, option in wanted.items():
        if command.verbs[0].name:
            own = [verb.name for verb in command.verbs if verb.takes(option)]
            assert found[written] == ("all" if len(own) == len(command.verbs) else ", ".join(f"`{v}`" for v in own))
        elif len(rows[0]) == 3 and found[written]:
            assert found[written] == ("`var.NAME=`" if option.name == "var" else f"`{option.pair}=`")


@pytest.mark.parametrize("name", COMMAND_NAMES)
def test_a_section_tells_choices_and_defaults(name: str) -> None:
    """A row names each value that an option may have, and a default that is not empty."""
    body = sections(text("commands.md"))[f"`{name}`"]
    rows = {row[0]: row[-1] for row in table(body) if row[0].startswith("`--")}
    for verb in commands()[name].verbs:
        for option in verb.options:
            told = rows[_written(option)]
            assert [value for value in option.choices if f"`{value}`" not in told and "as in" not in told] == []
            if isinstance(option.default, str | int) and not isinstance(option.default, bool) and option.default:
                assert re.search(rf"Default: `?{option.default}\b", told), option.name


@pytest.mark.parametrize("name", COMMAND_NAMES)
def test_a_section_has_the_commands_verbs_and_no_others(name: str) -> None:
    """In the table's order, each with its words as help writes them."""
    command, body = commands()[name], sections(text("commands.md"))[f"`{name}`"]
    verbs = [verb for verb in command.verbs if verb.name]
    rows = [re.findall(r"`([^`]+)`", row[0].replace("\\|", "|")) for row in table(body)]
    found = [row for row in rows if row and row[0].split()[0] in {verb.name for verb in verbs}]
    assert [row[0].split()[0] for row in found] == [verb.name for verb in verbs]
    for verb, row in zip(verbs, found, strict=True):
        words = re.sub(r"[^A-Z]+", " ", " ".join(row)).split()
        assert set(words) <= {part for word in verb.words for part in word.name.split("|")}
        assert len(words) >= len(verb.words)


def _written(option: Any) -> str:
    return f"`--{option.name}`" + (f", `-{option.short}`" if option.short else "")


def test_what_every_command_takes_is_told() -> None:
    """The table of the options that stand anywhere is the program's."""
    rows = table(sections(text("commands.md"))["Everywhere"])
    assert [row[0] for row in rows] == [_written(option) for option in EVERYWHERE]


def test_a_page_tells_which_names_other_projects_lose() -> None:
    """docs/doit.md lists every plugin name, because none of them can be a task's name any more."""
    paragraph = sections(text("doit.md"))["Names that are taken"]
    assert {f"`{name}`" for name in commands()} <= set(re.findall(r"`\w+`", paragraph))


# Errors and settings


def test_every_error_code_is_explained() -> None:
    """docs/errors.md has one row per code, with the exit code that the program ends with."""
    rows = {bare(row[0]): row for row in table(text("errors.md"))}
    ours = [cls for cls in errors.error_classes() if cls.__module__ == errors.__name__]
    known = {cls.code: cls for cls in ours}
    assert rows.keys() == known.keys()
    assert {code: int(row[1]) for code, row in rows.items()} == {c: int(cls.exit_code) for c, cls in known.items()}
    assert all(len(row) == 4 and row[2] and row[3] for row in rows.values())


def test_every_setting_is_listed_with_its_variable_and_default() -> None:
    """docs/settings.md has one row per setting, in the program's order."""
    rows = [(bare(row[0]), bare(row[1]), bare(row[2])) for row in table(sections(text("settings.md"))["All settings"])]
    known = settings.SETTINGS.items()
    assert rows == [(name, settings.variable(name), found.default or "none") for name, found in known]


# Specs


def test_every_field_of_every_spec_is_listed_with_type_and_default() -> None:
    """The tables of docs/specs.md say what the models say; what a field means is for people to write."""
    found = {(name, *row[:3]) for name, body in SECTION.findall(text("specs.md")) for row in table(body)}
    wanted = {(model.__name__, *row) for model in MODELS for row in fields(model)}
    assert sorted(wanted - found) == []
    assert sorted(found - wanted) == []


def fields(model: type[BaseModel]) -> Iterator[list[str]]:
    hints = typing.get_type_hints(model, include_extras=True)
    for name, field in model.model_fields.items():
        null = ", or null" if type(None) in typing.get_args(hints[name]) else ""
        yield [f"`{name}`", kind(hints[name]) + limits(field) + null, default(name, field)]


WORDS: Mapping[Any, str] = {
    models.Name: "name",
    models.VideoId: "video id",
    models.PlaylistId: "playlist id",
    models.Colour: "colour",
    models.Part: "whole number, from 0 to 100000",
    str: "text",
    int: "whole number",
    float: "number",
    bool: "true or false",
    models.Box: "[Box](#box)",
    models.NegativeSpace: "[Box](#box)",
    tuple[float, float]: "two numbers",
    models.HeroBox: "four shares",
    models.Hex: "`#RRGGBB`",
}


def kind(hint: Any) -> str:
    """A type in the words of docs/specs.md."""
    if hint in WORDS:
        return WORDS[hint]
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        return f"[{hint.__name__}](#{hint.__name__.lower()})"
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        return " or ".join(f"`{value}`" for value in arguments)
    if origin is dict:
        return "mapping"
    if origin is tuple:
        return f"list of {kind(arguments[0])}"
    if origin in (typing.Union, types.UnionType):
        return " or ".join(kind(argument) for argument in arguments if argument is not type(None))
    return kind(arguments[0])  # what is annotated


def limits(field: FieldInfo) -> str:
    """Numbers only: the length of a text surprises nobody."""
    found = {name: getattr(m, name) for m in field.metadata for name in ("ge", "gt", "le") if hasattr(m, name)}
    words = {"ge": "from", "gt": "above", "le": "to"}
    return "," * bool(found) + "".join(f" {words[name]} {number}" for name, number in found.items())


def default(name: str, field: FieldInfo) -> str:
    if name == "name" and field.is_required():
        return "the file's name"
    if field.is_required():
        return "required"
    value = field.default
    if value is None:
        return "null"
    if isinstance(value, BaseModel):
        return "its defaults"
    if value in ({}, (), ""):
        return "empty"
    return f"`{json.dumps(value) if isinstance(value, tuple | bool) else value}`"


def test_every_variable_that_a_template_sees_is_listed() -> None:
    """The table of docs/templates.md is what a prompt can name, no more and no less."""
    item = models.Item(video="aaaaaaaaaaa", title="Title")
    seen = variables_for(item, models.PlaylistHead(id="PL1"), {}, 1, 1, None, 1)
    assert {bare(row[0]) for row in table(sections(text("templates.md"))["Variables"])} == {
        *(name for name in seen if name not in {"video", "playlist"}),
        *(f"video.{name}" for name in seen["video"]),
        *(f"playlist.{name}" for name in seen["playlist"]),
    }


def test_every_built_in_provider_has_a_section_with_its_parameters() -> None:
    """A page says of each provider that we ship what its parameters are and what they default to."""
    found = sections(text("providers.md"))
    for name, value in registry.BUILT_IN.items():
        params = importlib.import_module(value.partition(":")[0]).PARAMS
        body = found.get(f"`{name}`") or sections(text(f"providers/{name}.md"))["Parameters"]
        rows = {bare(row[0]): bare(row[2]) for row in table(body)}
        assert rows == {n: worded(param.default) for n, param in params.items()}, name


def worded(value: Any) -> str:
    """A default as the tables of docs/providers.md write it."""
    if value in (None, "", (), {}):
        return "none"
    return str(value).lower() if isinstance(value, bool) else str(value)


def test_what_a_provider_declares_and_is_asked_is_listed() -> None:
    """docs/providers.md names every field of Capabilities and of Request, for those who write one."""
    page = text("providers.md")
    names = [*Capabilities.__dataclass_fields__, *Request.__dataclass_fields__]
    assert [name for name in names if f"`{name}`" not in page] == []


def test_every_built_in_template_is_listed() -> None:
    """docs/templates.md tells what each template that we ship is for."""
    folder = ROOT / "thumbforge" / "specs" / "builtin" / "templates"
    named = set(re.findall(r"^\| `([\w-]+)` \|", text("templates.md"), flags=re.MULTILINE))
    assert {path.stem for path in folder.glob("*.yaml")} <= named


def test_the_fonts_of_a_layout_are_listed() -> None:
    """docs/templates.md names the fonts that a layout may use."""
    rows = table(sections(text("templates.md"))["Fonts"])
    assert tuple(bare(row[0]) for row in rows) == fonts.FACES


def test_every_field_of_a_layout_of_layers_is_listed() -> None:
    """docs/layers.md names the fields of each element in the table under its heading, and their defaults."""
    found = sections(text("layers.md"))
    every = {bare(row[0]): row[1] for row in table(found["Every element"])}
    assert every.keys() == layers.Layer.model_fields.keys()
    for heading, model in (("Texts", layers.Text), ("Images", layers.Image), ("Shapes", layers.Shape)):
        rows = {bare(row[0]): row[1] for row in table(found[heading])}
        own = {name: field for name, field in model.model_fields.items() if name not in every}
        assert rows.keys() == own.keys()
        for name, told in rows.items():
            default_ = own[name].default
            if isinstance(default_, bool | int | str):
                assert bare(told) == (str(default_).lower() if isinstance(default_, bool) else str(default_))
    listed = {name for row in table(found["The layout"]) for name in re.findall(r"`(\w+)`", row[0])}
    assert listed == layers.Layers.model_fields.keys()
