"""Contact sheets: pictures side by side in a file to look at."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from thumbforge.store.assets import store_errors

COLUMNS, WIDTH, GAP, LABEL = 2, 640, 16, 28


def write_contact_sheet(target: Path, pictures: Sequence[tuple[str, Path]]) -> Path:
    """A PNG with each picture 640 pixels wide and its label below, two in a row; replaces an older one."""
    from PIL import Image, ImageDraw, ImageFont

    height = WIDTH * 9 // 16
    rows = -(-len(pictures) // COLUMNS)
    columns = min(COLUMNS, len(pictures))
    size = (GAP + columns * (WIDTH + GAP), GAP + rows * (height + LABEL + GAP))
    sheet = Image.new("RGB", size, "#16181d")
    draw = ImageDraw.Draw(sheet)
    font = ImageFont.load_default(20)
    for n, (label, path) in enumerate(pictures):
        x, y = GAP + n % COLUMNS * (WIDTH + GAP), GAP + n // COLUMNS * (height + LABEL + GAP)
        with Image.open(path) as opened:
            sheet.paste(opened.convert("RGB").resize((WIDTH, height), Image.Resampling.LANCZOS), (x, y))
        draw.text((x, y + height + 4), label, fill="#f2f3f5", font=font)
    with store_errors("the contact sheet", "sheet.file"):
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_suffix(".tmp")
        sheet.save(temporary, "PNG")
        temporary.replace(target)
    return target
