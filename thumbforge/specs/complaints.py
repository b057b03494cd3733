"""What pydantic finds, said in plain words and with the place in the YAML text."""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import yaml
from pydantic import BaseModel, ValidationError

from thumbforge import models, redact
from thumbforge.specs import yaml_events
from thumbforge.specs.yaml_words import NO_BREAK
from thumbforge.text import nearest, printable

Loc = tuple[str | int, ...]


class Located(NamedTuple):
    """A node of a document. `line` counts from 1, as does the number in `items[3]`; `node` is None for no text."""

    line: int
    where: str
    node: yaml.Node | None

    @property
    def mark(self) -> yaml_events.Mark | None:
        return (self.node.start_mark.line, self.node.start_mark.column) if self.node else None


class Complaint(NamedTuple):
    place: Located
    where: str
    message: str


_WANTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "greater_than": "a number above {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than": "a number below {lt}",
    "less_than_equal": "at most {le}",
    "string_too_short": "at least {min_length} character(s)",
    "string_too_long": "at most {max_length} characters",
    "literal_error": "{expected}",
}


LAYER_NAME = r"^[a-z][a-z0-9_-]{0,31}$"
INK = r"^(#[0-9A-Fa-f]{6}|[a-z][a-z0-9_-]{0,31})$"
"""Those of version 2 of the template language, whose models are loaded only where it is used."""


def _pattern(kind: Any) -> str:
    return str(typing.get_args(kind)[1].pattern)


_PATTERNS = {
    _pattern(models.Name): "a name of letters, digits, dots, - and _ (at most 64)",
    _pattern(
        models.VideoId
    ): "a YouTube video id (11 letters, digits, - or _; of an address what stands behind `v=` or `youtu.be/`)",
    _pattern(models.PlaylistId): "a playlist id (letters, digits, - and _)",
    _pattern(models.Colour): 'a colour like "#FFCC00" (in quotes: # begins a comment), or auto',
    LAYER_NAME: "a name of small letters, digits, - and _ that begins with a letter (at most 32)",
    INK: 'a colour like "#FFCC00" (in quotes: # begins a comment), auto, own, auto-dark, accent, or a name in `colors`',
    _pattern(models.VarName): "a name of letters, digits and _ that begins with no digit",
}


def place(root: yaml.Node | None, loc: Loc) -> Located:
    """Follow `loc` as far as the text goes."""
    node, line, where = root, 1, ""
    for step in loc:
        found = _child(node, step)
        if found is None:
            break
        line, node = found
        where = _join(where, step)
    return Located(line, where, node)


def paths(root: yaml.Node | None) -> dict[yaml_events.Mark, str]:
    """The path of every key and value by where it begins; of a mapping and its first key, the key's."""
    found: dict[yaml_events.Mark, str] = {}
    seen: set[int] = set()
    pending: list[tuple[str, yaml.Node | None]] = [("", root)]
    while pending:
        where, node = pending.pop()
        if node is None or id(node) in seen:
            continue
        seen.add(id(node))
        found[node.start_mark.line, node.start_mark.column] = where
        if isinstance(node, yaml.MappingNode):
            for key, child in node.value:
                path = _join(where, key.value)
                pending += [(path, child), (path, key)]
        if isinstance(node, yaml.SequenceNode):
            pending += [(_join(where, n), child) for n, child in enumerate(node.value)]
    return found


def of(
    error: ValidationError, find: Callable[[Loc], Located], data: dict[str, Any], model: type[BaseModel]
) -> Iterator[Complaint]:
    """One complaint per place. Of a union pydantic tells about each member; here it is one sentence."""
    by_place: dict[str, list[Any]] = {}
    for detail in error.errors(include_url=False):
        loc = _real(detail["loc"], data)
        absent = detail["loc"][-1:] if detail["type"] == "missing" else ()
        by_place.setdefault(path((*loc, *absent)), []).append({**detail, "real": loc})
    for where, details in by_place.items():
        found = find(details[0]["real"])
        yield Complaint(found, where, _union(details, found) or _say(details[0], found, model))


