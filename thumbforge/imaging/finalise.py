"""Art in, finished thumbnail out, and what its identity is made of.

`final_parts` is asked for every item of every plan, so this module imports no Pillow until a picture is made.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thumbforge import models
from thumbforge.imaging import clean, fonts
from thumbforge.imaging.rules import Report

FINALISER_VERSION = 1
"""Raised when the same input gives other pixels: every final is made anew from its art, without a call."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """Texts to draw, already rendered. In `title` a newline breaks the line and *word* has the accent colour."""

    title: str
    part: str | None


def final_parts(art_sha256: str, layout: models.Layout, drawing: Drawing, output: models.Output) -> dict[str, Any]:
    """JSON of everything that decides the finished pixels. Texts are in their drawn form: a space at a title's end
    changes nothing. Raises UsageError for a font that no layout may use."""
    title = clean.plain(drawing.title)
    part = _part(layout, drawing)
    names = set(fonts.usable(layout.title.font, _as_drawn(title, layout.title.case)))
    if layout.part and part:
        names.update(fonts.usable(layout.part.font, _as_drawn(part, layout.part.case)))
    return {
        "art": art_sha256,
        "layout": layout.content,
        "title": title,
        "part": part,
        "output": output.model_dump(mode="json"),
        "fonts": fonts.digests(tuple(sorted(names))),
        "finaliser": FINALISER_VERSION,
    }


def finalise(art: Path, layout: models.Layout, drawing: Drawing, output: models.Output, target: Path) -> Report:
    """Draw `drawing` over the picture in `art`, write it to `target` (a new path) and judge the written file.

    The same input gives the same bytes in every process and thread. Raises PictureError when `art` is no picture,
    UsageError for an unknown font. A picture that breaks a rule is written all the same: the report says so.
    """
    from thumbforge.imaging import compose, encode, picture, rules

    fonts.require(layout.title.font)
    if layout.part:
        fonts.require(layout.part.font)
    opened = picture.open_rgb(art)
    drawn, checks = compose.compose(opened, layout, clean.plain(drawing.title), _part(layout, drawing), output)
    encode.write(drawn, target, output)
    return rules.judge(target, output, checks)


def _part(layout: models.Layout, drawing: Drawing) -> str | None:
    """The part's text as far as it will be seen; None where no badge is drawn."""
    if layout.part is None or drawing.part is None:
        return None
    return clean.plain(drawing.part.replace("\n", " ")) or None


def _as_drawn(text: str, case: str) -> str:
    return text + clean.upper(text) if case == "upper" and not text.isascii() else text
