"""What is wrong with a layout of version 2 beyond its fields: each fault at its own place, all at once. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from math import cos, radians, sin

from thumbforge.layers import PICTURE_COLOURS, SUBJECT, Area, Gradient, Image, Layer, Layers, Loc, Shape, Text
from thumbforge.pixels.colour import from_hex, luminance, ratio
from thumbforge.text import nearest

Fault = tuple[Loc, str]
Corners = list[tuple[float, float]]

_BY_BOX, _BY_POINTS = ("rectangle", "circle"), {"line": 2, "polygon": 3, "arrow": 2}
_LOST = 2 / 3
"""Share of the contrast wanted under which nobody can read a text."""
_OUTLINE = 0.04
"""Letter sizes from which an outline carries a text."""


def faults(layout: Layers, gone: Collection[str] = ()) -> Iterator[Fault]:
    """Places in the layout and what is wrong there. `gone` are elements that are wrong by themselves and were left out;
    their names count as known."""
    yield from _names(layout, gone)
    yield from _order(layout, gone)
    for kind, group in (("shapes", layout.shapes), ("images", layout.images), ("texts", layout.texts)):
        for name, layer in group.items():
            for loc, message in (*_own(layer), *_refers(layer, layout, gone), *_outside(layer, layout)):
                yield (kind, name, *loc), message
    for name, text in layout.seen_texts.items() if not gone else ():
        for loc, message in _unreadable(name, text, layout):
            yield ("texts", name, *loc), message


def corners(layer: Text | Image | Shape) -> Corners:
    """The outermost points of an element, turned as it is."""
    found: Corners = [(float(x), float(y)) for x, y in layer.points] if isinstance(layer, Shape) else []
    if box := layer.box:
        found = [(box.x, box.y), (box.x + box.w, box.y), (box.x + box.w, box.y + box.h), (box.x, box.y + box.h)]
    if not layer.rotate or not found:
        return found
    xs, ys = zip(*found, strict=True)
    cx, cy, turn = (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2, radians(layer.rotate)
    return [
        (cx + (x - cx) * cos(turn) - (y - cy) * sin(turn), cy + (x - cx) * sin(turn) + (y - cy) * cos(turn))
        for x, y in found
    ]


def _names(layout: Layers, gone: Collection[str]) -> Iterator[Fault]:
    counts = Counter([*layout.shapes, *layout.images, *layout.texts])
    for kind, group in (("images", layout.images), ("texts", layout.texts), ("shapes", layout.shapes)):
        for name in group:
            if name == SUBJECT:
                yield (kind, name), f"`{SUBJECT}` is what the hero shows; give this element another name"
            elif counts[name] > 1 and kind != "shapes":
                yield (kind, name), f"two elements are called `{name}`; give one of them another name"


def _order(layout: Layers, gone: Collection[str]) -> Iterator[Fault]:
    known = {*layout.elements, *gone, SUBJECT}
    for n, name in enumerate(layout.order):
        if name not in known:
            yield ("order", n), f"there is no element `{name}`; {_known(name, known)}"
        elif name in layout.order[:n]:
            yield ("order", n), f"`{name}` stands here twice"
    if not layout.order:
        return
    masks = {layer.mask for layer in layout.elements.values()}
    lost = [name for name, x in layout.elements.items() if name not in {*layout.order, *masks} and not x.hidden]
    if lost:
        names = ", ".join(f"`{name}`" for name in lost)
        yield ("order",), f"not in the order: {names}; name each, or write `hidden: true` at what is not to be drawn"


def _own(layer: Text | Image | Shape) -> Iterator[Fault]:
    """What an element contradicts itself in."""
    for field, fill in _fills(layer):
        if isinstance(fill, Gradient):
            yield from (((field, *loc), message) for loc, message in _gradient(fill))
    if isinstance(layer, Text):
        if layer.min_size > layer.size:
            yield ("min_size",), f"min_size {layer.min_size} is larger than size {layer.size}"
        if layer.plate and layer.max_lines > 1:
            yield ("plate",), "a plate is for a text of one line; lay a shape under this one"
    if isinstance(layer, Image) and (layer.source is None) == (layer.file is None):
        yield (), "an image needs a `source` (picture, logo or second) or a `file`, and not both"
    if isinstance(layer, Shape):
        yield from _shape(layer)


def _shape(shape: Shape) -> Iterator[Fault]:
    kind, points = shape.kind, shape.points
    if kind in _BY_BOX:
        if shape.box is None:
            yield (), f"a {kind} needs a `box`: {{x, y, w, h}}"
        if points:
            yield ("points",), f"a {kind} has a `box` and no points"
    else:
        least = _BY_POINTS[kind]
        named = f"{'an' if kind == 'arrow' else 'a'} {kind}"
        if shape.box is not None:
            yield ("box",), f"{named} goes by its `points` and has no box"
        if len(points) < least:
            yield ("points",), f"{named} needs at least {least} points [x, y], got {len(points)}"
        elif kind == "polygon" and not _area(points):
            yield ("points",), "these points lie on one line: a polygon needs an area"
        elif len(set(points)) < least:
            yield ("points",), f"{named} needs {least} points that differ"
    if shape.corner and kind != "rectangle":
        yield ("corner",), f"only a rectangle has a corner, this is {'an' if kind == 'arrow' else 'a'} {kind}"


def _area(points: tuple[tuple[int, int], ...]) -> float:
    return abs(sum(x * points[n - 1][1] - points[n - 1][0] * y for n, (x, y) in enumerate(points)))


def _gradient(found: Gradient) -> Iterator[Fault]:
    if (found.linear is None) == (found.radial is None):
        yield (), "a gradient is `linear: degrees` or `radial: [x, y]`, one of them"
    if len(found.stops) < 2:
        what = 'such as [{color: "#101014"}, {color: "#101014", opacity: 0}]'
        yield ("stops",), f"a gradient needs at least two stops, {what}, got {len(found.stops)}"
    places = [stop.at for stop in found.stops if stop.at is not None]
    if places != sorted(places):
        yield ("stops",), "the stops' `at` goes up from 0 to 1"


def _fills(layer: Layer) -> Iterator[tuple[str, object]]:
    if isinstance(layer, (Text, Image, Shape)) and layer.fill is not None:
        yield "fill", layer.fill


def inks(layer: Text | Image | Shape) -> Iterator[tuple[Loc, str]]:
    """Every colour of an element, with its place."""
    for field, fill in _fills(layer):
        if isinstance(fill, Gradient):
            yield from (((field, "stops", n, "color"), stop.color) for n, stop in enumerate(fill.stops))
        else:
            yield (field,), str(fill)
    for field in ("stroke", "shadow", "glow"):
        if effect := getattr(layer, field):
            yield (field, "color"), effect.color
    if isinstance(layer, Text):
        yield ("accent",), layer.accent
        if layer.plate:
            yield ("plate", "fill"), layer.plate.fill


def _refers(layer: Text | Image | Shape, layout: Layers, gone: Collection[str]) -> Iterator[Fault]:
    for loc, ink in inks(layer):
        if not ink.startswith("#") and ink not in (*PICTURE_COLOURS, *layout.colors):
            own = f", or one of `colors`: {', '.join(layout.colors)}" if layout.colors else ", or a name in `colors`"
            yield loc, f'there is no colour `{ink}`: "#RRGGBB", {", ".join(PICTURE_COLOURS)}{own}'
    if layer.mask and layer.mask not in {*layout.shapes, *gone}:
        yield ("mask",), f"there is no shape `{layer.mask}`; {_known(layer.mask, layout.shapes)}"
    for other in layer.only_with:
        if other not in {*layout.texts, *layout.images, *gone}:
            yield ("only_with",), f"there is no text or image `{other}`"


def _outside(layer: Text | Image | Shape, layout: Layers) -> Iterator[Fault]:
    found = corners(layer)
    if layer.hidden or not found:
        return
    wide, high = layout.canvas.width, layout.canvas.height
    xs, ys = zip(*found, strict=True)
    field = "points" if isinstance(layer, Shape) and layer.points else "box"
    canvas = f"the {wide}x{high} canvas"
    if max(xs) <= 0 or max(ys) <= 0 or min(xs) >= wide or min(ys) >= high:
        yield (field,), f"lies outside {canvas}: nothing of it would be seen"
        return
    if min(xs) >= -0.5 and min(ys) >= -0.5 and max(xs) <= wide + 0.5 and max(ys) <= high + 0.5:
        return
    turned = f", turned by {layer.rotate:g} degrees," if layer.rotate else ""
    if isinstance(layer, Text):
        yield (field,), f"reaches{turned} outside {canvas}: words stay inside"
    elif not layer.bleed:
        yield (field,), f"reaches{turned} outside {canvas}; `bleed: true` where that is meant"


def _unreadable(name: str, text: Text, layout: Layers) -> Iterator[Fault]:
    """Colours that nobody can read on a flat ground of the layout itself."""
    ground, what = _ground_of(name, text, layout)
    stroke = text.stroke
    if not ground or (stroke and stroke.width >= _OUTLINE * text.size):
        return
    for loc, ink in inks(text):
        if loc[0] not in ("fill", "accent") or not (letters := _flat([ink], layout)):
            continue
        found = min(ratio(luminance(from_hex(ground_)), luminance(from_hex(letters[0]))) for ground_ in ground)
        if found < _LOST * text.contrast:
            yield (
                loc,
                f"{letters[0]} on {what} has a contrast of {found:.1f} to 1, which nobody can read; "
                f"{text.contrast:g} is wanted, {_LOST * text.contrast:.2g} at least",
            )


def _ground_of(name: str, text: Text, layout: Layers) -> tuple[list[str], str]:
    """The colours of the flat ground under a text, and what it is; none where the picture decides."""
    if text.plate:
        return _flat([text.plate.fill], layout), f"its plate ({text.plate.fill})"
    below = layout.drawn[: layout.drawn.index(name)]
    for other in reversed(below):
        shape = layout.shapes.get(other)
        if other == SUBJECT or other in layout.images:
            return [], ""
        if shape and shape.opacity == 1 and not shape.mask and not shape.rotate and _holds(shape, text.box):
            stops = shape.fill.stops if isinstance(shape.fill, Gradient) else ()
            if all(stop.opacity == 1 for stop in stops):
                inks_ = [stop.color for stop in stops] or [str(shape.fill)]
                return _flat(inks_, layout), f"`{other}` ({', '.join(inks_)})"
    return [], ""


def _holds(shape: Shape, box: Area) -> bool:
    """Whether a box lies inside a shape."""
    found = [(x, y) for x in (box.x, box.x + box.w) for y in (box.y, box.y + box.h)]
    if shape.kind == "polygon":
        return all(_inside(point, shape.points) for point in found)
    own = shape.box
    if own is None:
        return False
    if shape.kind == "circle":
        return all(((2 * (x - own.x) / own.w) - 1) ** 2 + ((2 * (y - own.y) / own.h) - 1) ** 2 <= 1 for x, y in found)
    return all(own.x <= x <= own.x + own.w and own.y <= y <= own.y + own.h for x, y in found)


def _inside(point: tuple[float, float], corners_: Sequence[tuple[int, int]]) -> bool:
    """By how many sides lie to the right of the point."""
    x, y = point
    inside = False
    for n, (x1, y1) in enumerate(corners_):
        x0, y0 = corners_[n - 1]
        if (y0 > y) != (y1 > y) and x < x0 + (y - y0) / (y1 - y0) * (x1 - x0):
            inside = not inside
    return inside


def _flat(found: Iterable[str], layout: Layers) -> list[str]:
    """The colours as `#RRGGBB`; none where the picture decides one of them."""
    plain = [layout.colour(ink) for ink in found]
    return plain if all(ink.startswith("#") for ink in plain) else []


def _known(name: str, names: Iterable[str]) -> str:
    found = sorted(names)
    near = nearest(name, found)
    if near:
        return f"did you mean `{near[0]}`?"
    return f"there are {', '.join(found)}" if found else "there are none"
