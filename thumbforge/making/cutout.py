"""A hero's mask, made once by a program that learned to: `rembg`, from the extra `cutout`. No build ever runs it.

The hero's file stays as it is. The mask lies beside it, grey, of the same shape, and is a file like any other from
then on: committed, shared, repaired by hand.
"""

from __future__ import annotations

import importlib
import io
import json
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, PngImagePlugin

from thumbforge import ids, install
from thumbforge.errors import AssetDamaged, PictureError, ProviderSetup, StoreError, UsageError
from thumbforge.pixels import masks
from thumbforge.pixels.faces import face_of
from thumbforge.pixels.heroes import FACTS
from thumbforge.pixels.picture import open_layers
from thumbforge.planning.staging import mask_beside

MODEL = "u2net"
LARGEST = (2880, 1620)
"""Pixels of a mask: one and a half pictures of 1920x1080."""
_LEVELS = (0.45, 0.87)
"""Below, a mask is haze; above, it is the subject."""
_PART = 0.06
"""A piece smaller than this share of the largest is dust."""
_PEAK = 0.10
_SHEET = (640, 360)


@dataclass(frozen=True, slots=True)
class CutOut:
    """The mask's file, a preview beside it, what is known of it, and why it may not do ("" where it does)."""

    mask: Path
    preview: Path
    subject: tuple[float, ...]
    face: tuple[float, ...] | None
    remark: str


def cut_out(hero: Path, to: Path | None, preview: Path, model: str | None) -> CutOut:
    """Write the mask, or, where `to` names a PNG, a transparent copy of the hero; and the preview.

    ProviderSetup without rembg, or where it fails; AssetDamaged for a file that is no picture; UsageError where
    nothing is found, or `to` would replace the hero.
    """
    remove = _remover(model or MODEL)
    data = _read(hero)
    try:
        rgb, _ = open_layers(data, LARGEST)
    except PictureError as error:
        raise AssetDamaged(f"hero {hero.name}: {error.message}", hint=error.hint) from error
    rgb.thumbnail(LARGEST, Image.Resampling.LANCZOS)
    mask = cleaned(_asked(remove, rgb))
    if not masks.holds_any(mask):
        hint = "--model names another model; a transparent PNG of any tool will do, too"
        raise UsageError(f"{hero.name}: no subject was found", hint=hint)
    target = to or mask_beside(hero)
    if target.exists() and target.samefile(hero):
        raise UsageError(f"{target} is the hero", hint="name another file with --to")
    box, face = masks.body(mask), face_of(rgb, mask)
    facts = {"source": ids.sha256_hex(data), "model": model or MODEL, "rembg": _version(), "subject": list(box)}
    picture = mask if to is None else _transparent(rgb, mask)
    _write(picture, target, facts | ({"face": list(face)} if face else {}))
    _write(shown(rgb, mask, face), preview, {})
    return CutOut(target, preview, box, face, masks.usable(mask))


def _remover(model: str) -> Callable[[bytes], bytes]:
    rembg = _imported()

    def remove(data: bytes) -> bytes:
        try:
            made: bytes = rembg.remove(data, session=rembg.new_session(model), only_mask=True)
        except (Exception, SystemExit) as error:  # what others raise: a model's name, its download, its memory
            said = _said(str(error)) or type(error).__name__
            hint = "a model is fetched once, over the network; --model names another one"
            raise ProviderSetup(f"rembg failed: {said}", hint=hint) from error
        return made

    return remove


def _imported() -> Any:
    """rembg, which ends the process where it finds no engine to run a model; what it prints then is the reason."""
    line, printed = install.command("cutout"), io.StringIO()
    hint = f"{line}; or save a transparent PNG with any tool and use that as the hero"
    try:
        with redirect_stdout(printed), redirect_stderr(printed):
            return importlib.import_module("rembg")
    except (Exception, SystemExit) as error:
        if isinstance(error, ModuleNotFoundError) and error.name == "rembg":
            raise ProviderSetup("rembg is not installed", hint=hint) from error
        said = _said(printed.getvalue().strip().partition("\n")[0] or str(error)) or type(error).__name__
        raise ProviderSetup(f"rembg is there but does not start: {said}", hint=hint) from error


