"""One thumbnail, drawn: crop, scrims, badge, title. What could not be drawn as asked comes back as checks."""

from __future__ import annotations

from dataclasses import dataclass, replace

from PIL import Image

from thumbforge import models
from thumbforge.imaging import badge, clean, colour, contrast, crop, draw, fit, fonts, rules, shape


@dataclass(frozen=True, slots=True)
class _Lettering:
    """A text set and rasterised, not yet painted."""

    ink: draw.Ink
    setting: shape.Setting
    fitted: fit.Fitted


def compose(
    art: Image.Image, layout: models.Layout, title: str, part: str | None, output: models.Output
) -> tuple[Image.Image, tuple[rules.Check, ...]]:
    """The finished RGB picture at the output's size, and the checks on its text."""
    scale = output.width / layout.canvas.width
    picture = crop.cover(art, output.width, output.height, layout.focus)
    if picture is art:
        picture = art.copy()
    accent = colour.accent(picture)
    for scrim in layout.scrims:
        contrast.shade(picture, scrim.side, scrim.reach, scrim.opacity, _colour(scrim.color, accent))
    head, missing = _title(layout.title, title, scale)
    label, lost = _label(layout.part, part, scale) if layout.part and part else (None, ())
    checks: list[rules.Check] = [rules.glyphs((*missing, *lost))]
    if head:
        checks += _calm_title(picture, layout.title, head, accent)
        checks += _measures(layout, head, output)
    else:
        checks.append(rules.Check("text.title", "warning", False, "no title is drawn: nothing of it can be seen"))
    boxes = [head.ink.box] if head else []
    if label and layout.part:
        plate_box, check = _paint_badge(picture, layout.part, label, accent, scale)
        boxes.append(plate_box)
        checks.append(check)
    if head:
        draw.paint(picture, head.ink, _title_paint(layout.title, accent))
    checks.append(rules.overlay([_at_720(box, output) for box in boxes]))
    return picture, tuple(checks)


def _title(style: models.TitleStyle, title: str, scale: float) -> tuple[_Lettering | None, tuple[str, ...]]:
    space = fit.Space(
        width=style.box.w * scale,
        height=style.box.h * scale,
        size=style.size * scale,
        min_size=style.min_size * scale,
        max_lines=style.max_lines,
        line_height=style.line_height,
        outline=style.stroke,
        cap=fonts.FONTS[style.font].cap,
    )
    frame = _frame(style.box, scale, style.align, style.anchor)
    return _letter(clean.marked(title, style.case), style.font, space, frame)


def _label(style: models.PartStyle, part: str, scale: float) -> tuple[_Lettering | None, tuple[str, ...]]:
    """One line on its plate; a plate leaves padding left and right of its text."""
    text = clean.marked(part.replace("\n", " "), style.case)
    frame = _frame(style.box, scale, style.align, "middle")
    if style.fill:
        pad = badge.padding(frame.height)
        frame = replace(frame, left=frame.left + pad, width=max(frame.width - 2 * pad, 1))
    space = fit.Space(
        width=frame.width,
        height=frame.height,
        size=style.size * scale,
        min_size=style.min_size * scale,
        max_lines=1,
        line_height=1.0,
        outline=0.0,
        cap=fonts.FONTS[style.font].cap,
    )
    return _letter(text, style.font, space, frame)


def _letter(
    text: clean.Text, font: str, space: fit.Space, frame: draw.Frame
) -> tuple[_Lettering | None, tuple[str, ...]]:
    setting = shape.prepare(text, font)
    fitted = fit.fit(setting, space)
    ink = draw.rasterise(setting, fitted, space, frame) if fitted else None
    return (_Lettering(ink, setting, fitted) if ink and fitted else None), setting.missing


def _frame(box: models.Box, scale: float, align: str, anchor: str) -> draw.Frame:
    return draw.Frame(box.x * scale, box.y * scale, box.w * scale, box.h * scale, align, anchor)


def _colour(text: str, accent: colour.Rgb) -> colour.Rgb:
    return accent if text == "auto" else colour.from_hex(text)


def _title_paint(style: models.TitleStyle, accent: colour.Rgb) -> draw.Paint:
    return draw.Paint(
        fill=_colour(style.color, accent),
        accent=_colour(style.accent, accent),
        outline=style.stroke,
        outline_fill=_colour(style.stroke_color, accent),
        shadow=style.shadow,
    )


def _calm_title(
    picture: Image.Image, style: models.TitleStyle, head: _Lettering, accent: colour.Rgb
) -> list[rules.Check]:
    colours = [_colour(style.color, accent)]
    if head.ink.accent:
        colours.append(_colour(style.accent, accent))
    ground = contrast.calm(picture, head.ink.letters, head.ink.at, colours, head.ink.size)
    return [rules.contrast("text.contrast", ground.contrast, ground.scrim)]


def _measures(layout: models.Layout, head: _Lettering, output: models.Output) -> list[rules.Check]:
    name = head.setting.display
    capital = fonts.FONTS[name].cap * shape.font_scale(name, layout.title.font) * head.ink.size
    return [rules.capital_height(capital * 1280 / output.width), rules.truncated(head.fitted.cut)]


def _paint_badge(
    picture: Image.Image, style: models.PartStyle, label: _Lettering, accent: colour.Rgb, scale: float
) -> tuple[tuple[int, int, int, int], rules.Check]:
    """Plate and text, or the text alone on calmed ground where the style has no plate."""
    fill = _colour(style.color, accent)
    box = label.ink.box
    if style.fill:
        ground = _colour(style.fill, accent)
        plate = badge.around(label.ink, _frame(style.box, scale, style.align, "middle"), style.radius * scale)
        badge.paint(picture, plate, ground)
        box = plate.box
        check = rules.contrast("part.contrast", colour.ratio(colour.luminance(fill), colour.luminance(ground)), 0.0)
    else:
        calmed = contrast.calm(picture, label.ink.letters, label.ink.at, [fill], label.ink.size)
        check = rules.contrast("part.contrast", calmed.contrast, calmed.scrim)
    draw.paint(picture, label.ink, draw.Paint(fill=fill, accent=fill))
    return box, check


def _at_720(box: tuple[int, int, int, int], output: models.Output) -> tuple[int, int, int, int]:
    left, top, right, bottom = (round(side * 1280 / output.width) for side in box)
    return left, top, right, bottom
