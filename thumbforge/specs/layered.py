"""A template in version 2 of the language, from its data: what is wrong with its fields, and with how they go together,
is told at once."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from thumbforge import models
from thumbforge.errors import Problem
from thumbforge.specs import complaints
from thumbforge.specs.yaml_file import Document, Problems

if TYPE_CHECKING:
    from thumbforge.layers import AnyTemplate, Layers, Template

_MARKS = ("texts", "images", "shapes", "order")
_GROUPS = ("shapes", "images", "texts")
_FIRST = ("title", "part", "kicker", "series", "logo", "picture", "panels", "scrims")
"""What a layout of version 1 has in place of lists of elements."""


def is_layered(data: dict[str, Any]) -> bool:
    """Whether this is version 2: a layout that lists its elements. No template has to say which it is written in."""
    layout = data.get("layout")
    return isinstance(layout, dict) and any(mark in layout for mark in _MARKS)


def template_of(data: dict[str, Any]) -> AnyTemplate:
    """A template from data that was one before, in the version that it was written in."""
    if not is_layered(data):
        return models.Template.model_validate(data)
    from thumbforge.layers import Template

    return Template.model_validate(data)


def mixed(base: dict[str, Any], own: dict[str, Any]) -> str:
    """Why one template cannot extend the other, or ""."""
    layout = own.get("layout")
    own_first = isinstance(layout, dict) and any(field in layout for field in _FIRST)
    if is_layered(base) and own_first and not is_layered(own):
        return "it lists `texts`, `images` and `shapes`, and this layout has a `title` and its like; write texts"
    if is_layered(own) and not is_layered(base) and "layout" in base:
        return "it has a `title` and its like, and this layout lists `texts` and `shapes`; extend one that does"
    return ""


def check(chain: Sequence[Document], data: dict[str, Any], problems: Problems) -> Template | None:
    """The template; `chain` are its file and those that it extends, of which the first that has a field is named."""
    from thumbforge.layers import Template
    from thumbforge.specs.layer_faults import faults

    found = problems.check(chain[0], Template, data)
    layout, gone = (found.layout, ()) if found else _what_is_left(data, Template)
    wrong = list(faults(layout, gone)) if layout else []
    for loc, message in wrong:
        problems.add(_placed(chain, ("layout", *loc), message))
    return None if wrong else found


def _what_is_left(data: dict[str, Any], model: type[Template]) -> tuple[Layers | None, Collection[str]]:
    """The layout without the elements that are wrong by themselves, and their names."""
    layout = {name: dict(v) if isinstance(v, dict) else v for name, v in data["layout"].items()}
    rest = {"name": "left", "prompt": "-", "layout": layout}
    gone: set[str] = set()
    for _ in range(2):  # without its wrong texts a layout may have none
        try:
            return model.model_validate_json(json.dumps(rest).encode(), strict=True).layout, gone
        except ValidationError as error:
            for detail in error.errors(include_url=False, include_input=False, include_context=False):
                loc = detail["loc"]
                if len(loc) > 2 and loc[1] in _GROUPS and isinstance(layout.get(loc[1]), dict):
                    layout[loc[1]].pop(loc[2], None)
                    gone.add(str(loc[2]))
                elif len(loc) > 1:
                    layout.pop(loc[1], None)
            if not layout.get("texts"):
                layout["texts"] = {"left-out": {"text": "-", "box": {"x": 0, "y": 0, "w": 8, "h": 8}, "hidden": True}}
    return None, gone


def _placed(chain: Sequence[Document], loc: complaints.Loc, message: str) -> Problem:
    where = complaints.path(loc)
    places = [(document, document.place(loc)) for document in chain]
    document, place = next(((d, p) for d, p in places if p.where == where), places[0])
    return Problem(document.file, place.line, where, message)
