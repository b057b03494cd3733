"""The contact sheet: every thumbnail of a series in one PNG, at 336x189 and, beside it, at 168x94."""

from __future__ import annotations

import os
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from PIL import Image, ImageDraw

from thumbforge import models
from thumbforge.durable import in_place_of
from thumbforge.errors import PictureError
from thumbforge.imaging import lettering, tones
from thumbforge.imaging.contrast import TINY
from thumbforge.imaging.sheet import MOST, Sheet, SheetItem
from thumbforge.imaging.type import clean, shape
from thumbforge.pixels.small import open_small
from thumbforge.text import counted

COLUMNS = 3
LARGE = (336, 189)
_GAP, _EDGE, _HEAD, _CAPTION = 10, 24, 64, 56
_TONES = tones.Tones(Image.new("RGB", (1, 1)))
_CELL = (LARGE[0] + _GAP + TINY[0], LARGE[1] + _CAPTION)
_GROUND, _INK, _SOFT, _BAD, _EMPTY = (24, 25, 28), "#F1F1F1", "#B9BAC0", "#FF8A80", (46, 48, 54)


def write_contact(sheet: Sheet, target: Path) -> None:
    """Write the PNG contact sheet to `target`. A picture that cannot be read is shown as missing."""
    made = contact_sheet(sheet)
    with in_place_of(target) as part:
        # Runs only (Z_RLE): of photographs that makes smaller files than the usual search, and makes them sooner.
        made.save(part, "PNG", compress_level=1, compress_type=zlib.Z_RLE)


def contact_sheet(sheet: Sheet) -> Image.Image:
    """RGB, about 1600 pixels wide; rows of three. Text is drawn in every script, as on the thumbnails."""
    items = sheet.items[:MOST]
    rows = max(-(-len(items) // COLUMNS), 1)
    width = 2 * _EDGE + COLUMNS * _CELL[0] + (COLUMNS - 1) * 2 * _GAP
    page = Image.new("RGB", (width, _HEAD + _EDGE + rows * (_CELL[1] + _GAP)), _GROUND)
    left_out = len(sheet.items) - len(items)
    head = f"{sheet.title}: {counted(len(sheet.items), 'thumbnail')}"
    head += f", the last {left_out} not shown" if left_out else ""
    _write(page, head, (_EDGE, 16, width - 2 * _EDGE, 36), 26, _INK)
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # decoding and resizing let other threads work
        for number, (item, shown) in enumerate(zip(items, pool.map(_shown, items), strict=True)):
            row, column = divmod(number, COLUMNS)
            at = (_EDGE + column * (_CELL[0] + 2 * _GAP), _HEAD + row * (_CELL[1] + _GAP))
            _cell(page, item, shown, at)
    return page


def _shown(item: SheetItem) -> tuple[Image.Image | None, ...]:
    """The item's picture in both sizes; a file that is no picture counts as none."""
    try:
        return _in_both_sizes(item.picture) if item.picture else (None, None)
    except (PictureError, OSError):
        return None, None


def _in_both_sizes(path: Path) -> tuple[Image.Image, Image.Image]:
    opened = open_small(path, LARGE)
    return opened.resize(LARGE, Image.Resampling.HAMMING), opened.resize(TINY, Image.Resampling.HAMMING)


def _cell(page: Image.Image, item: SheetItem, shown: tuple[Image.Image | None, ...], at: tuple[int, int]) -> None:
    beside = (at[0] + LARGE[0] + _GAP, at[1])
    for small, place, size in zip(shown, (at, beside), (LARGE, TINY), strict=True):
        if small:
            page.paste(small, place)
        else:
            page.paste(_EMPTY, (*place, place[0] + size[0], place[1] + size[1]))
    if not item.good:
        frame = (at[0] - 3, at[1] - 3, at[0] + LARGE[0] + 2, at[1] + LARGE[1] + 2)
        ImageDraw.Draw(page).rectangle(frame, outline=_BAD, width=3)
    below = at[1] + LARGE[1] + 4
    _write(page, item.heading, (at[0], below, _CELL[0], 24), 17, _INK)
    facts = " · ".join(text for text in (item.status, item.cost, item.reason) if text)
    _write(page, facts, (at[0], below + 24, _CELL[0], 22), 15, _SOFT if item.good else _BAD)


def _write(page: Image.Image, text: str, box: tuple[int, int, int, int], size: int, rgb: str) -> None:
    """One line, cut with an ellipsis where it is too long."""
    if not text.strip():
        return
    left, top, width, height = box
    style = models.LabelStyle(
        box=models.Box(x=left, y=top, w=width, h=height), text="-", font="inter", size=size, min_size=size, color=rgb
    )
    shown = clean.plain(text)
    block, _ = lettering.line("caption", style, clean.Text(shown, (False,) * len(shown)), shape.PLAIN, _TONES, 1.0)
    if block:
        lettering.paint(page, block.coloured(_TONES, 0.0))
