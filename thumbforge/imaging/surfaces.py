"""On what a text stands: the picture, or one of the layout's panels. Each is the ground of its own texts alone, and
help for letters does not leave it."""

from __future__ import annotations

from collections.abc import Sequence

from PIL import Image, ImageChops

from thumbforge.imaging import patches

_PICTURE, _EDGE = 0, 255
_WELL = 0.02
"""Share of a text's patches from which a surface is under it."""

Shape = tuple[Image.Image, tuple[int, int]]
"""A panel's mask, and where its corner lies in the picture."""


class Surfaces:
    """The surfaces of one picture: panels in the order in which they were laid, the last on top."""

    def __init__(self, picture: tuple[int, int], panels: Sequence[Shape] = ()) -> None:
        self.size = picture
        self.panels = tuple(panels)
        self._top = Image.new("L", patches.size(picture), _PICTURE)
        for number, (mask, at) in enumerate(self.panels, 1):
            coverage = patches.covered(mask, at, picture)
            self._top.paste(_EDGE, (0, 0), patches.touched(coverage))
            self._top.paste(number, (0, 0), patches.filled(coverage))

    def under(self, body: Image.Image) -> tuple[int, ...]:
        """The numbers of the surfaces that a text touches; its body is a mask of patches."""
        counts = self._top.histogram(body)
        least = _WELL * sum(counts)
        return tuple(number for number, count in enumerate(counts) if count and count >= least)

    def ground(self, numbers: Sequence[int]) -> Image.Image:
        """The patches of these surfaces."""
        return self._top.point([255 if number in numbers else 0 for number in range(256)])

    def clip(self, numbers: Sequence[int], box: patches.Box) -> Image.Image | None:
        """What of `box` (pixels) belongs to these surfaces, to the pixel; None where all of it does."""
        if len(self.panels) == 0 or _EDGE in numbers:
            return None
        clip = Image.new("L", (box[2] - box[0], box[3] - box[1]), 255 if _PICTURE in numbers else 0)
        for number, (mask, at) in enumerate(self.panels, 1):
            clip.paste(255 if number in numbers else 0, (at[0] - box[0], at[1] - box[1]), mask)
        return clip

    @staticmethod
    def on_panel(numbers: Sequence[int]) -> bool:
        return _PICTURE not in numbers


def without(mask: Image.Image, *others: Image.Image) -> Image.Image:
    """`mask` less all that the others cover."""
    for other in others:
        mask = ImageChops.subtract(mask, other)
    return mask