def _said(text: str) -> str:
    return " ".join(text.split())[:200]


def _asked(remove: Callable[[bytes], bytes], rgb: Image.Image) -> Image.Image:
    sent = io.BytesIO()
    rgb.save(sent, "PNG", compress_level=1)
    try:
        with Image.open(io.BytesIO(remove(sent.getvalue()))) as answer:
            mask = answer.convert("L")
    except (OSError, ValueError) as error:
        raise ProviderSetup("rembg gave no picture", hint="--model names another model") from error
    return mask.resize(rgb.size, Image.Resampling.BICUBIC)


def cleaned(mask: Image.Image) -> Image.Image:
    """Haze to nothing, nearly all to all, and pieces that are dust beside the largest dropped."""
    if max(level for level, count in enumerate(mask.histogram()) if count) <= _PEAK * 255:
        return Image.new("L", mask.size)
    low, high = _LEVELS
    table = [round(255 * min(max((level / 255 - low) / (high - low), 0.0), 1.0)) for level in range(256)]
    return _without_dust(mask.point(table))


def _without_dust(mask: Image.Image) -> Image.Image:
    small = mask.resize((256, 256), Image.Resampling.BOX, reducing_gap=2.0).point([0] * 64 + [255] * 192)
    sizes: dict[int, int] = {}
    number = 1
    data = small.load()
    assert data is not None
    for y in range(256):
        for x in range(256):
            if data[x, y] == 255 and number < 250:
                ImageDraw.floodfill(small, (x, y), number)
                sizes[number] = small.histogram()[number]
                number += 1
    least = _PART * max(sizes.values(), default=0)
    kept = small.point([255 if sizes.get(level, 0) >= least and level else 0 for level in range(256)])
    near = masks.grown(kept, 4).resize(mask.size, Image.Resampling.BICUBIC)
    clean = Image.new("L", mask.size)
    clean.paste(mask, (0, 0), near.point([0] * 64 + [255] * 192))
    return clean


def _transparent(rgb: Image.Image, mask: Image.Image) -> Image.Image:
    whole = rgb.copy()
    whole.putalpha(mask)
    return whole


def shown(rgb: Image.Image, mask: Image.Image, face: tuple[float, ...] | None) -> Image.Image:
    """The cut-out on magenta, on white and alone: what is wrong with a mask is seen on one of them."""
    small, shape = rgb.copy(), mask.copy()
    for layer in (small, shape):
        layer.thumbnail(_SHEET, Image.Resampling.LANCZOS)
    page = Image.new("RGB", (small.width * 3 + 20, small.height), (24, 25, 28))
    for column, ground in enumerate(("#FF00FF", "#FFFFFF")):
        cell = Image.new("RGB", small.size, ground)
        cell.paste(small, (0, 0), shape)
        if face:
            x, y, w, h = face
            box = (x * small.width, y * small.height, (x + w) * small.width, (y + h) * small.height)
            ImageDraw.Draw(cell).rectangle(box, outline="#00C853", width=3)
        page.paste(cell, (column * (small.width + 10), 0))
    page.paste(shape, (2 * (small.width + 10), 0))
    return page


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise AssetDamaged(f"hero {path.name} cannot be read: {error.strerror or error}") from error


def _write(picture: Image.Image, target: Path, facts: dict[str, Any]) -> None:
    """Whole or not at all."""
    about = PngImagePlugin.PngInfo()
    if facts:
        about.add_text(FACTS, json.dumps(facts))
    part = target.with_name(f".{target.name}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        picture.save(part, "PNG", optimize=True, pnginfo=about)
        part.replace(target)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise StoreError(f"{target} could not be written: {error.strerror}", hint="name a file with --to") from error


def _version() -> str:
    try:
        return metadata.version("rembg")
    except metadata.PackageNotFoundError:
        return "unknown"