def _say(detail: Any, found: Located, model: type[BaseModel]) -> str:
    kind, loc, context = detail["type"], detail["loc"], detail.get("ctx", {})
    if kind == "missing":
        return "expected more values" if isinstance(loc[-1], int) else f"missing field `{loc[-1]}`"
    if kind == "extra_forbidden":
        if NO_BREAK in str(loc[-1]):
            return f"unknown field `{loc[-1]}`: there is a no-break space in its name; type a plain one"
        return f"unknown field `{loc[-1]}`{_meant(str(loc[-1]), _fields(model, loc[:-1]))}"
    if kind == "value_error":
        return str(context["error"])
    if kind == "string_pattern_mismatch":
        wanted = _PATTERNS.get(context["pattern"], f"a text of the form {context['pattern']}")
        return f"expected {wanted}, got {_text(str(detail['input']))}"
    if kind in _WANTED:
        return f"expected {_WANTED[kind].format(**context)}, {_got(detail['input'], found, kind)}"
    return str(detail["msg"]).replace("Input should be", "expected")


def _union(details: list[Any], found: Located) -> str:
    if len(details) < 2 or not all(detail["type"].endswith("_type") for detail in details):
        return ""
    wanted = [_WANTED.get(detail["type"], detail["type"]) for detail in details]
    return f"expected {', '.join(wanted[:-1])} or {wanted[-1]}, {_got(details[0]['input'], found, '')}"


def _got(value: Any, found: Located, kind: str) -> str:
    """What stands there instead, in the writer's own spelling where the text has one."""
    if value is None:
        return "got nothing"
    if isinstance(value, (list, dict)):
        advice = "; a text that begins with [ or { needs quotes" if kind == "string_type" else ""
        return f"got a {'list' if isinstance(value, list) else 'mapping'}{advice}"
    raw = found.node.value if isinstance(found.node, yaml.ScalarNode) else str(value)
    if kind != "string_type":
        return f"got {'the text ' if isinstance(value, str) and kind.endswith('_type') else ''}{_text(raw)}"
    reading = "true or false" if isinstance(value, bool) else "a number"
    return f'got {_text(raw)}, which YAML reads as {reading}; put it in quotes: "{_text(raw)[1:-1]}"'


def _text(value: str) -> str:
    """A value as messages quote it: one line, short, without control characters and secrets."""
    line = printable(redact.redact(value))
    return f"`{line[:40]}…`" if len(line) > 40 else f"`{line}`"


def _meant(name: str, known: list[str]) -> str:
    near = nearest(name, known)
    if near:
        return f" (did you mean `{near[0]}`?)"
    return f"; the fields here are {', '.join(known)}" if known else ""


def _fields(model: type[BaseModel], loc: Loc) -> list[str]:
    """The fields of the model that `loc` leads to within `model`."""
    inner: Any = model
    is_named = False
    for step in loc:
        if is_named:  # the name of an element, of which the model tells nothing
            is_named = False
        elif isinstance(step, str) and isinstance(inner, type) and issubclass(inner, BaseModel):
            field = inner.model_fields.get(step)
            is_named = field is not None and typing.get_origin(field.annotation) is dict
            inner = _model_in(field.annotation) if field else None
    return list(inner.model_fields) if inner is not None else []


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type):
        return annotation if issubclass(annotation, BaseModel) else None
    return next(filter(None, map(_model_in, typing.get_args(annotation))), None)


def _real(loc: Loc, data: Any) -> Loc:
    """`loc` as far as it exists in the data; pydantic adds names of union members and "[key]"."""
    for n, step in enumerate(loc):
        inside = step in data if isinstance(data, dict) else isinstance(data, list) and step in range(len(data))
        if not inside:
            return loc[:n]
        data = data[step]
    return loc


def path(loc: Loc) -> str:
    where = ""
    for step in loc:
        where = _join(where, step)
    return where


def _join(where: str, step: str | int) -> str:
    if isinstance(step, int):
        return f"{where}[{step + 1}]"
    return f"{where}.{step}" if where else step


def _child(node: yaml.Node | None, step: str | int) -> tuple[int, yaml.Node] | None:
    """The line (from 1) and the value of a key or an element."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == step:
                return key.start_mark.line + 1, value
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        return node.value[step].start_mark.line + 1, node.value[step]
    return None
