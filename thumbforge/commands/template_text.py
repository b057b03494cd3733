"""Templates as YAML text: one shown in full, and the beginning of a new one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import yaml

from thumbforge.imaging.type.fonttable import FACES
from thumbforge.models import Box, Layout

if TYPE_CHECKING:
    from thumbforge.layers import AnyTemplate, Layers

WIDTH = 110


class _Dumper(yaml.SafeDumper):
    """Texts of several lines as blocks, mappings and lists of plain values on one line, as people write specs."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


def _mapping(dumper: yaml.SafeDumper, data: dict[str, Any]) -> yaml.MappingNode:
    return dumper.represent_mapping("tag:yaml.org,2002:map", data, flow_style=_is_flat(data.values()))


def _sequence(dumper: yaml.SafeDumper, data: list[Any]) -> yaml.SequenceNode:
    points = all(isinstance(value, list) and _is_flat(value) for value in data)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", data, flow_style=points or _is_flat(data))


def _is_flat(values: Any) -> bool:
    return len(values) <= 5 and not any(isinstance(value, (dict, list)) for value in values)


_Dumper.add_representer(str, _text)
_Dumper.add_representer(dict, _mapping)
_Dumper.add_representer(list, _sequence)


def content(template: AnyTemplate) -> dict[str, Any]:
    """What is written in the template's files, merged."""
    found: dict[str, Any] = template.model_dump(mode="json", exclude_unset=True)
    return found


def as_yaml(template: AnyTemplate) -> str:
    """A spec that, saved under the template's name, is the same template."""
    return yaml.dump(
        content(template), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=WIDTH, default_flow_style=False
    )


def starter(name: str, base: AnyTemplate, version: int) -> str:
    """A template that is `base` until one of its commented lines is used; all of them together load, too."""
    head = (
        f"# A template like `{base.name}`. Write what differs: take the # away from a line and change it.",
        f"# `thumbforge template show {base.name}` tells all there is, `… preview {name}` shows the result.",
        f"name: {_word(name)}",
        f"extends: {_word(base.name)}",
        f"version: {version}   # raise it when you change a template that pictures were made with",
        "",
    )
    return "\n".join((*head, *_examples(base), ""))


def _word(name: str) -> str:
    """In quotes where YAML would read something else than text: 2024, yes, null."""
    return yaml.safe_dump(name).splitlines()[0]


def _examples(base: AnyTemplate) -> Iterator[str]:
    yield "# What to paint. Jinja2: {{ topic }}, {{ playlist.title }}, {{ vars.mood }} (set it with var.mood=…)."
    yield "#prompt: |"
    yield "#  A calm background picture about {{ topic }}, soft light, {{ vars.mood | default('quiet') }} mood."
    if base.layout.negative_space:
        yield "#  Keep the area {{ negative_space }} of a 1280x720 frame empty."
    yield "#  No text, no letters, no numbers."
    yield "#negative_prompt: text, letters, numbers, logo, watermark"
    yield ""
    yield '# Where the text goes, in pixels of a 1280x720 canvas. Colours are "#RRGGBB", auto or auto-dark.'
    yield "#layout:"
    yield from _layout(base.layout) if isinstance(base.layout, Layout) else _layers(base.layout)


def _layout(layout: Layout) -> Iterator[str]:
    title, part = layout.title, layout.part
    yield "#  title:"
    yield f"#    box: {_box(title.box)}"
    yield f"#    font: {title.font}   # one of {', '.join(FACES)}"
    yield f"#    size: {title.size}   # the largest; a long title gets smaller, down to min_size"
    yield f"#    min_size: {title.min_size}"
    yield f"#    max_lines: {title.max_lines}"
    yield f"#    case: {title.case}   # or {'none' if title.case == 'upper' else 'upper'}"
    yield f"#    color: {json.dumps(title.color)}"
    yield f"#    accent: {json.dumps(title.accent)}   # of *words* between asterisks"
    if part:
        yield "#  part:"
        yield f"#    box: {_box(part.box)}"
        yield '#    text: "EPISODE {{ part_number }}"'
        yield f"#    fill: {json.dumps(part.fill)}   # null: no badge, only letters"
        yield f"#    color: {json.dumps(part.color)}"
    yield "#  scrims:   # shades under the text; a list takes the place of the whole list"
    yield "#    - {side: left, reach: 0.8, opacity: 0.6}"
    yield f"#  focus: [{layout.focus[0]}, {layout.focus[1]}]   # what a crop keeps: shares of width and height"


def _layers(layout: Layers) -> Iterator[str]:
    """One text changed and one shape more, with the order that they then have."""
    name = "title" if "title" in layout.texts else next(iter(layout.texts))
    text = layout.texts[name]
    yield '#  colors: {mine: "#FFD400"}   # a name for a colour; fill: mine'
    yield "#  texts:"
    yield f"#    {name}:"
    yield f"#      box: {{x: {text.box.x}, y: {text.box.y}, w: {text.box.w}, h: {text.box.h}}}"
    yield f"#      font: {layout.face(text.font)}   # one of {', '.join(FACES)}"
    yield f"#      size: {text.size}   # the largest; a long text gets smaller, down to min_size"
    yield f"#      min_size: {text.min_size}"
    yield "#      letterspacing: 0.02   # in letter sizes"
    yield "#      accent: mine   # of *words* between asterisks"
    yield "#      shadow: {y: 4, blur: 14, opacity: 0.5}"
    yield "#  shapes:   # rectangle, circle, line, polygon or arrow"
    yield "#    my-line:"
    yield "#      kind: line"
    yield "#      points: [[0, 714], [1280, 714]]"
    yield "#      width: 12"
    yield "#      fill: {linear: 0, stops: [{color: mine}, {color: mine, opacity: 0}]}"
    order = (layout.order or tuple(layout.elements)) + ("my-line",)
    yield f"#  order: [{', '.join(order)}]   # from back to front; `subject` is what the hero shows"


def _box(box: Box) -> str:
    return f"{{x: {box.x}, y: {box.y}, w: {box.w}, h: {box.h}}}"
